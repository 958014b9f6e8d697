"""SQLite in write-ahead mode: readers and one writer at once, from any number of processes."""

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from app.store.database import WAIT_SECONDS, GoneError, ReadTransaction, Rows, StoreError, Transaction
from app.store.deadline import deadline_in

__all__ = ["SqliteDatabase"]


class _Statements:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def rows(self, sql: str, *parameters: object) -> Rows:
        return self._connection.execute(sql, parameters).fetchall()

    def change(self, sql: str, *parameters: object) -> int:
        return self._connection.execute(sql, parameters).rowcount


class SqliteDatabase:
    """A file; each thread has a connection of its own to it."""

    now = "((julianday('now') - 2440587.5) * 86400.0)"
    has_migrations = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'migrations'"

    def __init__(self, path: Path, timeout: float = WAIT_SECONDS) -> None:
        self._path = path
        self._timeout = timeout
        self._local = threading.local()
        self._all: list[sqlite3.Connection] = []

    @contextmanager
    def read(self) -> Iterator[ReadTransaction]:
        """A snapshot, taken at the first query; writers go on meanwhile."""
        with self._transaction("BEGIN") as statements:
            yield statements

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """Takes the write lock at once: a lock taken later could fail halfway through."""
        with self._transaction("BEGIN IMMEDIATE") as statements:
            yield statements

    def migration(self) -> AbstractContextManager[Transaction]:
        """Only one process writes at a time."""
        return self.write()

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[_Statements]:
        try:
            connection = self._connection()
            # How long to wait for another process that writes.
            left = max(0.0, deadline_in(self._timeout) - time.monotonic())
            connection.execute(f"PRAGMA busy_timeout = {round(1000 * left)}")
            connection.execute(begin)
            try:
                yield _Statements(connection)
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise
        except sqlite3.IntegrityError as error:
            raise GoneError(str(error)) from error
        except (sqlite3.Error, OSError) as error:
            raise StoreError(str(error)) from error

    def close(self) -> None:
        """Close the connections of all threads."""
        while self._all:
            self._all.pop().close()
        self._local = threading.local()

    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is not None and self._local.file != self._file():
            # The file was moved away or replaced: nobody would ever find what this connection writes.
            self._all.remove(connection)
            connection.close()
            connection = self._local.connection = None
        if connection is None:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            # `check_same_thread` is off for `close` alone; a connection is used by its own thread.
            connection = sqlite3.connect(
                self._path, timeout=self._timeout, isolation_level=None, check_same_thread=False
            )
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            self._local.connection = connection
            self._local.file = self._file()
            self._all.append(connection)
        return connection

    def _file(self) -> tuple[int, int] | None:
        """Device and inode of the file that the path names now."""
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino
