"""Validations as callers see them: accepted, listed, cancelled, followed."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from app.store import Store
from app.store.about import About, joined, made_by, read_about, tell
from app.store.database import ReadTransaction
from app.store.paging import Page, owned_page
from app.store.totals import Totals, read_totals
from app.store.usage import ROW_BYTES, charge
from app.validations.packing import pack_work, unpack_work
from app.validations.records import (
    OPEN_STATES,
    EventRecord,
    PartRecord,
    RoundRecord,
    ValidationRecord,
    add_event,
    settle,
)
from fedl_sim.contract import Outline, Work

__all__ = ["Accepted", "Counts", "NewPart", "NewValidation", "Standing", "ValidationStore", "Waiting"]

_COLUMNS = (
    "x.id, x.owner, x.created_at, x.state, x.cancelled, x.rounds, x.rounds_done, x.last_event, x.started_at, "
    "x.finished_at, x.failure, x.updated_at"
)
# The record, the event and the attempts of a round, roughly.
_ROUND_BYTES = 1024
_PART = "id, number, scheme, seed, draw, rounds, state, next_round, facts"


@dataclass(frozen=True)
class NewPart:
    """A part to be trained."""

    scheme: str
    seed: int
    draw: int
    rounds: int


@dataclass(frozen=True)
class NewValidation:
    """A validation to be accepted: `request` as it was asked for, `work` as it is trained.

    `request_id` and `traceparent` tell workers which HTTP request it was, for logs and traces.
    """

    id: str
    owner: str
    about: About
    request: bytes
    work: Work
    parts: tuple[NewPart, ...]
    request_id: str = ""
    traceparent: str = ""


@dataclass(frozen=True)
class Accepted:
    """The outcome of a request to validate.

    Attributes:
        id: of the validation that now exists for it; empty if there is none.
        digest: of the body that validation was asked for with.
        new: whether this request made it.
        full: which limit refused it, "owner" or "queue"; empty if none did.
    """

    id: str
    digest: str
    new: bool
    full: str = ""


@dataclass(frozen=True)
class Standing:
    """A validation at one moment: its record, what results need of its work, its parts in order, its rounds so far."""

    record: ValidationRecord
    outline: Outline
    parts: list[PartRecord]
    rounds: list[RoundRecord]


class Waiting(NamedTuple):
    """How many wait, and since how many seconds the first of them."""

    depth: int
    seconds: float


@dataclass(frozen=True)
class Counts:
    """Validations by state, totals that only grow, and what waits for workers and for receivers of webhooks."""

    validations: dict[str, int]
    totals: Totals
    parts: Waiting
    deliveries: Waiting


class ValidationStore:
    """The service's side of validations; workers have `app.validations.parts`."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def adding(
        self, new: NewValidation, *, most_open: int, most_open_of_owner: int, most_bytes: int
    ) -> Callable[[], Accepted]:
        """Pack a validation, which takes a while; the call that is returned writes it with all its parts.

        It does not if the idempotency key is known or the queue is full.

        Raises:
            QuotaError: the owner would keep more than `most_bytes` (when it is written).
            KeyTakenError: its idempotency key has made something meanwhile (likewise).
        """
        return partial(
            self._add,
            new,
            zlib.compress(new.request, 1),
            pack_work(new.work),
            most_open=most_open,
            most_open_of_owner=most_open_of_owner,
            most_bytes=most_bytes,
        )

    def _add(
        self,
        new: NewValidation,
        request: bytes,
        work: bytes,
        *,
        most_open: int,
        most_open_of_owner: int,
        most_bytes: int,
    ) -> Accepted:
        with self._store.write() as t:
            made = made_by(t, new.owner, new.about.key)
            if made is not None:
                return Accepted(made.id, made.digest, new=False)
            sql = f"SELECT COUNT(*) FROM validations WHERE state IN {OPEN_STATES}"  # noqa: S608 - constants
            ((of_owner,),) = t.rows(f"{sql} AND owner = ?", new.owner)
            if of_owner >= most_open_of_owner:
                return Accepted("", "", new=False, full="owner")
            ((of_all,),) = t.rows(sql)
            if of_all >= most_open:
                return Accepted("", "", new=False, full="queue")
            t.change(
                "INSERT INTO validations (id, owner, created_at, state, cancelled, rounds, rounds_done, last_event, "
                "updated_at, request, work, request_id, traceparent) "
                "VALUES (?, ?, ?, 'queued', 0, ?, 0, 0, ?, ?, ?, ?, ?)",
                new.id,
                new.owner,
                t.now,
                sum(part.rounds for part in new.parts),
                t.now,
                request,
                work,
                new.request_id,
                new.traceparent,
            )
            more = tell(t, "validation", new.id, new.owner, new.about)
            for number, part in enumerate(new.parts):
                t.change(
                    "INSERT INTO validation_parts (id, validation_id, number, scheme, seed, draw, rounds, state, "
                    "created_at, next_round, facts) VALUES (?, ?, ?, ?, ?, ?, ?, 'waiting', ?, 0, '{}')",
                    f"{new.id}-{number:04}",
                    new.id,
                    number,
                    part.scheme,
                    part.seed,
                    part.draw,
                    part.rounds,
                    t.now,
                )
            add_event(t, new.id, "state", {"state": "queued"})
            size = _size(new, len(request) + len(work) + more)
            charge(t, new.owner, "validation", new.id, t.now, size=size, limit=most_bytes)
        return Accepted(new.id, new.about.digest, new=True)

    def find(self, owner: str, validation_id: str) -> ValidationRecord | None:
        """The validation, if there is one and it is this owner's."""
        with self._store.read() as t:
            rows = t.rows(f"{joined('validation', _COLUMNS)} x.id = ? AND x.owner = ?", validation_id, owner)
        return _record(rows[0]) if rows else None

    def standing(self, owner: str, validation_id: str) -> Standing | None:
        """The validation with its parts and rounds, all at one moment; None if the owner has no such validation.

        Raises:
            ContractError: what is stored is damaged.
        """
        sql = f"{joined('validation', f'x.work, {_COLUMNS}')} x.id = ? AND x.owner = ?"
        of_parts = f"SELECT {_PART} FROM validation_parts WHERE validation_id = ? ORDER BY number"  # noqa: S608
        with self._store.read() as t:
            found = t.rows(sql, validation_id, owner)
            if not found:
                return None
            parts = t.rows(of_parts, validation_id)
            rounds = t.rows(
                "SELECT part_id, aggregation, seconds, record FROM validation_rounds WHERE part_id IN "
                "(SELECT id FROM validation_parts WHERE validation_id = ?) ORDER BY part_id, aggregation",
                validation_id,
            )
        work, *record = found[0]
        return Standing(
            _record(tuple(record)),
            Outline.from_json(unpack_work(work)),
            [PartRecord(*row) for row in parts],
            [RoundRecord(*row) for row in rounds],
        )

    def page(self, owner: str, page: Page) -> list[ValidationRecord]:
        """A page of the owner's validations, and one more if there are more."""
        with self._store.read() as t:
            return [_record(row) for row in owned_page(t, "validation", _COLUMNS, owner, page)]

    def cancel(self, owner: str, validation_id: str) -> ValidationRecord | None:
        """Ask for a stop at the next round; what has not begun stops at once."""
        with self._store.write() as t:
            asked = t.change(
                f"UPDATE validations SET cancelled = 1 WHERE id = ? AND owner = ? AND cancelled = 0 "  # noqa: S608
                f"AND state IN {OPEN_STATES}",
                validation_id,
                owner,
            )
            if asked:
                add_event(t, validation_id, "state", {"state": "cancelling"})
                settle(t, validation_id)
        return self.find(owner, validation_id)

    def erase(self, owner: str, validation_id: str) -> bool:
        """Delete an ended validation with all that was measured; whether there was one."""
        sql = f"DELETE FROM validations WHERE id = ? AND owner = ? AND state NOT IN {OPEN_STATES}"  # noqa: S608
        return bool(self._store.delete(lambda t: t.change(sql, validation_id, owner)))

    def events(self, validation_id: str, after: int, limit: int) -> list[EventRecord]:
        """Events numbered above `after`, in order."""
        with self._store.read() as t:
            rows = t.rows(
                "SELECT number, kind, body FROM validation_events WHERE validation_id = ? AND number > ? "
                "ORDER BY number LIMIT ?",
                validation_id,
                after,
                limit,
            )
        return [EventRecord(*row) for row in rows]

    def counts(self) -> Counts:
        """The numbers of a scrape, all at one moment."""
        with self._store.read() as t:
            return Counts(
                dict(t.rows("SELECT state, COUNT(*) FROM validations GROUP BY state")),
                read_totals(t),
                parts=_waiting(t, "validation_parts WHERE state = 'waiting'"),
                deliveries=_waiting(t, "webhook_deliveries WHERE delivered_at IS NULL"),
            )


def _waiting(t: ReadTransaction, rows: str) -> Waiting:
    ((count, first),) = t.rows(f"SELECT COUNT(*), MIN(created_at) FROM {rows}")  # noqa: S608 - constants
    return Waiting(count, 0.0 if first is None else max(0.0, t.now - first))


def _size(new: NewValidation, body: int) -> int:
    """What a validation takes once all its rounds are done: it is charged at once, so that none stops halfway."""
    return ROW_BYTES * (1 + len(new.parts)) + body + _ROUND_BYTES * sum(part.rounds for part in new.parts)


def _record(row: tuple[Any, ...]) -> ValidationRecord:
    return ValidationRecord(*(*row[:-3], read_about(*row[-3:])))
