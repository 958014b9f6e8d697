"""Trains parts, one after another and round by round; a round is stored before the next begins.

The store counts an attempt before the worker reads anything of the part (`app.validations.parts`). So whatever goes
wrong here, a crash included, ends in a trained round or, after enough attempts, in a failure that tells why.

- A part is claimed when the training process has loaded. So an attempt has nothing in it but the part's own work.
- A training process that dies is replaced, and the round begins again from the last stored state.
- A checkpoint that cannot be read is not a failure: the part is trained again from its first round, which gives the
  same state, and rounds that are stored already are not stored again.
- An unexpected exception ends the process, since it is the worker's failure and not the part's.
- A worker that was struck off, or whose part is another's by now, exits at once and stores nothing.
"""

import logging
import os
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from app.store import StoreError
from app.telemetry.context import continue_request
from app.telemetry.logs import warn_seldom
from app.telemetry.traces import NoTracing, Tracing
from app.validations.parts import AttemptLimits, Claim, FinishedRound, LostError, Material, PartStore
from app.worker.redaction import without_paths
from app.worker.trainer_process import Trainer, TrainerDiedError, TrainingError
from fedl_sim.contract import ContractError, Failure, Part

__all__ = ["EXIT_CRASHED", "EXIT_SUPERSEDED", "Executor"]

T = TypeVar("T")

_log = logging.getLogger("fedsift.worker")

EXIT_CRASHED = 70
EXIT_SUPERSEDED = 75
_POLL_SECONDS = 0.1
_LONGEST_WAIT = 5.0


class _NotWantedError(Exception):
    """The part is to be dropped: it was cancelled, or this worker is told to leave."""


