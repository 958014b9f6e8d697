"""Parts of validations as workers see them: claimed, trained round by round, ended or given back.

A part is leased to one worker at a time. Its row names the worker and has a token that every claim raises. Whatever a
worker writes, it writes in a transaction that first finds the worker's own row and then its token on the part: a worker
that was struck off, or whose part was claimed by another, changes nothing (`LostError`). A part is free while it waits,
and when the row of its worker is gone.

- All of a round is written together: record, checkpoint, event, and the count of the next attempt.
- Locks are taken in one order: the worker, the validation, then its parts. Whoever changes a part holds its validation.
- A call may be repeated if the reply of the database was lost.
"""

import json
import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from app.store import Store
from app.store.database import Transaction
from app.store.totals import count
from app.validations.attempts import (
    LOST,
    AttemptLimits,
    close_attempts,
    count_attempt,
    failed_attempts,
    forget_attempt,
    tell_attempts,
)
from app.validations.packing import unpack_work
from app.validations.records import OPEN_STATES, add_event, settle
from fedl_sim.contract import AggregationRecord, Facts, Failure, Part, Work

__all__ = ["AttemptLimits", "Claim", "FinishedRound", "LostError", "Material", "PartStore", "beat"]


class LostError(Exception):
    """The worker was struck off, or the part is another worker's by now."""


@dataclass(frozen=True)
class Claim:
    """A part in the hands of a worker, from the round `next_round` of `rounds` on; `token` proves the lease.

    `request_id` and `traceparent` are those of the request that asked for the validation.
    """

    worker: str
    token: int
    part_id: str
    validation_id: str
    scheme: str
    seed: int
    draw: int
    rounds: int
    next_round: int
    request_id: str
    traceparent: str


@dataclass(frozen=True)
class Material:
    """What a claimed part is trained from: its validation's work as stored, and the state before the next round."""

    claim: Claim
    work: bytes
    checkpoint: bytes | None

    @cached_property
    def part(self) -> Part:
        """What is to be trained.

        Raises:
            ContractError: what is stored is damaged.
        """
        claim = self.claim
        return Part(Work.from_json(unpack_work(self.work)), claim.scheme, claim.seed, claim.draw)


@dataclass(frozen=True)
class FinishedRound:
    """A trained round, and the state after it."""

    aggregation: int
    seconds: float
    record: AggregationRecord
    checkpoint: bytes
    facts: Facts


class _Free(NamedTuple):
    """A part that a worker may take, as it was read."""

    turn: int
    created_at: float
    part_id: str
    validation_id: str
    state: str
    token: int


def beat(t: Transaction, worker: str) -> bool:
    """Count a heartbeat; False if the worker has no row. The row stays locked until the transaction ends."""
    return bool(t.change("UPDATE workers SET beats = beats + 1 WHERE id = ?", worker))


