"""How long a call may wait for the database: a deadline that holds for all its transactions together."""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["deadline_in", "within"]

_deadline: ContextVar[float] = ContextVar("deadline", default=math.inf)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Let all transactions of this block together take at most this long."""
    token = _deadline.set(deadline_in(seconds))
    try:
        yield
    finally:
        _deadline.reset(token)


def deadline_in(seconds: float) -> float:
    """When to give up, by the monotonic clock: in so many seconds, or before that at the deadline of the block."""
    return min(_deadline.get(), time.monotonic() + seconds)
