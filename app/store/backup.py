"""Backups: a copy of the whole database in one SQLite file, whichever database it comes from or goes to.

The copy is made in one transaction, so it is a state that the database once had, while others go on writing. It has the
tables of the release that wrote the database; whoever opens a restored database brings it up to date.

BackupError     a backup cannot be written or restored here
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from graphlib import TopologicalSorter
from pathlib import Path

from app.store.database import Database, ReadTransaction, StoreError, Transaction
from app.store.sqlite import SqliteDatabase, reading_file
from app.store.store import applied, apply, explained, named, open_database
from solver.errors import FedsiftError

__all__ = ["BackupError", "back_up", "restore"]

# A copy may take as long as it needs; the databases want a number.
_PATIENCE = 86400.0


class BackupError(FedsiftError):
    """A backup cannot be written or restored here."""


def back_up(url: str, path: Path, timeout: float) -> dict[str, int]:
    """Write all that the database has into a new file; returns the number of rows of each table.

    `timeout` is how long the database may take to answer at all.

    Raises:
        BackupError: the file is there already, or the database does not answer, is not there or has no tables.
        StoreError: its schema is newer, or the file cannot be written.
    """
    if path.exists():
        raise BackupError(f"{path} is there already, and no backup is written over")
    _check_answer(url, timeout, makes=False)
    with _opened(url) as source, source.read() as t, _new_file(path) as target:
        done = applied(source, t)
        if not done:
            raise BackupError(f"{named(url)}: the database is empty")
        with target.migration() as into:
            apply(into, done)
            return _copy(t, into, layout=into)


def restore(path: Path, url: str, timeout: float) -> dict[str, int]:
    """Put a backup into an empty database; returns the number of rows of each table.

    Raises:
        BackupError: the database does not answer, has rows or other tables already, or the file is damaged.
        StoreError: the backup is of a newer release, or cannot be read.
    """
    _check_answer(url, timeout, makes=True)
    with reading_file(path) as t:
        done = applied(SqliteDatabase(path), t)
        if not done:
            raise BackupError(f"{path} is no backup of fedsift")
        ((health,),) = t.rows("PRAGMA integrity_check(1)")
        if health != "ok":
            raise BackupError(f"{path} is damaged: {health}")
        with _opened(url) as target, target.migration() as into:
            had = applied(target, into)
            if had not in ([], done):
                raise BackupError("the database has tables of another release than the backup: restore into a new one")
            full = [table for table in _tables(t) if had and _has_rows(into, table)]
            if full:
                raise BackupError(f"the database has rows already ({', '.join(full)}): restore into a new one")
            if not had:
                apply(into, done)
            return _copy(t, into, layout=t)


def _copy(source: ReadTransaction, target: Transaction, *, layout: ReadTransaction) -> dict[str, int]:
    """All rows of all tables; `layout` is the one of both that is SQLite."""
    copied = {}
    for table in _tables(layout):
        names = [name for (name,) in layout.rows(f"SELECT name FROM pragma_table_info('{table}')")]  # noqa: S608 - ours
        columns = ", ".join(names)
        insert = f"INSERT INTO {table} ({columns}) VALUES ({', '.join('?' for _ in names)})"  # noqa: S608 - ours
        copied[table] = 0
        for rows in source.batches(f"SELECT {columns} FROM {table}"):  # noqa: S608 - ours
            for row in rows:
                target.change(insert, *row)
            copied[table] += len(rows)
    return copied


def _tables(layout: ReadTransaction) -> list[str]:
    """The tables with rows to copy, each after those that it refers to."""
    found = layout.rows("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    names = sorted(name for (name,) in found if name != "migrations")
    referred = 'SELECT DISTINCT "table" FROM pragma_foreign_key_list(?)'
    return list(TopologicalSorter({one: [to for (to,) in layout.rows(referred, one)] for one in names}).static_order())


def _has_rows(t: ReadTransaction, table: str) -> bool:
    return bool(t.rows(f"SELECT 1 FROM {table} LIMIT 1"))  # noqa: S608 - a table of ours


@contextmanager
def _opened(url: str) -> Iterator[Database]:
    database = open_database(url, _PATIENCE)
    try:
        yield database
    finally:
        database.close()


def _check_answer(url: str, timeout: float, *, makes: bool) -> None:
    """Do not wait for hours for a database that is not there."""
    database = open_database(url, timeout, makes=makes)
    try:
        with database.read() as t:
            t.rows("SELECT 1")
    except StoreError as error:
        raise BackupError(explained(url, error)) from error
    finally:
        database.close()


@contextmanager
def _new_file(path: Path) -> Iterator[Database]:
    """A database in a file that gets its name when it is complete. Only its owner may read it: it has all data."""
    partial = path.with_name(f"{path.name}.partial")
    try:
        os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError as error:
        reason = "another backup writes it, or one was broken off; then delete it"
        raise BackupError(f"{partial} is there already: {reason}") from error
    except OSError as error:
        raise BackupError(f"{partial}: {error.strerror}") from error
    database = SqliteDatabase(partial)
    try:
        yield database
        database.close()
        partial.replace(path)
    finally:
        database.close()
        for ending in ("", "-wal", "-shm"):
            with suppress(OSError):
                partial.with_name(f"{partial.name}{ending}").unlink()
