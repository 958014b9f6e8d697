"""The table of workers: a row for each process, with the time of its last heartbeat by the database's clock."""

from dataclasses import dataclass

from app.store import Store

__all__ = ["WorkerRecord", "WorkerStore"]


@dataclass(frozen=True)
class WorkerRecord:
    """A worker process: `pid` is valid on `host`, and its last heartbeat was `silent` seconds ago."""

    id: str
    host: str
    pid: int
    silent: float


class WorkerStore:
    """The heartbeat table."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def register(self, worker_id: str, host: str, pid: int) -> None:
        """Add a worker."""
        now = self._store.now
        sql = f"INSERT INTO workers (id, host, pid, started_at, seen_at) VALUES (?, ?, ?, {now}, {now})"  # noqa: S608
        with self._store.write() as t:
            t.change(sql, worker_id, host, pid)

    def beat(self, worker_id: str) -> bool:
        """Send a heartbeat; False if the worker was taken for dead and removed."""
        with self._store.write() as t:
            return bool(t.change(f"UPDATE workers SET seen_at = {self._store.now} WHERE id = ?", worker_id))  # noqa: S608

    def all(self) -> list[WorkerRecord]:
        """Every worker in the table."""
        with self._store.read() as t:
            rows = t.rows(f"SELECT id, host, pid, {self._store.now} - seen_at FROM workers")  # noqa: S608 - an expression
        return [WorkerRecord(*row) for row in rows]

    def live(self, timeout: float) -> int:
        """How many workers have sent a heartbeat within the timeout, in seconds."""
        sql = f"SELECT COUNT(*) FROM workers WHERE seen_at > {self._store.now} - ?"  # noqa: S608 - an expression
        with self._store.read() as t:
            ((count,),) = t.rows(sql, timeout)
        return int(count)

    def strike_off(self, worker_id: str) -> None:
        """Remove a worker that is dead or has left."""
        with self._store.write() as t:
            t.change("DELETE FROM workers WHERE id = ?", worker_id)
