"""A few threads for compiled work that runs without the interpreter's lock."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeVar

__all__ = ["THREADS", "in_threads"]

Part = TypeVar("Part")
Result = TypeVar("Result")

# Two share one search. More would take the cores of other requests.
THREADS = min(2, len(os.sched_getaffinity(0)))


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(THREADS, thread_name_prefix="sampler")


def in_threads(work: Callable[[Part], Result], parts: Iterable[Part]) -> list[Result]:
    """Return what `work` makes of each part, in order; a single part is done at once in the caller's thread."""
    parts = list(parts)
    return list(_pool().map(work, parts)) if len(parts) > 1 else [work(part) for part in parts]
