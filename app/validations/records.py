"""Validations as records, and the statements that the stores of validations share."""

import json
from dataclasses import dataclass
from typing import Any, Literal

from app.store.about import About
from app.store.database import Transaction
from app.store.outbox import announce
from app.store.totals import count
from app.telemetry.context import request_id

__all__ = [
    "OPEN_PARTS",
    "OPEN_STATES",
    "EventRecord",
    "PartRecord",
    "RoundRecord",
    "State",
    "ValidationRecord",
    "add_event",
    "settle",
]

State = Literal["queued", "running", "succeeded", "failed", "cancelled"]

OPEN_STATES = "('queued', 'running')"
# A part waits for a worker, runs, and ends as done, failed or cancelled.
OPEN_PARTS = "('waiting', 'running')"


@dataclass(frozen=True)
class ValidationRecord:
    """A validation and how far it is.

    Attributes:
        cancelled: 1 once somebody asked for it to stop, or a part failed.
        rounds: aggregations of all parts, k = 0 included; `rounds_done` of them are done.
        last_event: number of the last event.
        failure: why it failed, as JSON; None if it did not.
    """

    id: str
    owner: str
    created_at: float
    state: State
    cancelled: int
    rounds: int
    rounds_done: int
    last_event: int
    started_at: float | None
    finished_at: float | None
    failure: str | None
    updated_at: float
    about: About


@dataclass(frozen=True)
class PartRecord:
    """One scheme, seed and draw; `facts` is what is known of the run besides its rounds, as JSON."""

    id: str
    number: int
    scheme: str
    seed: int
    draw: int
    rounds: int
    state: str
    next_round: int
    facts: str


@dataclass(frozen=True)
class RoundRecord:
    """An aggregation that was done: how long it took, and what was measured, as JSON."""

    part_id: str
    aggregation: int
    seconds: float
    record: str


@dataclass(frozen=True)
class EventRecord:
    """What followers are told, numbered without gaps."""

    number: int
    kind: str
    body: str


def add_event(t: Transaction, validation_id: str, kind: str, body: dict[str, Any]) -> None:
    """Append an event; the validation's row is locked by it, so numbers are taken in the order of commits."""
    # No moment of a validation lies before an earlier one, even if the database's clock was set back.
    sql = "UPDATE validations SET last_event = last_event + 1, "
    sql += "updated_at = CASE WHEN updated_at > ? THEN updated_at ELSE ? END WHERE id = ? "
    sql += "RETURNING last_event, owner, request_id"
    for number, owner, asked_by in t.rows(sql, t.now, t.now, validation_id):
        t.change(
            "INSERT INTO validation_events (validation_id, number, kind, body) VALUES (?, ?, ?, ?)",
            validation_id,
            number,
            kind,
            json.dumps(body),
        )
        if kind == "state":
            event = f"validation.{body['state']}"
            announce(t, owner, event, validation_id, body, request_id=request_id() or asked_by)


def settle(t: Transaction, validation_id: str) -> None:
    """Cancel parts that have not begun if the validation is cancelled; once no part is open, record how it ended."""
    ((state, cancelled, failure),) = t.rows(
        "SELECT state, cancelled, failure FROM validations WHERE id = ?", validation_id
    )
    if cancelled:
        t.change(
            "UPDATE validation_parts SET state = 'cancelled', ended_at = ? "
            "WHERE validation_id = ? AND state = 'waiting'",
            t.now,
            validation_id,
        )
    sql = f"SELECT COUNT(*) FROM validation_parts WHERE validation_id = ? AND state IN {OPEN_PARTS}"  # noqa: S608
    ((still_open,),) = t.rows(sql, validation_id)
    if still_open or state not in {"queued", "running"}:
        return
    ((undone,),) = t.rows(
        "SELECT COUNT(*) FROM validation_parts WHERE validation_id = ? AND state <> 'done'", validation_id
    )
    ended = "failed" if failure is not None else "cancelled" if undone else "succeeded"
    body: dict[str, Any] = {"state": ended}
    if failure is not None:
        body["failure"] = json.loads(failure)
    add_event(t, validation_id, "state", body)
    t.change("UPDATE validations SET state = ?, finished_at = updated_at WHERE id = ?", ended, validation_id)
    count(t, validation_id, **{ended: 1})
