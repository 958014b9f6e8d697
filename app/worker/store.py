"""Who works: one row for each worker process, renewed by its heartbeat, by the database's clock alone."""

from dataclasses import dataclass

from app.store import Store

__all__ = ["WorkerRecord", "WorkerStore"]


@dataclass(frozen=True)
class WorkerRecord:
    """A worker process; `host` names what its process number is valid in, `silent` is how long it has said nothing."""

    id: str
    host: str
    pid: int
    silent: float


class WorkerStore:
    """The heartbeat table."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def register(self, worker_id: str, host: str, pid: int) -> None:
        """A worker begins."""
        now = self._store.now
        sql = f"INSERT INTO workers (id, host, pid, started_at, seen_at) VALUES (?, ?, ?, {now}, {now})"  # noqa: S608
        with self._store.write() as t:
            t.change(sql, worker_id, host, pid)

    def beat(self, worker_id: str) -> bool:
        """A worker lives; False if it has been taken for dead."""
        with self._store.write() as t:
            return bool(t.change(f"UPDATE workers SET seen_at = {self._store.now} WHERE id = ?", worker_id))  # noqa: S608

    def all(self) -> list[WorkerRecord]:
        """Every worker that has not been struck off."""
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
        """A worker is dead, or has left."""
        with self._store.write() as t:
            t.change("DELETE FROM workers WHERE id = ?", worker_id)
