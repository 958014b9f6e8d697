"""Threads that ask the store, apart for each purpose: what waits for the store in one keeps none of the others waiting.

Every call has a deadline. Its transactions end at the deadline (`app.store.deadline`), and the caller stops to wait
then even if the thread does not return, say because a disk hangs. Threads are daemons: none of them keeps the process.
"""

import asyncio
import contextvars
import functools
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TypeVar

from app.store import NoAnswerError
from app.store.deadline import within

__all__ = ["QUICK_SECONDS", "Executor", "Executors", "executors"]

T = TypeVar("T")

# Health checks give up after a few seconds, and a known key need not wait for its confirmation.
QUICK_SECONDS = 2.0


class Executor:
    """A few threads and a bounded queue before them. Used from the event loop only."""

    def __init__(self, name: str, *, threads: int, queue: int, seconds: float) -> None:
        self._name = name
        self._count = threads
        self._limit = queue
        self._seconds = seconds
        self._jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._threads: list[threading.Thread] = []

    async def run(self, work: Callable[..., T], *arguments: object) -> T:
        """Run the work in a thread.

        Raises:
            NoAnswerError: it does not end in time, or too many wait already.
        """
        if self._jobs.qsize() >= self._limit:
            raise NoAnswerError("too many calls wait for the store")
        self._start()
        deadline = time.monotonic() + self._seconds
        future: Future[T] = Future()
        # With the caller's context: the request's id in logs, and its trace.
        self._jobs.put(functools.partial(contextvars.copy_context().run, _do, future, deadline, work, arguments))
        try:
            async with asyncio.timeout(self._seconds):
                return await asyncio.wrap_future(future)
        except TimeoutError:
            raise NoAnswerError(f"the store did not answer within {self._seconds:g} seconds") from None

    def _start(self) -> None:
        while len(self._threads) < self._count:
            thread = threading.Thread(target=self._work, name=f"{self._name}-{len(self._threads)}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def _work(self) -> None:
        while True:
            self._jobs.get()()


def _do(future: "Future[T]", deadline: float, work: Callable[..., T], arguments: tuple[object, ...]) -> None:
    if not future.set_running_or_notify_cancel():
        return  # its caller has left
    try:
        with within(deadline - time.monotonic()):
            future.set_result(work(*arguments))
    except BaseException as error:  # its caller gets it, and the thread goes on
        future.set_exception(error)


@dataclass(frozen=True)
class Executors:
    """One for each purpose.

    Attributes:
        keys: confirm API keys.
        readiness: readiness and metrics.
        followers: events of validations.
        reads: what callers read.
        changes: what callers keep, delete or cancel; on SQLite a change waits for whoever writes.
    """

    keys: Executor
    readiness: Executor
    followers: Executor
    reads: Executor
    changes: Executor


def executors(seconds: float, *, streams: int) -> Executors:
    """The executors of a process; a call may take so many seconds, and there are at most so many event streams."""
    quick = min(QUICK_SECONDS, seconds)
    return Executors(
        keys=Executor("keys", threads=2, queue=256, seconds=quick),
        readiness=Executor("readiness", threads=2, queue=64, seconds=quick),
        followers=Executor("followers", threads=2, queue=max(1, streams), seconds=seconds),
        reads=Executor("reads", threads=4, queue=256, seconds=seconds),
        changes=Executor("changes", threads=2, queue=64, seconds=seconds),
    )
