"""What the store asks of a database: a connection for each thread, transactions, and placeholders written as `?`.

StoreError                  the database cannot be reached
├── DiskFullError           it has no space left
├── NoAnswerError           it does not answer in time
└── NewerSchemaError        a newer release has changed its tables
GoneError                   a row that this one refers to is no longer there
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any, Protocol

from solver.errors import FedsiftError

__all__ = [
    "BATCH_ROWS",
    "WAIT_SECONDS",
    "Database",
    "DiskFullError",
    "GoneError",
    "NewerSchemaError",
    "NoAnswerError",
    "ReadTransaction",
    "Rows",
    "StoreError",
    "Transaction",
]

Rows = list[tuple[Any, ...]]
# How long a transaction may take, and a connection wait for another process that writes, unless a setting says it.
WAIT_SECONDS = 5.0
# Rows of a batch; each may be megabytes.
BATCH_ROWS = 20


class StoreError(FedsiftError):
    """The database cannot be reached or does not answer."""


class DiskFullError(StoreError):
    """The database has no space left to write to."""


class NoAnswerError(StoreError):
    """The database does not answer in time."""


class NewerSchemaError(StoreError):
    """A newer release has changed the tables, and this one does not know how."""


class GoneError(FedsiftError):
    """A row that this one refers to is no longer there."""


class ReadTransaction(Protocol):
    """Queries that all see the same state of the database."""

    @property
    def now(self) -> float:
        """The database's clock, in seconds since 1970, read at the first use: one moment for the whole transaction.

        Every moment that is kept, or compared with one that is kept, is this one (ADR 0092).
        """

    def rows(self, sql: str, *parameters: object) -> Rows:
        """All rows of a query."""

    def batches(self, sql: str) -> Iterator[Rows]:
        """The rows of a query without parameters, some at a time: they may not fit in memory together."""


class Transaction(ReadTransaction, Protocol):
    """Queries and changes that are committed together or not at all."""

    def change(self, sql: str, *parameters: object) -> int:
        """Run a statement; returns how many rows it changed."""


class Database(Protocol):
    """A database with a connection for each thread.

    `has_migrations` is a query that finds a row if the table of migrations exists.
    """

    has_migrations: str

    def read(self) -> AbstractContextManager[ReadTransaction]:
        """A transaction that only reads and blocks no writer."""

    def write(self) -> AbstractContextManager[Transaction]:
        """A transaction that commits at its end and rolls back on any exception."""

    def migration(self) -> AbstractContextManager[Transaction]:
        """A transaction of the one process that migrates; it may take as long as it needs."""

    def free_bytes(self) -> int | None:
        """Bytes that can still be written; None if the database is not on a disk of this machine."""

    def make_space(self) -> bool:
        """Give up what is reserved for deleting on a full disk; False if there is nothing to give up."""

    def give_back(self) -> None:
        """Return the space of deleted rows to the disk, and reserve some again."""

    def close(self) -> None:
        """Close the connections of all threads."""
