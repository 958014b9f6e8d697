"""Parts of validations as workers see them: queued, claimed, trained round by round, ended.

Every change of a part is one transaction, and only the worker that claimed the part last may make it: a worker that
was taken for dead and comes back changes nothing. A round's record, the checkpoint after it and the event are written
together, so a crash leaves all of a round or nothing.
"""

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from app.store import Store
from app.validations.packing import unpack_work
from app.validations.records import OPEN_STATES, add_event, settle
from fedl_sim.contract import AggregationRecord, Facts, Failure, Part, Work

__all__ = ["Claim", "PartStore", "Ticket", "Turn"]

Turn = Literal["train", "done", "cancelled", "superseded", "exhausted"]

_LEASE_SECONDS = 10.0


@dataclass(frozen=True)
class Ticket:
    """A part to put into the queue: its id, which attempt it is, its rounds, and its place in its validation."""

    part_id: str
    attempt: int
    rounds: int
    number: int


@dataclass(frozen=True)
class Claim:
    """A part as its new worker finds it.

    Attributes:
        work: of the validation, as it is stored.
        next_round: the aggregation to train next.
        checkpoint: the state before it; None before the first round.
    """

    part_id: str
    validation_id: str
    attempt: int
    scheme: str
    seed: int
    draw: int
    work: bytes
    next_round: int
    checkpoint: bytes | None

    @cached_property
    def part(self) -> Part:
        """What is to be trained.

        Raises:
            ContractError: what is stored is damaged.
        """
        return Part(Work.from_json(unpack_work(self.work)), self.scheme, self.seed, self.draw)


