"""Runs, periods and keys. Rows are written once: a period by whoever is first, in one transaction."""

import threading
import zlib
from importlib.resources import files

from app.store.database import Database, GoneError, Transaction, open_database
from app.store.records import KeyRecord, PeriodRecord, RunRecord

__all__ = ["Store"]

_RUN = "id, owner, created_at, n_devices, sample_size, horizon, aggregation_period"
_PERIOD = "run_id, aggregation, request_digest, request, state, answer"


class Store:
    """The store of a process; any thread may use it. It migrates at its first use."""

    def __init__(self, url: str) -> None:
        self._database: Database = open_database(url)
        self._migrated = False
        self._lock = threading.Lock()

    def migrate(self) -> None:
        """Bring the schema up to date; safe when several processes start at once."""
        scripts = sorted(files("app.store").joinpath("migrations").iterdir(), key=lambda script: script.name)
        with self._lock:
            if self._migrated:
                return
            with self._database.transaction() as t:
                self._database.lock_migrations(t)
                t.change("CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY)")
                done = {name for (name,) in t.rows("SELECT name FROM migrations")}
                for script in scripts:
                    if script.name.endswith(".sql") and script.name not in done:
                        for statement in _statements(script.read_text(encoding="utf-8")):
                            t.change(statement)
                        t.change("INSERT INTO migrations (name) VALUES (?)", script.name)
            self._migrated = True

    def ping(self) -> None:
        """Fail if the database does not answer."""
        with self._transaction() as t:
            t.rows("SELECT 1")

    def close(self) -> None:
        """Close all connections."""
        self._database.close()

    @property
    def now(self) -> str:
        """The database's clock as an SQL expression: one clock for all machines."""
        return self._database.now

    def transaction(self) -> "_Open":
        """A transaction for the stores beside this one, on a schema that is up to date."""
        return self._transaction()

    def _transaction(self) -> "_Open":
        self.migrate()
        return _Open(self._database)

    def add_run(self, run: RunRecord, request: bytes, first: PeriodRecord) -> None:
        """Keep a new run with its first period."""
        packed = zlib.compress(request, 1)
        with self._transaction() as t:
            t.change(
                f"INSERT INTO runs ({_RUN}, request) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 - constants
                run.id,
                run.owner,
                run.created_at,
                run.n_devices,
                run.sample_size,
                run.horizon,
                run.aggregation_period,
                packed,
            )
            _insert(t, first)

    def find_run(self, owner: str, run_id: str) -> RunRecord | None:
        """The run, if there is one and it is this owner's."""
        with self._transaction() as t:
            rows = t.rows(f"SELECT {_RUN} FROM runs WHERE id = ? AND owner = ?", run_id, owner)  # noqa: S608
        return RunRecord(*rows[0]) if rows else None

    def run_request(self, run_id: str) -> bytes:
        """The body the run was asked for with."""
        with self._transaction() as t:
            rows = t.rows("SELECT request FROM runs WHERE id = ?", run_id)
        return zlib.decompress(rows[0][0]) if rows else b""

    def list_runs(self, owner: str, limit: int, after: str | None) -> list[RunRecord]:
        """The owner's runs, oldest first, from the one after `after` on."""
        sql = f"SELECT {_RUN} FROM runs WHERE owner = ?"  # noqa: S608 - constants
        parameters: list[object] = [owner]
        if after is not None:
            sql += " AND (created_at, id) > (SELECT created_at, id FROM runs WHERE id = ? AND owner = ?)"
            parameters += [after, owner]
        with self._transaction() as t:
            return [RunRecord(*row) for row in t.rows(f"{sql} ORDER BY created_at, id LIMIT ?", *parameters, limit)]

    def delete_run(self, owner: str, run_id: str) -> bool:
        """Forget a run and its periods; whether there was one."""
        with self._transaction() as t:
            return bool(t.change("DELETE FROM runs WHERE id = ? AND owner = ?", run_id, owner))

    def last_aggregations(self, run_ids: list[str]) -> dict[str, int]:
        """The last answered aggregation of each run."""
        if not run_ids:
            return {}
        marks = ", ".join("?" * len(run_ids))
        sql = f"SELECT run_id, MAX(aggregation) FROM periods WHERE run_id IN ({marks}) GROUP BY run_id"  # noqa: S608
        with self._transaction() as t:
            return {run: int(last) for run, last in t.rows(sql, *run_ids)}

    def find_period(self, run_id: str, aggregation: int) -> PeriodRecord | None:
        """An answered period."""
        sql = f"SELECT {_PERIOD} FROM periods WHERE run_id = ? AND aggregation = ?"  # noqa: S608 - constants
        with self._transaction() as t:
            rows = t.rows(sql, run_id, aggregation)
        if not rows:
            return None
        run, k, digest, request, state, answer = rows[0]
        return PeriodRecord(run, k, digest, bytes(request), state, zlib.decompress(answer))

    def period_requests(self, run_id: str) -> list[bytes]:
        """The bodies of the aggregations so far, in order."""
        sql = "SELECT request FROM periods WHERE run_id = ? AND aggregation > 0 ORDER BY aggregation"
        with self._transaction() as t:
            return [bytes(request) for (request,) in t.rows(sql, run_id)]

    def add_period(self, period: PeriodRecord) -> bool:
        """Keep an answered period; False if another process was first, or the run is gone."""
        try:
            with self._transaction() as t:
                return bool(_insert(t, period))
        except GoneError:
            return False

    def add_key(self, key: KeyRecord, digest: str) -> None:
        """Keep a key's digest."""
        with self._transaction() as t:
            sql = "INSERT INTO api_keys (id, digest, name, created_at) VALUES (?, ?, ?, ?)"
            t.change(sql, key.id, digest, key.name, key.created_at)

    def find_key(self, digest: str) -> KeyRecord | None:
        """The key with this digest."""
        with self._transaction() as t:
            rows = t.rows("SELECT id, name, created_at FROM api_keys WHERE digest = ?", digest)
        return KeyRecord(*rows[0]) if rows else None

    def list_keys(self) -> list[KeyRecord]:
        """All keys, oldest first."""
        with self._transaction() as t:
            return [KeyRecord(*row) for row in t.rows("SELECT id, name, created_at FROM api_keys ORDER BY created_at")]

    def delete_key(self, key_id: str) -> bool:
        """Revoke a key; whether there was one. Its runs stay."""
        with self._transaction() as t:
            return bool(t.change("DELETE FROM api_keys WHERE id = ?", key_id))


class _Open:
    """A transaction of the store."""

    def __init__(self, database: Database) -> None:
        self._context = database.transaction()

    def __enter__(self) -> Transaction:
        entered: Transaction = self._context.__enter__()
        return entered

    def __exit__(self, *exception: object) -> None:
        self._context.__exit__(*exception)


def _insert(t: Transaction, period: PeriodRecord) -> int:
    return t.change(
        f"INSERT INTO periods ({_PERIOD}) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",  # noqa: S608 - constants
        period.run_id,
        period.aggregation,
        period.request_digest,
        period.request,
        period.state,
        zlib.compress(period.answer, 1),
    )


def _statements(script: str) -> list[str]:
    lines = [line for line in script.splitlines() if not line.lstrip().startswith("--")]
    return [statement.strip() for statement in "\n".join(lines).split(";") if statement.strip()]
