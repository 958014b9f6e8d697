"""Numbers that the server processes of one service add up, so that a limit holds for all of them together.

The ledger is shared memory. Each process writes a column of its own and reads all of them. If a process is killed, its
supervisor clears its column.
"""

import fcntl
import hashlib
import mmap
import os
import tempfile
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from pathlib import Path

__all__ = ["Callers", "Kind", "Ledger", "Tally"]

_WORD = 8
# One row for each name; a service has half a dozen.
_TALLIES = 16
# Callers at work, at most one for each connection. A caller is in one of the `_REACH` rows from its digest on.
_CALLERS = 8192
_REACH = 16


class Kind(IntEnum):
    """What is counted of a caller."""

    REQUESTS = 0
    BODIES = 1
    BYTES = 2


# A caller's rows: its name, and its counts.
_WIDTH = 1 + len(Kind)


class Ledger:
    """Rows of numbers, each with a column for every process. Made before the processes are forked."""

    def __init__(self, processes: int = 1) -> None:
        self.processes = processes
        self.column = 0
        rows = _TALLIES + _CALLERS * _WIDTH
        # Forks share it. Pages that nobody has written to take no memory.
        self._numbers = memoryview(mmap.mmap(-1, rows * processes * _WORD)).cast("q")
        self._names: list[str] = []
        self._threads = threading.RLock()  # the garbage collector may free something while this thread counts
        self._depth = 0
        self._file = _lock_file(self) if processes > 1 else None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep all other threads and processes out."""
        with self._threads:
            self._depth += 1
            if self._file is not None and self._depth == 1:
                fcntl.lockf(self._file, fcntl.LOCK_EX)
            try:
                yield
            finally:
                self._depth -= 1
                if self._file is not None and self._depth == 0:
                    fcntl.lockf(self._file, fcntl.LOCK_UN)

    def tally(self, name: str) -> "Tally":
        """The number of this name."""
        if name not in self._names:
            self._names.append(name)
        return Tally(self, self._names.index(name))

    def callers(self) -> "Callers":
        """Numbers by caller."""
        return Callers(self, _TALLIES)

    def clear(self, column: int) -> None:
        """Forget what a process counted that is no more."""
        with self.locked():
            for number in range(len(self._numbers) // self.processes):
                if number < _TALLIES or (number - _TALLIES) % _WIDTH:  # names stay: others may count in their rows
                    self._numbers[number * self.processes + column] = 0

    def row(self, number: int) -> list[int]:
        """The numbers of all processes."""
        return self._numbers[number * self.processes : (number + 1) * self.processes].tolist()

    def set(self, number: int, value: int) -> None:
        """Write this process's number."""
        self._numbers[number * self.processes + self.column] = value

    def add(self, number: int, size: int) -> None:
        """Add to this process's number; the caller holds the lock."""
        self._numbers[number * self.processes + self.column] += size

    def name(self, number: int, name: int | None = None) -> int:
        """The name that a row of names has, after giving it this one; the caller holds the lock."""
        if name is not None:
            self._numbers[number * self.processes] = name
        return self._numbers[number * self.processes]


def _lock_file(owner: object) -> int:
    """A file without a name, open as long as its owner lives. A lock on it is free again when its process is killed."""
    file, name = tempfile.mkstemp()
    Path(name).unlink()
    weakref.finalize(owner, os.close, file)
    return file


class Tally:
    """A number that all processes add to."""

    def __init__(self, ledger: Ledger, number: int) -> None:
        self._ledger = ledger
        self._number = number

    @property
    def total(self) -> int:
        """The sum over all processes."""
        return sum(self._ledger.row(self._number))

    def by_process(self) -> list[int]:
        """What each process has added."""
        return self._ledger.row(self._number)

    def set(self, value: int) -> None:
        """What this process has, as it knows itself."""
        self._ledger.set(self._number, value)

    def add(self, size: int) -> None:
        """Add without a limit, or take away."""
        with self._ledger.locked():
            self._ledger.add(self._number, size)

    def take(self, size: int, limit: int, *, alone: bool = False) -> bool:
        """Add, unless the sum would pass the limit; with `alone` any size may be the first."""
        with self._ledger.locked():
            total = self.total
            if total + size > limit and not (alone and total == 0):
                return False
            self._ledger.add(self._number, size)
            return True


class Callers:
    """Counts of each caller, a key or an address. Its rows are its own as long as one of its counts is not zero."""

    def __init__(self, ledger: Ledger, first: int) -> None:
        self._ledger = ledger
        self._first = first

    def take(self, caller: str, kind: Kind, size: int, limit: int) -> bool:
        """Add to a count of the caller, unless its sum over all processes would pass the limit."""
        ledger = self._ledger
        with ledger.locked():
            row = self._row(caller)
            if row is None or sum(ledger.row(row + 1 + kind)) + size > limit:
                return False
            ledger.add(row + 1 + kind, size)
            return True

    def give(self, caller: str, kind: Kind, size: int) -> None:
        """Take from a count of the caller what was added."""
        with self._ledger.locked():
            row = self._row(caller)
            if row is not None:
                self._ledger.add(row + 1 + kind, -size)

    def _row(self, caller: str) -> int | None:
        """The caller's row, or a free one that is now its own; None if all that it may have belong to others."""
        ledger = self._ledger
        # A digest without its sign, and never zero.
        name = int.from_bytes(hashlib.blake2b(caller.encode("utf-8", "replace"), digest_size=7).digest(), "little") + 1
        free = None
        for place in range(name, name + _REACH):
            row = self._first + place % _CALLERS * _WIDTH
            if ledger.name(row) == name:
                return row
            if free is None and not any(sum(ledger.row(row + 1 + kind)) for kind in Kind):
                free = row
        if free is not None:
            ledger.name(free, name)
        return free
