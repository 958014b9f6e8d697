"""The memory that the requests of all server processes may need together (ADR 0045).

A request charges what it is about to need, before it needs it, to an account of its own. `app.wire.estimate` has the
estimates. What cannot fit is refused at once (413); what does not fit now, because others hold the rest, is refused
with `Retry-After` (503). Without an account, as on the command line, nothing is charged. Answers that wait for their
clients are charged too (`app.http.unread`).
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from app.http.problems import OverloadedError, TooLargeError
from app.ledger import Ledger

__all__ = ["SETTING", "MemoryBudget", "charge", "reserved", "returned"]

SETTING = "FEDSIFT_MEMORY_BUDGET"


class MemoryBudget:
    """Bytes that all requests share. Threads and processes charge it, so their sum is in the ledger."""

    def __init__(self, total: int, retry_after: int, ledger: Ledger | None = None) -> None:
        self.total = total
        self._held = (ledger or Ledger()).tally("memory")
        self._retry = {"Retry-After": str(retry_after)}
        # Gives up what is kept only because nobody needed the memory; whether there was any.
        self.spare: Callable[[], bool] = lambda: False

    @property
    def held(self) -> int:
        """What all requests have charged."""
        return self._held.total

    @contextmanager
    def account(self) -> Iterator[None]:
        """Give the current request an account; what it has charged is free again at the end."""
        account = _Account(self)
        token = _current.set(account)
        try:
            yield
        finally:
            _current.reset(token)
            self._give(account.held)

    def borrow(self, size: int) -> bool:
        """Charge something that no request needs, unless it does not fit beside the rest."""
        return self._held.take(size, self.total)

    def free(self, size: int) -> None:
        """Give back what was borrowed."""
        self._give(size)

    def reserve(self, size: int) -> bool:
        """Charge something that belongs to no account, unless it does not fit beside the rest; alone, any size fits."""
        return self._held.take(size, self.total, alone=True)

    def add(self, size: int) -> None:
        """Charge what is there already, or free it."""
        self._held.add(size)

    def _take(self, held: int, size: int, purpose: str) -> None:
        """Take `size` bytes for a request that holds `held` already."""
        if held + size > self.total:
            raise TooLargeError(
                f"{purpose} takes the request to an estimated {held + size} bytes of memory; the service has "
                f"{self.total} ({SETTING})"
            )
        if not self._held.take(size, self.total) and not (self.spare() and self._held.take(size, self.total)):
            raise OverloadedError(
                f"{purpose} takes the request to an estimated {held + size} bytes of memory; the service has "
                f"{self.total} ({SETTING}), and other requests hold {self.held - held}; try again later",
                headers=self._retry,
            )

    def _give(self, size: int) -> None:
        if size:
            self._held.add(-size)


class _Account:
    """What one request has charged. One thread at a time works for a request, so its sum needs no lock."""

    def __init__(self, budget: MemoryBudget) -> None:
        self._budget = budget
        self.held = 0

    def take(self, size: int, purpose: str) -> None:
        self._budget._take(self.held, size, purpose)
        self.held += size

    def give(self, size: int) -> None:
        self._budget._give(size)
        self.held -= size


_current: ContextVar[_Account | None] = ContextVar("account", default=None)


def charge(size: int, purpose: str) -> None:
    """Charge bytes to the current request until it is answered; `purpose` begins the sentence of a refusal.

    Raises:
        TooLargeError: the request needs more than the whole budget.
        OverloadedError: it would fit alone, but other requests hold the rest.
    """
    account = _current.get()
    if account is not None:
        account.take(size, purpose)


@contextmanager
def reserved(size: int, purpose: str) -> Iterator[None]:
    """Charge bytes that are free again when the block ends."""
    charge(size, purpose)
    account = _current.get()
    try:
        yield
    finally:
        if account is not None:
            account.give(size)


@contextmanager
def returned() -> Iterator[None]:
    """Free all that is charged in this block when it ends: nothing that was made in it is kept."""
    account = _current.get()
    before = 0 if account is None else account.held
    try:
        yield
    finally:
        if account is not None:
            account.give(account.held - before)
