"""Values that take long to make and never change: those used last, in memory that no request needs."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, Protocol, TypeVar

from app.ledger import Tally

__all__ = ["Recent", "Sized"]


class Sized(Protocol):
    """What knows how many bytes of memory it takes."""

    @property
    def size(self) -> int:
        """Bytes, by estimate."""


K = TypeVar("K", bound=Hashable)
V = TypeVar("V", bound=Sized)


class Recent(Generic[K, V]):
    """The values of this process that were used last. Any thread may use it.

    All processes hold at most `limit` bytes. `reserve` charges them to what requests share, and may refuse; `free` is
    told of those given up. A value that was not used for `seconds` is given up: a request of another process may need
    its bytes.
    """

    def __init__(
        self,
        limit: int,
        held: Tally,
        reserve: Callable[[int], bool],
        free: Callable[[int], None],
        seconds: float = 60.0,
    ) -> None:
        self._limit = limit
        self._held = held
        self._reserve = reserve
        self._free = free
        self._seconds = seconds
        self._values: OrderedDict[K, tuple[V, float]] = OrderedDict()
        self._lock = threading.Lock()
        self._waits = False

    @property
    def held(self) -> int:
        """The bytes that all processes hold."""
        return self._held.total

    def get(self, key: K) -> V | None:
        """The value, if it is here."""
        with self._lock:
            found = self._values.pop(key, None)
            if found is None:
                return None
            self._values[key] = (found[0], time.monotonic())
            return found[0]

    def put(self, key: K, value: V) -> None:
        """Keep the value if it fits, in the place of those that were not used for longest."""
        with self._lock:
            if key in self._values:
                return
            while not self._take(value.size):
                if not self._values:
                    return
                self._drop()
            self._values[key] = (value, time.monotonic())
            self._wait()

    def clear(self) -> bool:
        """Give all values up; whether there was any."""
        with self._lock:
            had = bool(self._values)
            while self._values:
                self._drop()
            return had

    def _take(self, size: int) -> bool:
        if not self._held.take(size, self._limit):
            return False
        if self._reserve(size):
            return True
        self._held.add(-size)
        return False

    def _drop(self) -> None:
        _, (value, _) = self._values.popitem(last=False)
        self._held.add(-value.size)
        self._free(value.size)

    def _wait(self) -> None:
        if not self._waits:
            self._waits = True
            timer = threading.Timer(self._seconds, self._tidy)
            timer.daemon = True
            timer.start()

    def _tidy(self) -> None:
        with self._lock:
            self._waits = False
            oldest = time.monotonic() - self._seconds
            while self._values and next(iter(self._values.values()))[1] <= oldest:
                self._drop()
            if self._values:
                self._wait()
