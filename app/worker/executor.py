"""What a worker does with a part: one round a call, each trained once and kept before the next begins.

A call that finds its round kept already (the worker died between keeping it and telling the queue) returns at once.
Anything unforeseen ends the process: the queue must not be told of a failure that is the worker's own, and whoever
takes the part over goes on from the last round kept.
"""

import logging
import os
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from app.store import StoreError
from app.validations.parts import Claim, PartStore, Turn
from app.worker.trainer_process import Trainer, TrainerDiedError, TrainingError

__all__ = ["EXIT_CRASHED", "EXIT_SUPERSEDED", "Executor"]

T = TypeVar("T")

_log = logging.getLogger("fedsift.worker")

EXIT_CRASHED = 70
EXIT_SUPERSEDED = 75
_LONGEST_WAIT = 5.0


class Executor:
    """Runs parts for one worker."""

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
        """Do one round; says "done", or how the part ended."""
        with self._idle:
            if self.stopping.is_set():
                # Told of nothing, the queue keeps the part for whoever takes over.
                threading.Event().wait()
            self._rounds += 1
            try:
                return self._run_round(part_id, attempt, aggregation)
            except Exception:
                _log.exception("worker failed", extra={"fields": {"part": part_id, "aggregation": aggregation}})
                self._trainer.stop()
                os._exit(EXIT_CRASHED)

    def idle_at(self) -> int | None:
        """How many rounds it has seen, if none is under way: twice the same number means nothing has happened."""
        return None if self._idle.locked() else self._rounds

    def let_go(self) -> None:
        """Forget the part in hand: whoever goes on with it, this worker too, claims it anew."""
        with self._idle:
            self._claim = None

    def wait_for_round(self, seconds: float) -> bool:
        """Take no more rounds; whether the one under way ended in time."""
        self.stopping.set()
        return self._idle.acquire(timeout=seconds)

    def _run_round(self, part_id: str, attempt: int, aggregation: int) -> str:
        claim = self._claimed(part_id, attempt)
        if claim is None:
            return "over"
        turn = self._patiently(
            lambda: self._parts.begin_round(part_id, aggregation, self._worker, most_attempts=self._most_attempts)
        )
        outcome = self._train(claim, aggregation) if turn == "train" else self._leave(claim, aggregation, turn)
        if outcome == "done" and aggregation >= claim.work["aggregations"]:
            return self._end(claim, "done")
        return outcome

    def _leave(self, claim: Claim, aggregation: int, turn: Turn) -> str:
        """Why a round is not trained."""
        if turn == "cancelled":
            return self._end(claim, "cancelled")
        if turn == "exhausted":
            detail = f"aggregation {aggregation} was begun {self._most_attempts} times and never finished"
            return self._end(claim, "failed", {"type": "exhausted", "detail": detail})
        return "done" if turn == "done" else self._superseded()

    def _claimed(self, part_id: str, attempt: int) -> Claim | None:
        if self._claim is None or self._claim.part_id != part_id:
            self._claim = self._patiently(lambda: self._parts.claim(part_id, attempt, self._worker))
            self._at = -1
        return self._claim

    def _train(self, claim: Claim, aggregation: int) -> str:
        begin = time.perf_counter()
        try:
            if self._at != aggregation:
                self._open(claim, aggregation)
            record, checkpoint, gap = self._trainer.advance(aggregation)
        except TrainingError as error:
            return self._end(claim, "failed", {"type": error.kind, "detail": str(error)})
        except TrainerDiedError as error:
            # Tried anew, from what is kept, until the attempts are used up: a machine short of memory kills at random.
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
                record=record,
                checkpoint=checkpoint,
                facts={"worst_relative_gap": gap},
            )
        )
        if not kept and self._standing(claim, aggregation) != "done":
            return self._superseded()
        self._at = aggregation + 1
        return "done"

    def _standing(self, claim: Claim, aggregation: int) -> str:
        """Whether the round was kept after all: the answer to a commit can be lost on the way."""
        return self._patiently(
            lambda: self._parts.begin_round(claim.part_id, aggregation, self._worker, most_attempts=0)
        )

    def _open(self, claim: Claim, aggregation: int) -> None:
        if claim.next_round != aggregation:
            raise RuntimeError(f"the part stands at {claim.next_round}, not at {aggregation}")
        opened = self._trainer.open(claim.work, claim.checkpoint)
        if opened["next"] != aggregation:
            raise TrainingError("checkpoint", f"the checkpoint stands at {opened['next']}, not at {aggregation}")

    def _end(self, claim: Claim, state: str, failure: dict[str, Any] | None = None) -> str:
        where = {name: claim.work[name] for name in ("scheme", "seed", "draw")}
        self._claim = None
        told = None if failure is None else failure | where
        if told is not None:
            _log.warning("part failed", extra={"fields": {"part": claim.part_id, **told}})
        self._patiently(lambda: self._parts.end(claim, self._worker, state, told))
        return "over"

    def _superseded(self) -> str:
        _log.error("another worker has taken over; leaving", extra={"fields": {"worker": self._worker}})
        self._trainer.stop()
        os._exit(EXIT_SUPERSEDED)

    def _patiently(self, work: Callable[[], T]) -> T:
        """Try until the database answers: while it is away nothing can be decided, and nothing is lost."""
        wait = 0.1
        while True:
            try:
                return work()
            except StoreError as error:
                _log.warning("the store does not answer: %s", error)
                time.sleep(wait)
                wait = min(2 * wait, _LONGEST_WAIT)
