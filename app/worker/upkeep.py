"""What a worker does besides training: send heartbeats, strike off dead workers, delete what nobody needs any more.

A worker that was struck off holds nothing: its parts are free from then on. Each run of a task is short and may fail.
"""

import logging
import threading
import time
from collections.abc import Callable

from app.settings import Settings
from app.store import Store, StoreError
from app.telemetry.logs import warn_seldom
from app.validations.parts import PartStore
from app.worker.liveness import Watch, runs, this_host
from app.worker.scratch import Scratch, sweep
from app.worker.store import WorkerRecord, WorkerStore
from fedl_sim.contract import data_sets_in

__all__ = ["Upkeep"]

_log = logging.getLogger("fedsift.worker")

_LOOK_SECONDS = 0.25
_TIDY_SECONDS = 20.0


class Upkeep:
    """One thread sends heartbeats and listens to those of others; one does the rest and delays no heartbeat."""

    def __init__(
        self,
        store: Store,
        *,
        settings: Settings,
        worker_id: str,
        scratch: Scratch,
        on_struck_off: Callable[[], None],
    ) -> None:
        self._workers = WorkerStore(store)
        self._parts = PartStore(store)
        self._settings = settings
        self._id = worker_id
        self._host = this_host()
        self._scratch = scratch
        self._on_struck_off = on_struck_off
        self._interval = settings.worker_timeout / 5
        # A look follows a heartbeat of our own: if the store delays that, it delays those of others too.
        self._watch = Watch(longest_gap=2 * self._interval)
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []
        self._tidied_at = time.monotonic()
        self._data_sets = data_sets_in(settings.data_folder)

    def start(self) -> None:
        """Start both threads."""
        for name, tick, seconds in (
            ("heartbeat", self._beat, self._interval),
            ("upkeep", self._maintain, _LOOK_SECONDS),
        ):
            thread = threading.Thread(target=self._loop, args=(tick, seconds), name=name, daemon=True)
            thread.start()
            self._threads.append(thread)

    def stop(self) -> None:
        """Stop both threads."""
        self._stop.set()
        for thread in self._threads:
            thread.join(5)

    def _loop(self, tick: Callable[[], None], seconds: float) -> None:
        while not self._stop.wait(seconds):
            try:
                tick()
            except StoreError as error:
                warn_seldom(_log, "the store does not answer: %s", error)
            except Exception:
                _log.exception("upkeep failed")

    def _beat(self) -> None:
        self._scratch.pulse()  # first: it tells that this thread goes on, also while the store does not answer
        if not self._workers.beat(self._id):
            if not self._stop.is_set():
                self._on_struck_off()
            return
        others = self._others()
        self._watch.look({worker.id: worker.beats for worker in others}, time.monotonic())
        for worker in others:
            if self._watch.silence(worker.id) > self._settings.worker_timeout:
                self._strike_off(worker, "silent")

    def _maintain(self) -> None:
        for worker in self._others():
            if worker.host == self._host and not runs(worker.pid):
                self._strike_off(worker, "process gone")
        if time.monotonic() - self._tidied_at > _TIDY_SECONDS:
            self._tidied_at = time.monotonic()
            sweep(self._scratch.path.parent)
            self.report_data_sets()
            self._parts.delete_ended(
                older_than=86400 * self._settings.validation_days, kept_of_owner=self._settings.validations_kept
            )

    def report_data_sets(self) -> None:
        """Tell which data sets are there, if others than before."""
        found = data_sets_in(self._settings.data_folder)
        if found != self._data_sets:
            self._workers.report(self._id, found)
            self._data_sets = found

    def _others(self) -> list[WorkerRecord]:
        return [worker for worker in self._workers.all() if worker.id != self._id]

    def _strike_off(self, worker: WorkerRecord, why: str) -> None:
        if self._workers.strike_off(self._id, worker):
            _log.warning("struck off", extra={"fields": {"worker": worker.id, "why": why}})
