"""The table of workers: a row for each process, with a count of its heartbeats.

The row is the right to work: whoever has none claims nothing and stores nothing (`app.validations.parts`).
"""

import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass

from app.datasets.store import written
from app.store import Store
from app.validations.parts import beat
from app.worker.liveness import Watch

__all__ = ["LiveWorkers", "WorkerRecord", "WorkerStore"]


@dataclass(frozen=True)
class WorkerRecord:
    """A worker process: `pid` is valid on `host`, and it has sent so many heartbeats."""

    id: str
    host: str
    pid: int
    beats: int


class WorkerStore:
    """The table of workers."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def register(self, worker_id: str, host: str, pid: int, data_sets: Iterable[str] = ()) -> None:
        """Add a worker, with its first heartbeat; it may be added already if an answer of the store was lost."""
        columns = "id, host, pid, data_sets, started_at, beats"
        sql = f"INSERT INTO workers ({columns}) VALUES (?, ?, ?, ?, ?, 1) ON CONFLICT (id) DO NOTHING"  # noqa: S608
        with self._store.write() as t:
            t.change(sql, worker_id, host, pid, written(data_sets), t.now)

    def report(self, worker_id: str, data_sets: Iterable[str]) -> None:
        """Tell which data sets a worker has now."""
        with self._store.write() as t:
            t.change("UPDATE workers SET data_sets = ? WHERE id = ?", written(data_sets), worker_id)

    def beat(self, worker_id: str) -> bool:
        """Send a heartbeat; False if the worker was struck off."""
        with self._store.write() as t:
            return beat(t, worker_id)

    def all(self) -> list[WorkerRecord]:
        """Every worker in the table."""
        with self._store.read() as t:
            return [WorkerRecord(*row) for row in t.rows("SELECT id, host, pid, beats FROM workers")]

    def strike_off(self, by: str, dead: WorkerRecord) -> bool:
        """Remove a worker that is taken for dead; not if it has sent a heartbeat since, or if `by` has no row itself.

        Both rows are locked in the order of their ids: of two workers that take each other for dead, one stays.
        """
        with self._store.write() as t:
            for worker_id in sorted((by, dead.id)):
                there = t.change("UPDATE workers SET beats = beats WHERE id = ?", worker_id)
                if not there:
                    return False
            return bool(t.change("DELETE FROM workers WHERE id = ? AND beats = ?", dead.id, dead.beats))

    def leave(self, worker_id: str) -> None:
        """Remove a worker that goes by itself."""
        with self._store.write() as t:
            t.change("DELETE FROM workers WHERE id = ?", worker_id)


class LiveWorkers:
    """How many workers are alive, for those who only report it.

    Calls are the only looks, so a worker that is in the table counts until the observer has seen it silent.
    """

    def __init__(self, workers: WorkerStore, timeout: float) -> None:
        self._workers = workers
        self._timeout = timeout
        self._watch = Watch()
        self._lock = threading.Lock()

    def __call__(self) -> int:
        """Look, and count.

        Raises:
            StoreError: the store does not answer.
        """
        beats = {worker.id: worker.beats for worker in self._workers.all()}
        with self._lock:
            self._watch.look(beats, time.monotonic())
            return sum(self._watch.silence(worker_id) <= self._timeout for worker_id in beats)
