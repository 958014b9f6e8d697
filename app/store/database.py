"""One face for two databases: a connection per thread, transactions, placeholders written as `?`."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

__all__ = ["Database", "PostgresDatabase", "Rows", "SqliteDatabase", "StoreError", "Transaction", "open_database"]

Rows = list[tuple[Any, ...]]
_WAIT_SECONDS = 10.0


class StoreError(Exception):
    """The database cannot be reached or does not answer."""


class GoneError(Exception):
    """A row that this one refers to is no longer there."""


class Transaction(Protocol):
    """What can be done between begin and commit."""

    def rows(self, sql: str, *parameters: object) -> Rows:
        """All rows of a query."""

    def change(self, sql: str, *parameters: object) -> int:
        """How many rows a statement changed."""


class Database(Protocol):
    """A database with a connection for each thread; `now` is an SQL expression for its clock, in seconds since 1970."""

    now: str

    def transaction(self) -> Any:
        """A context manager around a `Transaction`: commits at its end, rolls back on any exception."""

    def lock_migrations(self, transaction: Transaction) -> None:
        """Let only one process migrate at a time, until the transaction ends."""

    def close(self) -> None:
        """Close the connections of all threads."""


def open_database(url: str) -> Database:
    """The database an URL names: `sqlite:///relative`, `sqlite:////absolute` or `postgresql://…`."""
    if url.startswith("sqlite:///"):
        return SqliteDatabase(Path(url.removeprefix("sqlite:///")))
    if url.startswith(("postgresql://", "postgres://")):
        return PostgresDatabase(url)
    raise ValueError("FEDSIFT_DATABASE_URL must begin with sqlite:/// or postgresql://")


class _Sqlite:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def rows(self, sql: str, *parameters: object) -> Rows:
        return self._connection.execute(sql, parameters).fetchall()

    def change(self, sql: str, *parameters: object) -> int:
        return self._connection.execute(sql, parameters).rowcount


class SqliteDatabase:
    """A file in write-ahead mode: readers and one writer at once, from any number of processes."""

    now = "((julianday('now') - 2440587.5) * 86400.0)"

    def __init__(self, path: Path) -> None:
        self._path = path
        self._local = threading.local()
        self._all: list[sqlite3.Connection] = []

    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is not None and self._local.file != self._file():
            # Moved away or replaced: what this connection would write, nobody would ever find.
            self._all.remove(connection)
            connection.close()
            connection = self._local.connection = None
        if connection is None:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            # `check_same_thread` is off for `close` alone; a connection is used by its own thread.
            connection = sqlite3.connect(
                self._path, timeout=_WAIT_SECONDS, isolation_level=None, check_same_thread=False
            )
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            self._local.connection = connection
            self._local.file = self._file()
            self._all.append(connection)
        return connection

    def _file(self) -> tuple[int, int] | None:
        """Which file the path names now."""
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """Commits at its end, rolls back on any exception."""
        try:
            connection = self._connection()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield _Sqlite(connection)
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise
        except sqlite3.IntegrityError as error:
            raise GoneError from error
        except (sqlite3.Error, OSError) as error:
            raise StoreError(str(error)) from error

    def lock_migrations(self, transaction: Transaction) -> None:
        """BEGIN IMMEDIATE has locked already."""

    def close(self) -> None:
        """Close the connections of all threads."""
        while self._all:
            self._all.pop().close()
        self._local = threading.local()


class _Postgres:
    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def rows(self, sql: str, *parameters: object) -> Rows:
        found: Rows = self._connection.execute(sql.replace("?", "%s"), parameters).fetchall()
        return found

    def change(self, sql: str, *parameters: object) -> int:
        return int(self._connection.execute(sql.replace("?", "%s"), parameters or None).rowcount)


class PostgresDatabase:
    """PostgreSQL, for more than one machine."""

    now = "CAST(EXTRACT(EPOCH FROM clock_timestamp()) AS DOUBLE PRECISION)"

    def __init__(self, url: str) -> None:
        # Imported here: the default store has no use for it.
        import psycopg  # noqa: PLC0415

        self._psycopg = psycopg
        self._url = url
        self._local = threading.local()
        self._all: list[Any] = []

    def _connection(self) -> Any:
        connection = getattr(self._local, "connection", None)
        if connection is not None and not connection.closed:
            try:
                connection.execute("SELECT 1")
            except self._psycopg.OperationalError:
                self._drop(connection)  # the server went away meanwhile
            else:
                return connection
        connection = self._psycopg.connect(self._url, autocommit=True, connect_timeout=int(_WAIT_SECONDS))
        self._local.connection = connection
        self._all.append(connection)
        return connection

    def _drop(self, connection: Any) -> None:
        with suppress(self._psycopg.Error):
            connection.close()
        if connection in self._all:
            self._all.remove(connection)

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """Commits at its end, rolls back on any exception."""
        try:
            connection = self._connection()
            with connection.transaction():
                yield _Postgres(connection)
        except self._psycopg.IntegrityError as error:
            raise GoneError from error
        except self._psycopg.Error as error:
            raise StoreError(str(error)) from error

    def lock_migrations(self, transaction: Transaction) -> None:
        """An advisory lock with a number of our own."""
        transaction.rows("SELECT pg_advisory_xact_lock(705180421)")

    def close(self) -> None:
        """Close the connections of all threads."""
        while self._all:
            self._drop(self._all[-1])
