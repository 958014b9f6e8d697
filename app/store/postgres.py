"""PostgreSQL, for services and workers on more than one machine.

Nothing waits without bound. The server ends statements, waits for locks and idle transactions that take too long. This
side gives up at a deadline of its own, whether the server hangs, the network swallows packets or the machine is gone.
"""

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import Any, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.conninfo import conninfo_to_dict

from app.store.database import (
    BATCH_ROWS,
    WAIT_SECONDS,
    DiskFullError,
    GoneError,
    NoAnswerError,
    ReadTransaction,
    Rows,
    StoreError,
    Transaction,
)
from app.store.deadline import deadline_in
from solver.errors import InvalidInputError

__all__ = ["PostgresDatabase"]

T = TypeVar("T")

_MOMENT_SECONDS = 0.1


class _LateError(psycopg.OperationalError):
    """The deadline has passed."""


_HANGS = (_LateError, psycopg.errors.ConnectionTimeout)
_NO_ANSWER = (
    *_HANGS,
    psycopg.errors.LockNotAvailable,
    psycopg.errors.QueryCanceled,
)


class _Connection(psycopg.Connection[tuple[Any, ...]]):
    """A connection that stops to wait for the server at a deadline; it is of no use after that."""

    deadline = math.inf

    def wait(self, gen: PQGen[T], *arguments: Any, **named: Any) -> T:
        """Every exchange with the server passes through here."""
        return super().wait(_until(self.deadline, gen), *arguments, **named)


def _until(deadline: float, gen: PQGen[T]) -> PQGen[T]:
    """The same exchange with a deadline: psycopg resumes it ten times a second while nothing arrives."""
    try:
        wanted = next(gen)
        while True:
            ready = yield wanted
            if time.monotonic() > deadline:
                raise _LateError("the database did not answer in time")
            wanted = gen.send(ready)
    except StopIteration as end:
        result: T = end.value
        return result


class _Statements:
    def __init__(self, connection: _Connection) -> None:
        self.connection = connection

    @cached_property
    def now(self) -> float:
        ((seconds,),) = self.rows("SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) AS DOUBLE PRECISION)")
        return float(seconds)

    def rows(self, sql: str, *parameters: object) -> Rows:
        return self.connection.execute(sql.replace("?", "%s").encode(), parameters).fetchall()

    def batches(self, sql: str) -> Iterator[Rows]:
        # Not prepared: each cursor's rows have columns of their own.
        self.connection.execute(f"DECLARE batches NO SCROLL CURSOR FOR {sql}".encode(), prepare=False)
        fetch = f"FETCH {BATCH_ROWS} FROM batches".encode()
        while rows := self.connection.execute(fetch, prepare=False).fetchall():
            yield rows
        self.connection.execute(b"CLOSE batches", prepare=False)

    def change(self, sql: str, *parameters: object) -> int:
        return self.connection.execute(sql.replace("?", "%s").encode(), parameters or None).rowcount


