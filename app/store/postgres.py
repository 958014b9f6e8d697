"""PostgreSQL, for services and workers on more than one machine."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from app.store.database import WAIT_SECONDS, GoneError, ReadTransaction, Rows, StoreError, Transaction
from solver.errors import MissingExtraError

__all__ = ["PostgresDatabase"]


class _Statements:
    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def rows(self, sql: str, *parameters: object) -> Rows:
        found: Rows = self._connection.execute(sql.replace("?", "%s"), parameters).fetchall()
        return found

    def change(self, sql: str, *parameters: object) -> int:
        return int(self._connection.execute(sql.replace("?", "%s"), parameters or None).rowcount)


class PostgresDatabase:
    """A server; each thread has a connection of its own to it."""

    now = "CAST(EXTRACT(EPOCH FROM clock_timestamp()) AS DOUBLE PRECISION)"

    def __init__(self, url: str) -> None:
        try:
            # Imported here: the default store does not need it.
            import psycopg  # noqa: PLC0415
        except ImportError as error:
            raise MissingExtraError("a postgresql:// database needs psycopg: install fedsift[postgres]") from error
        self._psycopg = psycopg
        self._url = url
        self._local = threading.local()
        self._all: list[Any] = []

    @contextmanager
    def read(self) -> Iterator[ReadTransaction]:
        """One snapshot for all queries: by default each query of PostgreSQL would see a later state."""
        with self._transaction(self._psycopg.IsolationLevel.REPEATABLE_READ, read_only=True) as statements:
            yield statements

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """The server's default isolation."""
        with self._transaction(None, read_only=None) as statements:
            yield statements

    @contextmanager
    def _transaction(self, isolation: Any, *, read_only: bool | None) -> Iterator[_Statements]:
        try:
            connection = self._connection()
            connection.isolation_level = isolation
            connection.read_only = read_only
            with connection.transaction():
                yield _Statements(connection)
        except self._psycopg.IntegrityError as error:
            raise GoneError(str(error)) from error
        except self._psycopg.Error as error:
            raise StoreError(str(error)) from error

    def lock_migrations(self, transaction: Transaction) -> None:
        """An advisory lock with a number of our own."""
        transaction.rows("SELECT pg_advisory_xact_lock(705180421)")

    def close(self) -> None:
        """Close the connections of all threads."""
        while self._all:
            self._drop(self._all[-1])

    def _connection(self) -> Any:
        connection = getattr(self._local, "connection", None)
        if connection is not None and not connection.closed:
            try:
                connection.execute("SELECT 1")
            except self._psycopg.OperationalError:
                self._drop(connection)  # the server went away meanwhile
            else:
                return connection
        connection = self._psycopg.connect(self._url, autocommit=True, connect_timeout=int(WAIT_SECONDS))
        self._local.connection = connection
        self._all.append(connection)
        return connection

    def _drop(self, connection: Any) -> None:
        with suppress(self._psycopg.Error):
            connection.close()
        if connection in self._all:
            self._all.remove(connection)
