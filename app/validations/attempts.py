"""Attempts at rounds: counted before the work begins, so that a round that kills its worker is counted too.

A row without a reason is under way, or its round is stored.
"""

from app.store.database import ReadTransaction, Transaction

__all__ = ["LOST", "attempts_at", "close_attempts", "count_attempt", "forget_attempt", "tell_attempts"]

LOST = "its worker died or fell silent"

_ROUND = "WHERE part_id = ? AND aggregation = ?"


def attempts_at(t: ReadTransaction, part_id: str, aggregation: int) -> int:
    """How many times the round was begun."""
    ((count,),) = t.rows(f"SELECT COUNT(*) FROM validation_attempts {_ROUND}", part_id, aggregation)  # noqa: S608
    return int(count)


def count_attempt(t: Transaction, part_id: str, aggregation: int, worker: str, now: str) -> None:
    """Note that a worker is about to train the round."""
    sql = f"INSERT INTO validation_attempts (part_id, aggregation, worker, begun_at) VALUES (?, ?, ?, {now})"  # noqa: S608
    t.change(sql, part_id, aggregation, worker)


def close_attempts(t: Transaction, part_id: str, aggregation: int, why: str) -> None:
    """Note why the attempt under way ended without a result."""
    sql = f"UPDATE validation_attempts SET why = ? {_ROUND} AND why IS NULL"  # noqa: S608 - constants
    t.change(sql, why, part_id, aggregation)


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