class Executor:
    """Takes parts for one worker and has its trainer train them, in a thread of its own."""

    def __init__(
        self,
        parts: PartStore,
        worker_id: str,
        trainer: Trainer,
        limits: AttemptLimits,
        tracing: Tracing | None = None,
    ) -> None:
        self._tracing = NoTracing() if tracing is None else tracing
        self._parts = parts
        self._worker = worker_id
        self._trainer = trainer
        self._limits = limits
        self._stopping = threading.Event()
        self._has_part = False
        self._thread = threading.Thread(target=self._work, name="executor", daemon=True)

    def start(self) -> None:
        """Start taking parts."""
        self._thread.start()

    def stop(self, seconds: float) -> bool:
        """Begin no more rounds and give the part back; returns whether the round under way ended in time."""
        self._stopping.set()
        if not self._has_part:
            self._trainer.stop()  # it may still load, and nobody waits for it
        self._thread.join(seconds)
        ended = not self._thread.is_alive()
        if not ended:
            self._trainer.stop()
            self._thread.join()
        return ended

    def leave_at_once(self) -> None:
        """End this process without a further word to the store: another worker has its part."""
        _log.error("taken for dead; leaving", extra={"fields": {"worker": self._worker}})
        self._trainer.stop()
        os._exit(EXIT_SUPERSEDED)

    def _work(self) -> None:
        try:
            while self._loaded():
                claim = self._patiently(lambda: self._parts.claim(self._worker, self._limits))
                if claim is None:
                    self._stopping.wait(_POLL_SECONDS)
                    continue
                self._has_part = True
                self._traced(claim)
                self._has_part = False
        except LostError:
            self.leave_at_once()
        except Exception:
            _log.exception("worker failed", extra={"fields": {"worker": self._worker}})
            self._trainer.stop()
            os._exit(EXIT_CRASHED)

    def _loaded(self) -> bool:
        """Have a training process that can begin a part; False if told to leave."""
        wait = 0.1
        while not self._stopping.is_set():
            try:
                self._trainer.load()
            except TrainerDiedError as error:
                if not self._stopping.wait(wait):
                    _log.error("the training process does not start: %s", error)
                wait = min(2 * wait, _LONGEST_WAIT)
            else:
                return True
        return False

    def _traced(self, claim: Claim) -> None:
        """Train a part within the trace of the request that asked for it, and with its id in the logs."""
        continue_request(claim.request_id)
        fields = {"validation": claim.validation_id, "part": claim.part_id, "worker": self._worker}
        _log.info("part begun", extra={"fields": {**fields, "aggregation": claim.next_round}})
        named = {f"fedsift.{name}": value for name, value in fields.items()}
        with self._tracing.span("part", {**named, "fedsift.scheme": claim.scheme}, claim.traceparent):
            self._handle(claim)
        _log.info("part left", extra={"fields": fields})
        continue_request("")

    def _handle(self, claim: Claim) -> None:
        """Train a part to its end, unless it is dropped before."""
        try:
            self._train(claim)
        except _NotWantedError:
            self._patiently(lambda: self._parts.release(claim))
        except TrainingError as error:
            failure = Failure(error.failure.type, without_paths(error.failure.detail))
            fields = {"part": claim.part_id, "type": failure.type, "detail": error.failure.detail}
            _log.warning("part failed", extra={"fields": fields})
            self._patiently(lambda: self._parts.fail(claim, failure))
        except (LostError, StoreError):
            raise
        except Exception as error:
            why = f"the worker failed: {type(error).__name__}"
            self._patiently(lambda: self._parts.release(claim, why))
            raise

    def _train(self, claim: Claim) -> None:
        material = self._patiently(lambda: self._parts.material(claim))
        part, checkpoint = _part(material), material.checkpoint
        aggregation, is_open, more = claim.next_round, False, True
        while more:
            self._check_stop()
            begin = time.perf_counter()
            try:
                with self._tracing.span("round", {"fedsift.aggregation": aggregation}):
                    if not is_open:
                        self._open(claim, part, checkpoint, aggregation)
                        is_open = True
                    trained, checkpoint = self._trainer.advance(aggregation)
            except TrainerDiedError as error:
                self._check_stop()
                is_open, more = False, self._try_again(claim, error)
                continue
            seconds = time.perf_counter() - begin
            done = FinishedRound(aggregation, seconds, trained.record, checkpoint, trained.facts)
            more = self._finish(claim, done)
            aggregation += 1

    def _open(self, claim: Claim, part: Part, checkpoint: bytes | None, aggregation: int) -> None:
        """Bring the training process to the state before a round."""
        if checkpoint is not None:
            try:
                opened = self._trainer.open(part, checkpoint)
            except TrainingError as error:
                if error.failure.type != "checkpoint":
                    raise
                problem = error.failure.detail
            else:
                if opened.next == aggregation:
                    return
                problem = f"it stands at {opened.next}, not at {aggregation}"
            _log.warning("training a part anew, its checkpoint is damaged: %s", problem)
        self._trainer.open(part, None)
        for earlier in range(aggregation):
            self._check_stop()
            if not self._patiently(lambda: self._parts.is_wanted(claim)):
                raise _NotWantedError
            self._trainer.advance(earlier)

    def _try_again(self, claim: Claim, error: TrainerDiedError) -> bool:
        """A machine that runs out of memory kills processes at random: another attempt may succeed."""
        _log.warning("trainer died: %s", error, extra={"fields": {"part": claim.part_id}})
        why = without_paths(str(error))
        return self._patiently(lambda: self._parts.try_again(claim, why, self._limits))

    def _finish(self, claim: Claim, done: FinishedRound) -> bool:
        return self._patiently(lambda: self._parts.finish_round(claim, done))

    def _check_stop(self) -> None:
        if self._stopping.is_set():
            raise _NotWantedError

    def _patiently(self, work: Callable[[], T]) -> T:
        """Repeat a store operation until the database answers."""
        wait = 0.1
        while True:
            try:
                return work()
            except StoreError as error:
                warn_seldom(_log, "the store does not answer: %s", error)
                time.sleep(wait)
                wait = min(2 * wait, _LONGEST_WAIT)


def _part(material: Material) -> Part:
    try:
        return material.part
    except ContractError as error:
        # It would be damaged for every worker: the validation ends here, and its caller is told.
        raise TrainingError(Failure("damaged", f"the stored work is damaged: {error}")) from error
