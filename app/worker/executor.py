"""Trains a part for one worker, one aggregation round a call; a round is stored before the next begins.

A call for a round that is stored already returns at once: the worker died after storing it, before the queue knew.
An unexpected exception ends the process, since it is the worker's failure and not the part's. Another worker resumes
the part after the last stored round.
"""

import logging
import os
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from app.store import StoreError
from app.validations.parts import Claim, PartStore, Turn
from app.worker.trainer_process import Trainer, TrainerDiedError, TrainingError
from fedl_sim.contract import ContractError, Failure, Part

__all__ = ["EXIT_CRASHED", "EXIT_SUPERSEDED", "Executor"]

T = TypeVar("T")

_log = logging.getLogger("fedsift.worker")

EXIT_CRASHED = 70
EXIT_SUPERSEDED = 75
_LONGEST_WAIT = 5.0


class Executor:
    """Runs the parts that the queue gives to this worker."""

    def __init__(self, parts: PartStore, worker_id: str, trainer: Trainer, *, most_attempts: int) -> None:
        self._parts = parts
        self._worker = worker_id
        self._trainer = trainer
        self._most_attempts = most_attempts
        self._claim: Claim | None = None
        self._at = -1
        self._idle = threading.Lock()
        self._rounds = 0
        self.stopping = threading.Event()

    def run_round(self, part_id: str, attempt: int, aggregation: int) -> str:
        """Train one round; returns "done", or "over" if the part has ended."""
        with self._idle:
            if self.stopping.is_set():
                # The call never returns, so the queue keeps the part and gives it to the worker that takes over.
                threading.Event().wait()
            self._rounds += 1
            try:
                return self._run_round(part_id, attempt, aggregation)
            except Exception:
                _log.exception("worker failed", extra={"fields": {"part": part_id, "aggregation": aggregation}})
                self._trainer.stop()
                os._exit(EXIT_CRASHED)

    def idle_at(self) -> int | None:
        """The number of rounds begun so far; None while one is under way."""
        return None if self._idle.locked() else self._rounds

    def let_go(self) -> None:
        """Drop the current part; whichever worker continues it, this one included, claims it again."""
        with self._idle:
            self._claim = None

    def wait_for_round(self, seconds: float) -> bool:
        """Begin no more rounds, and wait for the one under way; returns whether it ended in time."""
        self.stopping.set()
        return self._idle.acquire(timeout=seconds)

    def _run_round(self, part_id: str, attempt: int, aggregation: int) -> str:
        claim = self._claimed(part_id, attempt)
        if claim is None:
            return "over"
        try:
            part = claim.part
        except ContractError as error:
            # It would be damaged for every worker: the validation ends here, and its caller is told.
            return self._end(claim, "failed", Failure("damaged", f"the stored work is damaged: {error}"))
        turn = self._patiently(
            lambda: self._parts.begin_round(part_id, aggregation, self._worker, most_attempts=self._most_attempts)
        )
        outcome = self._train(claim, part, aggregation) if turn == "train" else self._leave(claim, aggregation, turn)
        if outcome == "done" and aggregation >= part.work.aggregations:
            return self._end(claim, "done")
        return outcome

    def _leave(self, claim: Claim, aggregation: int, turn: Turn) -> str:
        """Act on the reason why a round is not to be trained."""
        if turn == "cancelled":
            return self._end(claim, "cancelled")
        if turn == "exhausted":
            detail = f"aggregation {aggregation} was begun {self._most_attempts} times and never finished"
            return self._end(claim, "failed", Failure("exhausted", detail))
        return "done" if turn == "done" else self._superseded()

    def _claimed(self, part_id: str, attempt: int) -> Claim | None:
        if self._claim is None or self._claim.part_id != part_id:
            self._claim = self._patiently(lambda: self._parts.claim(part_id, attempt, self._worker))
            self._at = -1
        return self._claim

    def _train(self, claim: Claim, part: Part, aggregation: int) -> str:
        begin = time.perf_counter()
        try:
            if self._at != aggregation:
                self._open(claim, part, aggregation)
            trained, checkpoint = self._trainer.advance(aggregation)
        except TrainingError as error:
            return self._end(claim, "failed", error.failure)
        except TrainerDiedError as error:
            # Try again from the last stored round until the attempts are used up: a machine that runs out of memory
            # kills processes at random.
            _log.warning("trainer died: %s", error, extra={"fields": {"part": claim.part_id}})
            self._claim = None
            return self._run_round(claim.part_id, claim.attempt, aggregation)
        seconds = time.perf_counter() - begin
        kept = self._patiently(
            lambda: self._parts.finish_round(
                claim,
                aggregation,
                self._worker,
                seconds=seconds,
                record=trained.record,
                checkpoint=checkpoint,
                facts=trained.facts,
            )
        )
        if not kept and self._standing(claim, aggregation) != "done":
            return self._superseded()
        self._at = aggregation + 1
        return "done"

    def _standing(self, claim: Claim, aggregation: int) -> str:
        """Ask the store whether the round was stored after all: the reply to a commit can be lost."""
        return self._patiently(
            lambda: self._parts.begin_round(claim.part_id, aggregation, self._worker, most_attempts=0)
        )

    def _open(self, claim: Claim, part: Part, aggregation: int) -> None:
        if claim.next_round != aggregation:
            raise RuntimeError(f"the part stands at {claim.next_round}, not at {aggregation}")
        opened = self._trainer.open(part, claim.checkpoint)
        if opened.next != aggregation:
            detail = f"the checkpoint stands at {opened.next}, not at {aggregation}"
            raise TrainingError(Failure("checkpoint", detail))

    def _end(self, claim: Claim, state: str, failure: Failure | None = None) -> str:
        self._claim = None
        if failure is not None:
            fields = {"part": claim.part_id, "type": failure.type, "detail": failure.detail}
            _log.warning("part failed", extra={"fields": fields})
        self._patiently(lambda: self._parts.end(claim, self._worker, state, failure))
        return "over"

    def _superseded(self) -> str:
        _log.error("another worker has taken over; leaving", extra={"fields": {"worker": self._worker}})
        self._trainer.stop()
        os._exit(EXIT_SUPERSEDED)

    def _patiently(self, work: Callable[[], T]) -> T:
        """Repeat a store operation until the database answers."""
        wait = 0.1
        while True:
            try:
                return work()
            except StoreError as error:
                _log.warning("the store does not answer: %s", error)
                time.sleep(wait)
                wait = min(2 * wait, _LONGEST_WAIT)
