"""Numbers that only grow, counted in the transaction of what they count, by workers and servers alike."""

import zlib
from dataclasses import dataclass, fields

from app.store.database import ReadTransaction, Transaction

__all__ = ["Totals", "count", "read_totals"]

_SHARDS = 8


@dataclass(frozen=True)
class Totals:
    """Rounds that were trained and their seconds, attempts that came to nothing, validations by how they ended."""

    rounds: int = 0
    round_seconds: float = 0.0
    attempts_failed: int = 0
    attempts_lost: int = 0
    succeeded: int = 0
    failed: int = 0
    cancelled: int = 0


_NAMES = tuple(field.name for field in fields(Totals))


def count(t: Transaction, validation_id: str, **more: float) -> None:
    """Add to totals, named as in `Totals`; the caller holds the validation's row and locks no further one."""
    names = ", ".join(more)
    added = ", ".join(f"{name} = totals.{name} + excluded.{name}" for name in more)
    t.change(
        f"INSERT INTO totals (shard, {names}) VALUES (?{', ?' * len(more)}) ON CONFLICT (shard) DO UPDATE SET {added}",  # noqa: S608
        zlib.crc32(validation_id.encode()) % _SHARDS,
        *more.values(),
    )


def read_totals(t: ReadTransaction) -> Totals:
    """The sums."""
    sums = ", ".join(f"COALESCE(SUM({name}), 0)" for name in _NAMES)
    (found,) = t.rows(f"SELECT {sums} FROM totals")  # noqa: S608 - names of ours
    return Totals(*found)
