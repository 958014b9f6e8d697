"""How long the work for a request may go on: its deadline, and the flag that ends it early (ADR 0049).

The clock starts when a thread takes the request up, so reading the body's numbers, sampling and solving share one time
limit. The flag is set when the client has left, and at shutdown. Compiled code looks at both every few milliseconds.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import numpy as np

from app.http.problems import OverloadedError
from solver.arrays import ByteArray

__all__ = ["Deadline", "Work", "WorkUnderWay"]


class Work:
    """The work for one request. Another thread may end it."""

    def __init__(self) -> None:
        self.begun = time.monotonic()
        self.client_left = False
        self.flag: ByteArray = np.zeros(1, np.uint8)

    def begin(self) -> None:
        """Start the clock: the request has waited for a thread until now.

        Raises:
            OverloadedError: the work was ended while it waited.
        """
        self.begun = time.monotonic()
        _check(self.flag)

    def end(self) -> None:
        """Let the work stop where it is."""
        self.flag[0] = 1


class WorkUnderWay:
    """The work of a process. Used from the event loop only, so its set needs no lock."""

    def __init__(self) -> None:
        self._all: set[Work] = set()

    @contextmanager
    def work(self) -> Iterator[Work]:
        """Work for the current request; it has ended when the block ends, for whatever reason."""
        work = Work()
        self._all.add(work)
        token = _current.set(work)
        try:
            yield work
        finally:
            _current.reset(token)
            self._all.discard(work)
            work.end()

    def end(self) -> None:
        """End all of it: the service is about to stop."""
        for work in self._all:
            work.end()


_current: ContextVar[Work | None] = ContextVar("work", default=None)


@dataclass(frozen=True, eq=False)
class Deadline:
    """Until when the current request may compute, by `time.monotonic`; `flag[0]` ends it before."""

    ends: float
    flag: ByteArray

    @classmethod
    def after(cls, seconds: float) -> "Deadline":
        """So many seconds after a thread took up the current request; on the command line, after now."""
        work = _current.get() or Work()
        return cls(work.begun + seconds, work.flag)

    @property
    def left(self) -> float:
        """Seconds until then, at least 0."""
        return max(self.ends - time.monotonic(), 0.0)

    def check(self) -> None:
        """Stop here if the work was ended.

        Raises:
            OverloadedError: it was.
        """
        _check(self.flag)


def _check(flag: ByteArray) -> None:
    if flag[0]:
        raise OverloadedError("the service is shutting down and has not finished this", headers={"Retry-After": "1"})
