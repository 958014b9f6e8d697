"""Attempts at rounds: counted before the work begins, so that a round that kills its worker is counted too.

A row without a reason is under way, or its round is stored. Attempts end without a result in two ways (ADR 0056):

- *failed*: the worker lived and saw what happened, for instance that the training process died. This is evidence
  against the part, and few such attempts are allowed.
- *lost*: the worker died, fell silent or was struck off, which says little about the part. Many are allowed, so that a
  part that does kill its workers still comes to an end.
"""

from dataclasses import dataclass

from app.store.database import ReadTransaction, Transaction

__all__ = [
    "LOST",
    "AttemptLimits",
    "close_attempts",
    "count_attempt",
    "failed_attempts",
    "forget_attempt",
    "tell_attempts",
]

LOST = "its worker died or fell silent"

_ROUND = "WHERE part_id = ? AND aggregation = ?"


@dataclass(frozen=True)
class AttemptLimits:
    """How many attempts at one round may fail, and how many may be lost, before its validation fails."""

    failed: int
    lost: int


def failed_attempts(t: ReadTransaction, part_id: str, aggregation: int) -> int:
    """How many attempts at the round failed under the eyes of their worker."""
    sql = f"SELECT COUNT(*) FROM validation_attempts {_ROUND} AND why IS NOT NULL AND why <> ?"  # noqa: S608 - constants
    ((count,),) = t.rows(sql, part_id, aggregation, LOST)
    return int(count)


def count_attempt(t: Transaction, part_id: str, aggregation: int, worker: str) -> None:
    """Note that a worker is about to train the round."""
    sql = "INSERT INTO validation_attempts (part_id, aggregation, worker, begun_at) VALUES (?, ?, ?, ?)"
    t.change(sql, part_id, aggregation, worker, t.now)


def close_attempts(t: Transaction, part_id: str, aggregation: int, why: str) -> int:
    """Note why the attempt under way ended without a result; returns how many there were."""
    sql = f"UPDATE validation_attempts SET why = ? {_ROUND} AND why IS NULL"  # noqa: S608 - constants
    return t.change(sql, why, part_id, aggregation)


def forget_attempt(t: Transaction, part_id: str, aggregation: int) -> None:
    """Remove the attempt under way: its worker was told to leave, which says nothing about the round."""
    t.change(f"DELETE FROM validation_attempts {_ROUND} AND why IS NULL", part_id, aggregation)  # noqa: S608


def tell_attempts(t: ReadTransaction, part_id: str, aggregation: int) -> str:
    """Say in one sentence how often the round was begun, and why each attempt ended."""
    rows = t.rows(
        f"SELECT why, COUNT(*) FROM validation_attempts {_ROUND} GROUP BY why ORDER BY COUNT(*) DESC, why",  # noqa: S608
        part_id,
        aggregation,
    )
    reasons = "; ".join(f"{_times(count)} {why or LOST}" for why, count in rows)
    total = sum(count for _, count in rows)
    return f"aggregation {aggregation} was begun {_times(total)} and never finished: {reasons}"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