class PartStore:
    """A worker's side of validations."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def claim(self, worker: str, limits: AttemptLimits) -> Claim | None:
        """Take the next free part and count the attempt at its next round; None if no part is free.

        A part that is at one of the limits fails its validation instead.

        Raises:
            LostError: the worker was struck off.
        """
        while True:
            free = self._first_free(worker)
            if free is None:
                return None
            with self._store.write() as t:
                if not beat(t, worker):
                    raise LostError(worker)
                claim = self._take(t, worker, free)
                if claim is not None and self._begin(t, claim, limits):
                    return claim
            # Another worker was first, or this part has ended: look again.

    def material(self, claim: Claim) -> Material:
        """What the part is trained from; read after the attempt was counted, since reading it may be what fails.

        Raises:
            LostError: the part is no longer this worker's.
        """
        sql = "SELECT v.work, p.checkpoint FROM validation_parts p JOIN validations v ON v.id = p.validation_id "
        with self._store.read() as t:
            found = t.rows(f"{sql} WHERE p.id = ? AND p.token = ?", claim.part_id, claim.token)
        if not found:
            raise LostError(claim.part_id)
        ((work, checkpoint),) = found
        return Material(claim, bytes(work), None if checkpoint is None else bytes(checkpoint))

    def finish_round(self, claim: Claim, done: FinishedRound) -> bool:
        """Keep a round with what follows from it; returns whether the next is to be trained, which is then counted.

        Raises:
            LostError: the part is no longer this worker's.
        """
        following = done.aggregation + 1
        with self._store.write() as t:
            state, next_round, cancelled = _hold(t, claim)
            if state != "running":
                return False
            if next_round == following:  # kept before; the reply was lost
                return True
            self._keep(t, claim, done)
            if following < claim.rounds and not cancelled:
                count_attempt(t, claim.part_id, following, claim.worker)
                return True
            self._end(t, claim, "cancelled" if following < claim.rounds else "done")
        return False

    def try_again(self, claim: Claim, why: str, limits: AttemptLimits) -> bool:
        """Note why an attempt ended; returns whether another may begin, which is then counted.

        Raises:
            LostError: the part is no longer this worker's.
        """
        with self._store.write() as t:
            state, next_round, _ = _hold(t, claim)
            if state != "running":
                return False
            count(t, claim.validation_id, attempts_failed=close_attempts(t, claim.part_id, next_round, why))
            return self._begin(t, claim, limits)

    def is_wanted(self, claim: Claim) -> bool:
        """Whether to go on with a part; one of a cancelled validation ends here.

        Raises:
            LostError: the part is no longer this worker's.
        """
        with self._store.write() as t:
            state, _, cancelled = _hold(t, claim)
            if state == "running" and cancelled:
                self._end(t, claim, "cancelled")
            return state == "running" and not cancelled

    def fail(self, claim: Claim, failure: Failure) -> None:
        """End a part and its whole validation with a reason.

        Raises:
            LostError: the part is no longer this worker's.
        """
        with self._store.write() as t:
            if _hold(t, claim)[0] == "running":
                self._end(t, claim, "failed", failure)

    def release(self, claim: Claim, why: str | None = None) -> None:
        """Give a part back; the attempt under way counts only if there is a reason that lies in the part.

        Raises:
            LostError: the part is no longer this worker's.
        """
        with self._store.write() as t:
            state, next_round, _ = _hold(t, claim)
            if state != "running":
                return
            if why is None:
                forget_attempt(t, claim.part_id, next_round)
            else:
                count(t, claim.validation_id, attempts_failed=close_attempts(t, claim.part_id, next_round, why))
            t.change("UPDATE validation_parts SET state = 'waiting', worker = NULL WHERE id = ?", claim.part_id)
            settle(t, claim.validation_id)  # it may be cancelled by now

    def delete_ended(self, *, older_than: float, kept_of_owner: int) -> int:
        """Delete ended validations beyond the retention limits."""
        later = "SELECT COUNT(*) FROM validations v WHERE v.owner = validations.owner AND v.finished_at IS NOT NULL "
        later += "AND (v.created_at, v.id) > (validations.created_at, validations.id)"
        sql = f"DELETE FROM validations WHERE state NOT IN {OPEN_STATES} "  # noqa: S608 - constants
        sql += f"AND (finished_at < ? OR ({later}) >= ?)"
        with self._store.write() as t:
            return t.change(sql, t.now - older_than, kept_of_owner)

    def _first_free(self, worker: str) -> _Free | None:
        """The first parts of all validations come before the second ones, so a large validation delays no other.

        Each worker that was lost with a part moves it one turn back: a part that kills its workers must stop no other.
        A running part of this very worker is free too: the worker has none in hand, so the reply to a claim was lost.
        """
        sql = "SELECT number + losses, created_at, id, validation_id, state, token FROM validation_parts p WHERE "
        order = " ORDER BY number + losses, created_at LIMIT 1"
        orphaned = "state = 'running' AND (worker = ? OR NOT EXISTS (SELECT 1 FROM workers w WHERE w.id = p.worker))"
        with self._store.read() as t:
            found = t.rows(f"{sql} state = 'waiting' {order}") + t.rows(f"{sql} {orphaned} {order}", worker)
        return min((_Free(*row) for row in found), default=None)

    def _take(self, t: Transaction, worker: str, free: _Free) -> Claim | None:
        """Lease a part to the worker; None if it changed since it was read."""
        _lock(t, free.validation_id)
        taken = t.rows(
            "UPDATE validation_parts SET worker = ?, state = 'running', token = token + 1, losses = losses + ? "
            "WHERE id = ? AND state = ? AND token = ? RETURNING scheme, seed, draw, rounds, next_round",
            worker,
            int(free.state == "running"),
            free.part_id,
            free.state,
            free.token,
        )
        if not taken:
            return None
        sql = "SELECT request_id, traceparent FROM validations WHERE id = ?"
        (asked_by,) = t.rows(sql, free.validation_id)
        claim = Claim(worker, free.token + 1, free.part_id, free.validation_id, *taken[0], *asked_by)
        if lost := close_attempts(t, claim.part_id, claim.next_round, LOST):
            count(t, claim.validation_id, attempts_lost=lost)
        if t.change("UPDATE validations SET state = 'running' WHERE id = ? AND state = 'queued'", claim.validation_id):
            add_event(t, claim.validation_id, "state", {"state": "running"})
            t.change("UPDATE validations SET started_at = updated_at WHERE id = ?", claim.validation_id)
        return claim

    def _begin(self, t: Transaction, claim: Claim, limits: AttemptLimits) -> bool:
        """Count the attempt at the part's next round, unless the part is cancelled or its attempts are used up."""
        ((next_round, losses, cancelled),) = t.rows(
            "SELECT p.next_round, p.losses, v.cancelled FROM validation_parts p "
            "JOIN validations v ON v.id = p.validation_id WHERE p.id = ?",
            claim.part_id,
        )
        if cancelled:
            self._end(t, claim, "cancelled")
            return False
        if losses >= limits.lost or failed_attempts(t, claim.part_id, next_round) >= limits.failed:
            self._end(t, claim, "failed", Failure("exhausted", tell_attempts(t, claim.part_id, next_round)))
            return False
        count_attempt(t, claim.part_id, next_round, claim.worker)
        return True

    def _keep(self, t: Transaction, claim: Claim, done: FinishedRound) -> None:
        """Write a round that was trained."""
        kept = t.change(
            "UPDATE validation_parts SET next_round = ?, checkpoint = ?, facts = ?, losses = 0 "
            "WHERE id = ? AND next_round = ?",
            done.aggregation + 1,
            done.checkpoint,
            json.dumps(done.facts.to_json()),
            claim.part_id,
            done.aggregation,
        )
        if not kept:
            raise LostError(claim.part_id)
        ((rounds_done, rounds),) = t.rows(
            "UPDATE validations SET rounds_done = rounds_done + 1 WHERE id = ? RETURNING rounds_done, rounds",
            claim.validation_id,
        )
        t.change(
            "INSERT INTO validation_rounds (part_id, aggregation, seconds, record) VALUES (?, ?, ?, ?)",
            claim.part_id,
            done.aggregation,
            done.seconds,
            json.dumps(done.record.to_json()),
        )
        count(t, claim.validation_id, rounds=1, round_seconds=done.seconds)
        measured = {"aggregation": done.aggregation, "accuracy": done.record.accuracy}
        if math.isfinite(done.record.loss):  # JSON has no other numbers
            measured["loss"] = done.record.loss
        body = {**_place(claim), **measured, "progress": rounds_done / rounds}
        add_event(t, claim.validation_id, "round", body)

    def _end(self, t: Transaction, claim: Claim, state: str, failure: Failure | None = None) -> None:
        """End a part as done, failed or cancelled; a failure ends its whole validation."""
        if failure is not None:
            t.change(
                "UPDATE validations SET cancelled = 1, failure = COALESCE(failure, ?) WHERE id = ?",
                json.dumps({"type": failure.type, "detail": failure.detail, **_place(claim)}),
                claim.validation_id,
            )
        t.change(
            "UPDATE validation_parts SET state = ?, checkpoint = NULL, ended_at = ? WHERE id = ?",
            state,
            t.now,
            claim.part_id,
        )
        settle(t, claim.validation_id)


def _lock(t: Transaction, validation_id: str) -> bool | None:
    """Lock a validation with its parts; returns whether it is cancelled, None if it is gone."""
    sql = "UPDATE validations SET last_event = last_event WHERE id = ? RETURNING cancelled"
    return next((bool(cancelled) for (cancelled,) in t.rows(sql, validation_id)), None)


def _hold(t: Transaction, claim: Claim) -> tuple[str, int, bool]:
    """Prove the lease and lock the part; returns its state, its next round and whether its validation is cancelled."""
    if not beat(t, claim.worker):
        raise LostError(claim.worker)
    cancelled = _lock(t, claim.validation_id)
    sql = "SELECT state, next_round FROM validation_parts WHERE id = ? AND worker = ? AND token = ?"
    found = t.rows(sql, claim.part_id, claim.worker, claim.token)
    if cancelled is None or not found:
        raise LostError(claim.part_id)
    ((state, next_round),) = found
    return state, next_round, cancelled


def _place(claim: Claim) -> dict[str, object]:
    """Which part of its validation it is, as callers are told."""
    return {"scheme": claim.scheme, "seed": claim.seed, "draw": claim.draw}