class PostgresDatabase:
    """A server; each thread has a connection of its own to it."""

    has_migrations = "SELECT 1 WHERE to_regclass('migrations') IS NOT NULL"

    def __init__(self, url: str, timeout: float = WAIT_SECONDS) -> None:
        self._parameters = _parameters(url, timeout)
        self._timeout = timeout
        self._local = threading.local()
        self._all: list[_Connection] = []
        self._hangs = False
        self._trying = threading.Lock()

    @contextmanager
    def read(self) -> Iterator[ReadTransaction]:
        """One snapshot for all queries: by default each query of PostgreSQL would see a later state."""
        with self._transaction(b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY") as statements:
            yield statements

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """The server's default isolation."""
        with self._transaction(b"BEGIN") as statements:
            yield statements

    @contextmanager
    def migration(self) -> Iterator[Transaction]:
        """Holds an advisory lock with a number of our own."""
        with self._transaction(b"BEGIN") as statements:
            statements.rows("SELECT pg_advisory_xact_lock(705180421)")
            statements.change("SET LOCAL statement_timeout = 0")
            statements.connection.deadline = math.inf
            yield statements

    @contextmanager
    def _transaction(self, begin: bytes) -> Iterator[_Statements]:
        try:
            connection = self._begun(begin, deadline_in(self._timeout))
            try:
                yield _Statements(connection)
                connection.execute(b"COMMIT", prepare=False)
            except BaseException:
                self._roll_back(connection)
                raise
        except psycopg.IntegrityError as error:
            raise GoneError(str(error)) from error
        except _NO_ANSWER as error:
            raise NoAnswerError(str(error)) from error
        except psycopg.errors.DiskFull as error:
            raise DiskFullError(str(error)) from error
        except psycopg.Error as error:
            raise StoreError(str(error)) from error

    def free_bytes(self) -> int | None:
        """The server's disk is its own business."""
        return None

    def make_space(self) -> bool:
        """Nothing is reserved here: the server keeps log files ahead for itself."""
        return False

    def give_back(self) -> None:
        """The server vacuums by itself."""

    def close(self) -> None:
        """Close the connections of all threads."""
        while self._all:
            self._drop(self._all[-1])

    def _begun(self, begin: bytes, deadline: float) -> _Connection:
        """This thread's connection, in a new transaction.

        While the server hangs one thread at a time tries it. The others give up after a moment: a pool whose threads
        all waited here would serve nobody.
        """
        alone = self._hangs
        if alone and not self._trying.acquire(timeout=_MOMENT_SECONDS):
            raise _LateError("the database does not answer")
        try:
            connection = self._try(begin, deadline)
        except _HANGS:
            self._hangs = True
            raise
        finally:
            if alone:
                self._trying.release()
        self._hangs = False
        return connection

    def _try(self, begin: bytes, deadline: float) -> _Connection:
        """Begin a transaction; a connection that was lost meanwhile is made anew."""
        connection: _Connection | None = getattr(self._local, "connection", None)
        if connection is not None:
            connection.deadline = deadline
            try:
                connection.execute(begin, prepare=False)
            except psycopg.Error:
                self._drop(connection)
                if time.monotonic() > deadline:
                    raise
            else:
                return connection
        connection = self._connect(deadline)
        connection.deadline = deadline
        connection.execute(begin, prepare=False)
        return connection

    def _connect(self, deadline: float) -> _Connection:
        # libpq takes whole seconds, at least two.
        seconds = max(2, math.ceil(deadline - time.monotonic()))
        parameters = {"connect_timeout": seconds, **self._parameters}
        connection = _Connection.connect(autocommit=True, **parameters)
        self._local.connection = connection
        self._all.append(connection)
        return connection

    def _roll_back(self, connection: _Connection) -> None:
        try:
            connection.execute(b"ROLLBACK", prepare=False)
        except psycopg.Error:
            self._drop(connection)  # it is cut, or still waits for an answer

    def _drop(self, connection: _Connection) -> None:
        with suppress(psycopg.Error):
            connection.close()
        with suppress(ValueError):
            self._all.remove(connection)


def _parameters(url: str, timeout: float) -> dict[str, Any]:
    """The URL's parameters, with time limits wherever it sets none.

    A lock may take half the time, so that a caller learns that it is a lock. A transaction that is idle for twice the
    time belongs to a process that is frozen: it is ended, and others get its locks.

    Raises:
        InvalidInputError: it is no URL.
    """
    try:
        given: dict[str, Any] = dict(conninfo_to_dict(url))
    except (psycopg.Error, UnicodeDecodeError):
        # Without psycopg's words: they may repeat the password.
        raise InvalidInputError("FEDSIFT_DATABASE_URL", "is not a URL that PostgreSQL understands") from None
    limits = {
        "lock_timeout": timeout / 2,
        "statement_timeout": timeout,
        "idle_in_transaction_session_timeout": 2 * timeout,
    }
    ours = " ".join(f"-c {name}={round(1000 * seconds)}" for name, seconds in limits.items())
    network = {
        "keepalives_idle": max(1, round(timeout)),
        "keepalives_interval": 2,
        "keepalives_count": 3,
        "tcp_user_timeout": round(1000 * timeout),
    }
    # The server takes the last of several values for an option: the URL's own.
    return {**network, **given, "options": f"{ours} {given.get('options', '')}".strip()}
