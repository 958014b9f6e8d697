"""SQLite in write-ahead mode: readers and one writer at once, from any number of processes."""

import errno
import logging
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cached_property
from pathlib import Path

from app.store.database import (
    BATCH_ROWS,
    WAIT_SECONDS,
    DiskFullError,
    GoneError,
    ReadTransaction,
    Rows,
    StoreError,
    Transaction,
)
from app.store.deadline import deadline_in
from app.store.reserve import Reserve, free_bytes

__all__ = ["SqliteDatabase", "reading_file"]

_log = logging.getLogger("fedsift.store")

# The file may keep so many free pages, and the log so many bytes, for what is written next.
_SPARE_PAGES = 1000
_LONG_LOG = 4 * 2**20
_GIVE_BACK_SECONDS = 2.0
# The second one comes of a connection that cannot make its index of the log.
_FULL = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE}


class _Statements:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    @cached_property
    def now(self) -> float:
        # The clock that SQLite reads too, but cuts to milliseconds: rows of one millisecond would have no order.
        return time.clock_gettime(time.CLOCK_REALTIME)

    def rows(self, sql: str, *parameters: object) -> Rows:
        return self._connection.execute(sql, parameters).fetchall()

    def batches(self, sql: str) -> Iterator[Rows]:
        found = self._connection.execute(sql)
        while rows := found.fetchmany(BATCH_ROWS):
            yield rows

    def change(self, sql: str, *parameters: object) -> int:
        return self._connection.execute(sql, parameters).rowcount


class SqliteDatabase:
    """A file; each thread has a connection of its own to it. Where none is, one is made if `makes`."""

    has_migrations = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'migrations'"

    def __init__(self, path: Path, timeout: float = WAIT_SECONDS, *, makes: bool = True) -> None:
        self._path = path
        self._makes = makes
        self._timeout = timeout
        self._reserve = Reserve(path)
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
            kind = DiskFullError if _tells_of_a_full_disk(error) else StoreError
            raise kind(str(error)) from error

    def free_bytes(self) -> int | None:
        """What is free on the disk, and the pages in the file that hold nothing."""
        with self.read() as t:
            ((pages,),), ((size,),) = t.rows("PRAGMA freelist_count"), t.rows("PRAGMA page_size")
            return free_bytes(self._path.parent) + int(pages) * int(size)

    def make_space(self) -> bool:
        """Delete the reserve's file."""
        return self._reserve.release()

    def give_back(self) -> None:
        """Cut free pages off the file and the log to nothing, a little at a time: others write meanwhile."""
        try:
            connection = self._connection()
            connection.execute(f"PRAGMA busy_timeout = {round(1000 * _GIVE_BACK_SECONDS)}")
            until = time.monotonic() + _GIVE_BACK_SECONDS
            while time.monotonic() < until and connection.execute("PRAGMA freelist_count").fetchone()[0] > _SPARE_PAGES:
                # As a script: a statement would stop after the first page.
                connection.executescript(f"PRAGMA incremental_vacuum({_SPARE_PAGES})")
            log = self._path.with_name(f"{self._path.name}-wal")
            if log.stat().st_size > _LONG_LOG:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        except (sqlite3.Error, OSError):
            pass  # the disk is full or somebody reads: the next call does it
        self._reserve.restore()

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
            try:
                connection = self._opened()
            except (sqlite3.Error, OSError) as error:
                # To open the file takes a little space too, and without it nothing could be deleted.
                if not _tells_of_a_full_disk(error) or not self._reserve.release():
                    raise
                connection = self._opened()
            self._local.connection = connection
            self._local.file = self._file()
            self._all.append(connection)
        return connection

    def _opened(self) -> sqlite3.Connection:
        is_new = not self._path.exists()
        if is_new and not self._makes:
            raise StoreError("there is no database; `fedsift serve` makes one")
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # `check_same_thread` is off for `close` alone; a connection is used by its own thread.
        connection = sqlite3.connect(self._path, timeout=self._timeout, isolation_level=None, check_same_thread=False)
        if not connection.execute("PRAGMA page_count").fetchone()[0]:
            # Only a new file takes it. An older one needs a VACUUM, and would wait here for its write lock.
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        # Overwriting all that is deleted would take as much space as was taken.
        connection.execute("PRAGMA secure_delete = FAST")
        if is_new:  # a warning: the path may be mistyped, and a command, which sets up no logs, prints those alone
            _log.warning("made a new database: %s", self._path)
        return connection

    def _file(self) -> tuple[int, int] | None:
        """Device and inode of the file that the path names now."""
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino


@contextmanager
def reading_file(path: Path) -> Iterator[ReadTransaction]:
    """Queries on a file that nobody writes to, also where nothing can be written beside it.

    Raises:
        StoreError: it is not there, or is no database.
    """
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
        try:
            yield _Statements(connection)
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise StoreError(f"{path}: {error}") from error


def _tells_of_a_full_disk(error: sqlite3.Error | OSError) -> bool:
    if isinstance(error, OSError):
        return error.errno in {errno.ENOSPC, errno.EDQUOT}
    return getattr(error, "sqlite_errorcode", None) in _FULL