class PartStore:
    """A worker's side of validations."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def lease(self, limit: int) -> list[Ticket]:
        """Parts that wait to be queued, for this worker to queue within a lease; nobody else gets them meanwhile."""
        now = self._store.now
        sql = (
            f"UPDATE validation_parts SET leased_until = {now} + ? WHERE id IN (SELECT id FROM validation_parts "  # noqa: S608
            f"WHERE state = 'waiting' AND leased_until < {now} ORDER BY number LIMIT ?) "
            "AND state = 'waiting' RETURNING id, attempt, rounds, number"
        )
        with self._store.write() as t:
            return [Ticket(*row) for row in t.rows(sql, _LEASE_SECONDS, limit)]

    def queued(self, tickets: list[Ticket]) -> None:
        """The queue has them."""
        sql = "UPDATE validation_parts SET state = 'queued' WHERE id = ? AND attempt = ? AND state = 'waiting'"
        with self._store.write() as t:
            for ticket in tickets:
                t.change(sql, ticket.part_id, ticket.attempt)

    def claim(self, part_id: str, attempt: int, worker: str) -> Claim | None:
        """Take a part over; None if it has ended, is gone, or was queued anew since."""
        with self._store.write() as t:
            found = t.rows("SELECT validation_id FROM validation_parts WHERE id = ?", part_id)
            if not found:
                return None
            ((validation_id,),) = found
            sql = f"UPDATE validations SET started_at = COALESCE(started_at, {self._store.now}) WHERE id = ? "  # noqa: S608
            ((state, work),) = t.rows(f"{sql} RETURNING state, work", validation_id)
            taken = t.rows(
                "UPDATE validation_parts SET worker = ?, state = 'running' WHERE id = ? AND attempt = ? "
                "AND state IN ('waiting', 'queued', 'running') RETURNING scheme, seed, draw, next_round, checkpoint",
                worker,
                part_id,
                attempt,
            )
            if not taken:
                return None
            if state == "queued":
                t.change("UPDATE validations SET state = 'running' WHERE id = ?", validation_id)
                add_event(t, validation_id, "state", {"state": "running"})
        ((scheme, seed, draw, next_round, checkpoint),) = taken
        return Claim(
            part_id=part_id,
            validation_id=validation_id,
            attempt=attempt,
            scheme=scheme,
            seed=seed,
            draw=draw,
            work=bytes(work),
            next_round=next_round,
            checkpoint=None if checkpoint is None else bytes(checkpoint),
        )

    def begin_round(self, part_id: str, aggregation: int, worker: str, *, most_attempts: int) -> Turn:
        """Note that a round is about to be trained, unless it should not be."""
        sql = "SELECT p.worker, p.state, p.next_round, v.cancelled FROM validation_parts p JOIN validations v "
        sql += "ON v.id = p.validation_id WHERE p.id = ?"
        with self._store.write() as t:
            found = t.rows(sql, part_id)
            if not found or found[0][0] != worker or found[0][1] != "running":
                return "superseded"
            ((_, _, next_round, cancelled),) = found
            if next_round > aggregation:
                return "done"
            if cancelled:
                return "cancelled"
            ((before,),) = t.rows(
                "SELECT COUNT(*) FROM validation_attempts WHERE part_id = ? AND aggregation = ?", part_id, aggregation
            )
            if before >= most_attempts:
                return "exhausted"
            columns = "part_id, aggregation, worker, begun_at"
            sql = f"INSERT INTO validation_attempts ({columns}) VALUES (?, ?, ?, {self._store.now})"  # noqa: S608
            t.change(sql, part_id, aggregation, worker)
        return "train"

    def finish_round(
        self,
        claim: Claim,
        aggregation: int,
        worker: str,
        *,
        seconds: float,
        record: AggregationRecord,
        checkpoint: bytes,
        facts: Facts,
    ) -> bool:
        """Keep a round with what follows from it; False if the part is another worker's by now."""
        with self._store.write() as t:
            ((done, rounds),) = t.rows(
                "UPDATE validations SET rounds_done = rounds_done + 1 WHERE id = ? RETURNING rounds_done, rounds",
                claim.validation_id,
            ) or ((0, 1),)
            kept = t.change(
                "UPDATE validation_parts SET next_round = ?, checkpoint = ?, facts = ? "
                "WHERE id = ? AND worker = ? AND next_round = ? AND state = 'running'",
                aggregation + 1,
                checkpoint,
                json.dumps(facts.to_json()),
                claim.part_id,
                worker,
                aggregation,
            )
            if not kept:
                t.change("UPDATE validations SET rounds_done = rounds_done - 1 WHERE id = ?", claim.validation_id)
                return False
            t.change(
                "INSERT INTO validation_rounds (part_id, aggregation, seconds, record) VALUES (?, ?, ?, ?)",
                claim.part_id,
                aggregation,
                seconds,
                json.dumps(record.to_json()),
            )
            measured = {"aggregation": aggregation, "accuracy": record.accuracy, "loss": record.loss}
            add_event(t, claim.validation_id, "round", {**_place(claim), **measured, "progress": done / rounds})
        return True

    def end(self, claim: Claim, worker: str, state: str, failure: Failure | None = None) -> bool:
        """End a part as done, failed or cancelled; a failure ends its whole validation."""
        with self._store.write() as t:
            if failure is not None:
                t.change(
                    "UPDATE validations SET cancelled = 1, failure = COALESCE(failure, ?) WHERE id = ?",
                    json.dumps({"type": failure.type, "detail": failure.detail, **_place(claim)}),
                    claim.validation_id,
                )
            else:
                t.change("UPDATE validations SET last_event = last_event WHERE id = ?", claim.validation_id)  # locks
            ended = t.change(
                f"UPDATE validation_parts SET state = ?, checkpoint = NULL, ended_at = {self._store.now} "  # noqa: S608
                "WHERE id = ? AND worker = ? AND state = 'running'",
                state,
                claim.part_id,
                worker,
            )
            if ended:
                settle(t, claim.validation_id, self._store.now)
        return bool(ended)

    def queue_anew(self, tickets: list[Ticket]) -> int:
        """Give open parts that the queue has lost another attempt."""
        sql = (
            "UPDATE validation_parts SET state = 'waiting', attempt = attempt + 1, worker = NULL, leased_until = 0 "
            "WHERE id = ? AND attempt = ? AND state IN ('queued', 'running')"
        )
        with self._store.write() as t:
            return sum(t.change(sql, ticket.part_id, ticket.attempt) for ticket in tickets)

    def in_queue(self, limit: int) -> list[Ticket]:
        """Open parts that the queue should know, those longest in it first."""
        sql = "SELECT id, attempt, rounds, number FROM validation_parts WHERE state IN ('queued', 'running') "
        with self._store.read() as t:
            return [Ticket(*row) for row in t.rows(f"{sql} ORDER BY leased_until LIMIT ?", limit)]

    def to_forget(self, seconds: float, limit: int) -> list[Ticket]:
        """Parts that ended so many seconds ago and that the queue still remembers."""
        sql = "SELECT id, attempt, rounds, number FROM validation_parts WHERE forgotten = 0 "
        sql += f"AND ended_at < {self._store.now} - ? LIMIT ?"
        with self._store.read() as t:
            return [Ticket(*row) for row in t.rows(sql, seconds, limit)]

    def forgotten(self, tickets: list[Ticket]) -> None:
        """The queue remembers them no longer."""
        with self._store.write() as t:
            for ticket in tickets:
                t.change("UPDATE validation_parts SET forgotten = 1 WHERE id = ?", ticket.part_id)

    def delete_ended(self, *, older_than: float, kept_of_owner: int) -> int:
        """Delete ended validations beyond the retention limits, once the queue has forgotten their parts."""
        ended = f"state NOT IN {OPEN_STATES} AND NOT EXISTS (SELECT 1 FROM validation_parts p WHERE "  # noqa: S608
        ended += "p.validation_id = validations.id AND p.forgotten = 0)"
        later = "SELECT COUNT(*) FROM validations v WHERE v.owner = validations.owner AND v.finished_at IS NOT NULL "
        later += "AND (v.created_at, v.id) > (validations.created_at, validations.id)"
        sql = f"DELETE FROM validations WHERE {ended} AND (finished_at < {self._store.now} - ? OR ({later}) >= ?)"  # noqa: S608
        with self._store.write() as t:
            return t.change(sql, older_than, kept_of_owner)


def _place(claim: Claim) -> dict[str, object]:
    """Which part of its validation it is, as callers are told."""
    return {"scheme": claim.scheme, "seed": claim.seed, "draw": claim.draw}
