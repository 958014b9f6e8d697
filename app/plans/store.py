"""Plans that callers asked to keep: what was asked for and what was answered, byte for byte."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from app.store import Store
from app.store.about import About, joined, read_about, tell
from app.store.outbox import announce
from app.store.paging import Page, owned_page
from app.store.usage import ROW_BYTES, charge

__all__ = ["KeptPlan", "PlanEntry", "PlanStore"]


@dataclass(frozen=True)
class KeptPlan:
    """A plan's request and answer, byte for byte, and what was told of the request."""

    request: bytes
    answer: bytes
    asked: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class PlanEntry:
    """A kept plan in a list."""

    id: str
    created_at: float
    about: About


class PlanStore:
    """The table of kept plans."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def adding(self, entry: PlanEntry, owner: str, plan: KeptPlan, *, most_bytes: int) -> Callable[[], None]:
        """Pack a plan, which takes a while; the call that is returned writes it.

        Raises:
            QuotaError: the owner would keep more than `most_bytes` (when it is written).
            KeyTakenError: its idempotency key has made something meanwhile (likewise).
        """
        packed = [zlib.compress(text, 1) for text in (plan.request, plan.answer)]
        size = ROW_BYTES + sum(map(len, packed))

        def write() -> None:
            with self._store.write() as t:
                sql = "INSERT INTO plans (id, owner, created_at, request, answer) VALUES (?, ?, ?, ?, ?)"
                t.change(sql, entry.id, owner, entry.created_at, *packed)
                more = tell(t, "plan", entry.id, owner, entry.about)
                charge(t, owner, "plan", entry.id, entry.created_at, size=size + more, limit=most_bytes)
                announce(t, owner, "plan.kept", entry.id, {})

        return write

    def find(self, owner: str, plan_id: str) -> KeptPlan | None:
        """The plan, if it was kept and is this owner's."""
        with self._store.read() as t:
            rows = t.rows(f"{joined('plan', 'x.request, x.answer')} x.id = ? AND x.owner = ?", plan_id, owner)
        if not rows:
            return None
        request, answer, *about = rows[0]
        return KeptPlan(zlib.decompress(request), zlib.decompress(answer), read_about(*about).asked)

    def packed_answer(self, owner: str, plan_id: str, reserve: Callable[[int], None]) -> bytes | None:
        """The plan's answer as zlib packed it. `reserve` is told its size before it is read, and may refuse."""
        where = "FROM plans WHERE id = ? AND owner = ?"
        with self._store.read() as t:
            for (size,) in t.rows(f"SELECT length(answer) {where}", plan_id, owner):
                reserve(size)
            rows = t.rows(f"SELECT answer {where}", plan_id, owner)
        return bytes(rows[0][0]) if rows else None

    def page(self, owner: str, page: Page) -> list[PlanEntry]:
        """A page of the owner's plans, and one more if there are more."""
        with self._store.read() as t:
            rows = owned_page(t, "plan", "x.id, x.created_at", owner, page)
        return [PlanEntry(row[0], row[1], read_about(*row[2:])) for row in rows]

    def delete(self, owner: str, plan_id: str) -> bool:
        """Forget a plan; whether there was one."""
        sql = "DELETE FROM plans WHERE id = ? AND owner = ?"
        return bool(self._store.delete(lambda t: t.change(sql, plan_id, owner)))
