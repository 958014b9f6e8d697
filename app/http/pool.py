"""A bounded pool of threads for CPU-bound work. A request takes a place when its body is complete, not before.

Threads suffice where the compiled kernels and zlib release the GIL; processes (`app.commands.serving.forks`) for the
rest. The ledger adds up what is under way in all of them.
"""

import asyncio
import contextvars
import functools
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from app.http.problems import OverloadedError, TooManyRequestsError
from app.ledger import Kind, Ledger

__all__ = ["WorkPool", "key_is_busy", "queue_is_full"]

T = TypeVar("T")


class WorkPool:
    """At most `threads` jobs run in each process, at most `queue` more wait in all; further callers are refused."""

    def __init__(
        self, threads: int, queue: int, *, per_owner: int, retry_after: int, ledger: Ledger | None = None
    ) -> None:
        ledger = ledger or Ledger()
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="plan")
        self._threads = threads * ledger.processes
        self._limit = self._threads + queue
        self._per_owner = per_owner
        self._retry = {"Retry-After": str(retry_after)}
        self._admitted = ledger.tally("admitted")
        self._callers = ledger.callers()
        self.draining = False

    @property
    def admitted(self) -> int:
        """Requests with a place, in all processes."""
        return self._admitted.total

    @property
    def waiting(self) -> int:
        """Requests with a place and without a thread."""
        return max(0, self.admitted - self._threads)

    @contextmanager
    def request(self, owner: str | None) -> Iterator[None]:
        """Count a request of this owner, from before its body is read until the answer is ready.

        A full pool refuses here already, so that a body is rarely read in vain.

        Raises:
            OverloadedError: the queue is full, or the service is shutting down.
            TooManyRequestsError: this owner has as many requests under way as it may.
        """
        self._check_room()
        if owner is None:
            yield
            return
        if not self._callers.take(owner, Kind.REQUESTS, 1, self._per_owner):
            raise key_is_busy(self._per_owner, self._retry)
        try:
            yield
        finally:
            self._callers.give(owner, Kind.REQUESTS, 1)

    @contextmanager
    def place(self) -> Iterator[None]:
        """Take a place at work or in the queue.

        Raises:
            OverloadedError: the queue is full, or the service is shutting down.
        """
        self._check_room()
        if not self._admitted.take(1, self._limit):
            raise queue_is_full(self._retry)
        try:
            yield
        finally:
            self._admitted.add(-1)

    def _check_room(self) -> None:
        if self.draining:
            raise OverloadedError("the service is shutting down", headers=self._retry)
        if self.admitted >= self._limit:
            raise queue_is_full(self._retry)

    async def run(self, work: Callable[[], T]) -> T:
        """Run the work in a thread of the pool."""
        # With the caller's context: the request's id in logs, and its trace.
        call = functools.partial(contextvars.copy_context().run, work)
        return await asyncio.get_running_loop().run_in_executor(self._executor, call)

    def shut_down(self) -> None:
        """Refuse new work and finish what was accepted."""
        self.draining = True
        self._executor.shutdown(wait=True)


def queue_is_full(headers: dict[str, str] | None = None) -> OverloadedError:
    """The request queue is full."""
    return OverloadedError("too many requests are waiting; try again later", headers=headers)


def key_is_busy(limit: int, headers: dict[str, str] | None = None) -> TooManyRequestsError:
    """This key has as many requests under way as it may."""
    return TooManyRequestsError(f"this key has {limit} requests under way; try again later", headers=headers)
