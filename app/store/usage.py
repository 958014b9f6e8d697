"""How many bytes each owner keeps in the store: the quota that limits them, and the age at which they are deleted.

QuotaError      the owner would keep more bytes than it may
"""

from typing import Literal

from app.store.database import ReadTransaction, Transaction
from app.store.store import Store
from solver.errors import FedsiftError

__all__ = ["ROW_BYTES", "QuotaError", "Thing", "charge", "check_quota", "delete_old", "lock_owner", "used_bytes"]

Thing = Literal["plan", "run", "validation", "network"]

# What the database adds to a row: its other columns and its places in indexes, roughly.
ROW_BYTES = 512

# So many are deleted in one transaction, so that callers do not wait for its end.
_BATCH = 100


class QuotaError(FedsiftError):
    """The owner would keep more bytes than it may."""

    def __init__(self, used: int, more: int, limit: int) -> None:
        super().__init__(f"{used} bytes are kept, {more} more would pass the limit of {limit}")
        self.used = used
        self.more = more
        self.limit = limit


def used_bytes(t: ReadTransaction, owner: str) -> int:
    """The bytes of everything that the owner keeps."""
    ((used,),) = t.rows("SELECT COALESCE(SUM(bytes), 0) FROM usage WHERE owner = ?", owner)
    return int(used)


def check_quota(store: Store, owner: str, limit: int) -> None:
    """Refuse early what could not be kept anyway.

    Raises:
        QuotaError: the owner's quota is used up.
    """
    with store.read() as t:
        used = used_bytes(t, owner)
    if used + ROW_BYTES > limit:
        raise QuotaError(used, ROW_BYTES, limit)


def lock_owner(t: Transaction, owner: str) -> None:
    """Let other transactions that count what the owner has wait for this one; an owner of a gateway may be new."""
    t.change("INSERT INTO owners (id) VALUES (?) ON CONFLICT (id) DO UPDATE SET id = excluded.id", owner)


def charge(t: Transaction, owner: str, thing: Thing, thing_id: str, now: float, *, size: int, limit: int) -> None:
    """Count `size` more bytes for a thing of the owner, in the transaction that writes them; it grows `now`.

    Raises:
        QuotaError: the owner would keep more than the limit; the transaction has to be rolled back.
    """
    lock_owner(t, owner)
    used = used_bytes(t, owner)
    if used + size > limit:
        raise QuotaError(used, size, limit)
    t.change(
        f"INSERT INTO usage ({thing}_id, owner, bytes, grown_at) VALUES (?, ?, ?, ?) "  # noqa: S608 - constants
        f"ON CONFLICT ({thing}_id) DO UPDATE SET bytes = usage.bytes + excluded.bytes, grown_at = excluded.grown_at",
        thing_id,
        owner,
        size,
        now,
    )


def delete_old(store: Store, thing: Literal["plan", "run"], days: float) -> int:
    """Delete plans or runs that last grew so many days ago; returns how many.

    Rows of an earlier release are dated at the first call.
    """

    def work(t: Transaction) -> int:
        t.change("UPDATE usage SET grown_at = ? WHERE grown_at = 0", t.now)
        return t.change(
            f"DELETE FROM {thing}s WHERE id IN (SELECT {thing}_id FROM usage "  # noqa: S608 - constants
            f"WHERE grown_at < ? AND {thing}_id IS NOT NULL ORDER BY grown_at LIMIT ?)",
            t.now - 86400 * days,
            _BATCH,
        )

    return store.delete(work)
