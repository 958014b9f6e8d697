"""What a worker does besides training: send heartbeats, queue waiting parts, take over from dead workers, delete rows.

Each run of a task is short and may fail. While the database does not answer no heartbeat can arrive, so a worker that
was silent during that time is not taken for dead.
"""

import logging
import os
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path

from app.settings import Settings
from app.store import Store, StoreError
from app.validations.parts import PartStore
from app.worker.executor import Executor
from app.worker.queue import JobQueue
from app.worker.store import WorkerRecord, WorkerStore

__all__ = ["Upkeep", "this_host"]

_log = logging.getLogger("fedsift.worker")

_TICK_SECONDS = 0.25
_TIDY_SECONDS = 20.0
_FORGET_AFTER = 60.0
_BATCH = 50


def this_host() -> str:
    """A name of the place where a process number is valid: machine, boot and process namespace."""
    parts = [socket.gethostname()]
    for path in ("/proc/sys/kernel/random/boot_id", "/proc/self/ns/pid"):
        try:
            parts.append(str(Path(path).readlink()) if path.endswith("pid") else Path(path).read_text().strip())
        except OSError:
            parts.append("-")
    return "/".join(parts)


class Upkeep:
    """One thread sends heartbeats and one does the rest, so that a slow queue does not delay a heartbeat."""

    def __init__(
        self,
        store: Store,
        jobs: JobQueue,
        executor: Executor,
        *,
        settings: Settings,
        worker_id: str,
        on_struck_off: Callable[[], None],
    ) -> None:
        self._workers = WorkerStore(store)
        self._parts = PartStore(store)
        self._jobs = jobs
        self._executor = executor
        self._idle_at: int | None = None
        self._settings = settings
        self._id = worker_id
        self._host = this_host()
        self._on_struck_off = on_struck_off
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []
        self._beat_at = time.monotonic()
        self._steady_since = time.monotonic()
        self._tidied_at = time.monotonic()

    def start(self) -> None:
        """Start both threads."""
        for name, tick, seconds in (
            ("heartbeat", self._beat, self._settings.worker_timeout / 5),
            ("upkeep", self._maintain, _TICK_SECONDS),
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
                self._steady_since = time.monotonic()
                _log.warning("the store does not answer: %s", error)
            except Exception:
                _log.exception("upkeep failed")

    def _beat(self) -> None:
        lives = self._workers.beat(self._id)
        now = time.monotonic()
        if now - self._beat_at > self._settings.worker_timeout / 2:
            self._steady_since = now  # this process itself was frozen
        self._beat_at = now
        if not lives and not self._stop.is_set():
            self._on_struck_off()

    def _maintain(self) -> None:
        self._queue_waiting()
        self._take_over()
        if time.monotonic() - self._tidied_at > _TIDY_SECONDS:
            self._tidied_at = time.monotonic()
            self._tidy_up()

    def _queue_waiting(self) -> None:
        tickets = self._parts.lease(_BATCH)
        for ticket in tickets:
            self._jobs.put(ticket)
        if tickets:
            self._parts.queued(tickets)

    def _take_over(self) -> None:
        dead = [worker.id for worker in self._workers.all() if worker.id != self._id and self._is_dead(worker)]
        if dead:
            _log.warning("taking over", extra={"fields": {"from": dead, "jobs": self._jobs.take_over_from(dead)}})
        for worker_id in dead:  # last, so that another worker repeats the take-over if this one dies now
            self._workers.strike_off(worker_id)

    def _is_dead(self, worker: WorkerRecord) -> bool:
        if worker.host == self._host and not _runs(worker.pid):
            return True
        timeout = self._settings.worker_timeout
        return worker.silent > timeout and time.monotonic() - self._steady_since > timeout

    def _tidy_up(self) -> None:
        self._resume_dropped()
        known = self._parts.in_queue(10 * _BATCH)
        lost = self._jobs.lost(known)
        if lost:
            _log.warning("queueing anew", extra={"fields": {"parts": [ticket.part_id for ticket in lost]}})
            self._parts.queue_anew(lost)
        ended = self._parts.to_forget(_FORGET_AFTER, 10 * _BATCH)
        self._jobs.forget(ended)
        self._parts.forgotten(ended)
        self._parts.delete_ended(
            older_than=86400 * self._settings.validation_days, kept_of_owner=self._settings.validations_kept
        )

    def _resume_dropped(self) -> None:
        """Take this worker's own part again if the queue assigns it one that it does not train.

        That happens when the queue could not store a step, for instance on a full disk. The sign is that no round was
        begun since the last look.
        """
        before, self._idle_at = self._idle_at, self._executor.idle_at()
        if before is not None and before == self._idle_at:
            self._executor.let_go()
            if self._jobs.take_over_from([self._id]):
                _log.warning("picked up a part that was dropped", extra={"fields": {"worker": self._id}})


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
