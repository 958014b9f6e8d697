"""The store's handle: transactions to read and to write in, on a schema that is up to date.

The tables belong to the slices: `app.runs.store`, `app.keys.store`, `app.plans.store`, `app.validations.store` and
`app.worker.store` hold their statements and records.
"""

import threading
from contextlib import AbstractContextManager
from importlib.resources import files
from pathlib import Path

from app.store.database import Database, ReadTransaction, Transaction
from app.store.postgres import PostgresDatabase
from app.store.sqlite import SqliteDatabase
from solver.errors import InvalidInputError

__all__ = ["Store"]


class Store:
    """The database of a process; any thread may use it. It migrates at its first use."""

    def __init__(self, url: str) -> None:
        self._database = _database(url)
        self._migrated = False
        self._lock = threading.Lock()

    def read(self) -> AbstractContextManager[ReadTransaction]:
        """A transaction that only reads: all its queries see the same state, and it blocks no writer."""
        self.migrate()
        return self._database.read()

    def write(self) -> AbstractContextManager[Transaction]:
        """A transaction that changes rows: all of them, or none if an exception leaves it."""
        self.migrate()
        return self._database.write()

    @property
    def now(self) -> str:
        """The database's clock as an SQL expression: one clock for all machines."""
        return self._database.now

    def migrate(self) -> None:
        """Bring the schema up to date; safe when several processes start at once."""
        with self._lock:
            if self._migrated:
                return
            scripts = sorted(files("app.store").joinpath("migrations").iterdir(), key=lambda script: script.name)
            with self._database.write() as t:
                self._database.lock_migrations(t)
                t.change("CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY)")
                done = {name for (name,) in t.rows("SELECT name FROM migrations")}
                for script in scripts:
                    if script.name.endswith(".sql") and script.name not in done:
                        for statement in _statements(script.read_text(encoding="utf-8")):
                            t.change(statement)
                        t.change("INSERT INTO migrations (name) VALUES (?)", script.name)
            self._migrated = True

    def close(self) -> None:
        """Close all connections."""
        self._database.close()


def _database(url: str) -> Database:
    """The database that a URL names: `sqlite:///relative`, `sqlite:////absolute` or `postgresql://…`.

    Raises:
        InvalidInputError: the URL names no such database.
        MissingExtraError: PostgreSQL without psycopg.
    """
    if url.startswith("sqlite:///"):
        return SqliteDatabase(Path(url.removeprefix("sqlite:///")))
    if url.startswith(("postgresql://", "postgres://")):
        return PostgresDatabase(url)
    raise InvalidInputError("FEDSIFT_DATABASE_URL", "must begin with sqlite:/// or postgresql://")


def _statements(script: str) -> list[str]:
    lines = [line for line in script.splitlines() if not line.lstrip().startswith("--")]
    return [statement.strip() for statement in "\n".join(lines).split(";") if statement.strip()]
