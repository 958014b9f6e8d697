"""The store's handle: transactions to read and to write in, on a schema that is up to date.

The tables belong to the slices: `app.runs.store`, `app.keys.store`, `app.plans.store`, `app.validations.store` and
`app.worker.store` hold their statements and records.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TypeVar

from app.store.database import (
    WAIT_SECONDS,
    Database,
    DiskFullError,
    NewerSchemaError,
    ReadTransaction,
    StoreError,
    Transaction,
)
from app.store.outbox import logged_after
from app.store.sqlite import SqliteDatabase
from solver.errors import InvalidInputError, MissingExtraError

__all__ = ["ADDITIVE", "Store", "applied", "apply", "explained", "named", "open_database", "release_migrations"]

T = TypeVar("T")

# A script with this ending only adds to the schema: a release that does not know it goes on beside one that does.
ADDITIVE = ".add.sql"

_KNOWN_URLS = "must begin with sqlite:/// or postgresql://"


class Store:
    """The database of a process; any thread may use it. It migrates at its first use.

    A transaction raises a `StoreError` if the database does not answer within `timeout` seconds, or if its file is not
    there and this process does not make it.
    """

    def __init__(self, url: str, timeout: float = WAIT_SECONDS, *, makes: bool = True) -> None:
        self._database = open_database(url, timeout, makes=makes)
        self._migrated = False

    def read(self) -> AbstractContextManager[ReadTransaction]:
        """A transaction that only reads: all its queries see the same state, and it blocks no writer."""
        self.migrate()
        return self._database.read()

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """A transaction that changes rows: all of them, or none if an exception leaves it."""
        self.migrate()
        with logged_after(), self._database.write() as t:
            yield t

    def delete(self, work: Callable[[Transaction], T]) -> T:
        """Run `work` in a transaction that only deletes rows. It finds space on a full disk too."""
        try:
            with self.write() as t:
                deleted = work(t)
        except DiskFullError:
            if not self._database.make_space():
                raise
            with self.write() as t:
                deleted = work(t)
            self._database.give_back()
        return deleted

    def check_disk(self, reserve: int) -> None:
        """Refuse to grow.

        Raises:
            DiskFullError: fewer bytes than `reserve` are free for the database.
        """
        if self.is_low(reserve):
            raise DiskFullError(f"fewer than {reserve} bytes are free")

    def is_low(self, reserve: int) -> bool:
        """Whether fewer bytes than `reserve` are free for the database; False if it is on no disk of this machine."""
        free = self._database.free_bytes()
        return free is not None and free < reserve

    def give_back(self) -> None:
        """Return the space of deleted rows to the disk."""
        self._database.give_back()

    def now(self) -> float:
        """The database's clock, for a record whose answer is packed before it is written."""
        with self.read() as t:
            return t.now

    def migrate(self) -> None:
        """Bring the schema up to date; safe when several threads and processes start at once.

        It reads first: with an up-to-date schema it waits for no lock.

        Raises:
            NewerSchemaError: a newer release has changed the tables, and not only added to them.
        """
        if self._migrated:
            return
        with self._database.read() as found:
            missing = self._missing(found)
        if missing:
            with self._database.migration() as t:
                apply(t, self._missing(t))  # another process may have been first
        self._migrated = True

    def check(self) -> None:
        """Look at the schema again: a newer release may have changed it since.

        Raises:
            StoreError: the database does not answer, or its schema is newer.
        """
        self._migrated = False
        self.migrate()

    def close(self) -> None:
        """Close all connections."""
        self._database.close()

    def _missing(self, t: ReadTransaction) -> list[str]:
        """The migrations that this database has not had, in order."""
        done = _done(self._database, t)
        _refuse_newer(name for name in done if not name.endswith(ADDITIVE))
        return [name for name in _scripts() if name not in done]


def applied(database: Database, t: ReadTransaction) -> list[str]:
    """The migrations that a database has had, in order.

    Raises:
        NewerSchemaError: this release does not know one of them.
    """
    done = _done(database, t)
    _refuse_newer(done)
    return done


def _done(database: Database, t: ReadTransaction) -> list[str]:
    if not t.rows(database.has_migrations):
        return []
    return sorted(name for (name,) in t.rows("SELECT name FROM migrations"))


def _refuse_newer(done: Iterable[str]) -> None:
    newer = [name for name in done if name not in _scripts()]
    if newer:
        raise NewerSchemaError(
            f"a newer release of fedsift has written to this database (migration {newer[0]}): "
            "install that release, or restore a backup from before it"
        )


def release_migrations() -> list[str]:
    """The migrations of this release, in order."""
    return list(_scripts())


def apply(t: Transaction, names: Iterable[str]) -> None:
    """Run these migrations."""
    t.change("CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY)")
    for name in names:
        for statement in _scripts()[name]:
            t.change(statement)
        t.change("INSERT INTO migrations (name) VALUES (?)", name)


def open_database(url: str, timeout: float, *, makes: bool = True) -> Database:
    """The database that a URL names: `sqlite:///relative`, `sqlite:////absolute` or `postgresql://…`.

    The file of SQLite is made at its first use if it is not there, and only if `makes`.

    Raises:
        InvalidInputError: the URL names no such database.
        MissingExtraError: PostgreSQL without psycopg.
    """
    if url.startswith("sqlite:///"):
        return SqliteDatabase(Path(url.removeprefix("sqlite:///")), timeout, makes=makes)
    if not url.startswith(("postgresql://", "postgres://")):
        raise InvalidInputError(named(url), _KNOWN_URLS)
    try:
        # Imported here: the default store does not need psycopg.
        from app.store.postgres import PostgresDatabase  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError("a postgresql:// database needs psycopg: install fedsift[postgres]") from error
    return PostgresDatabase(url, timeout)


def named(url: str) -> str:
    """The setting and its value, without what may be a name and a password, for messages."""
    plain = re.sub(r"(?i)(password=)[^&]*", r"\1…", re.sub(r"^([^:/]*:?/*).*@", r"\1…@", url))
    return f"FEDSIFT_DATABASE_URL={plain}"


def explained(url: str, error: StoreError) -> str:
    """What is wrong with the database of this URL, on one line: drivers write several."""
    return f"{named(url)}: {' '.join(str(error).split())}"


@cache
def _scripts() -> dict[str, list[str]]:
    """The statements of every migration, in order."""
    found = sorted(files("app.store").joinpath("migrations").iterdir(), key=lambda script: script.name)
    return {one.name: _statements(one.read_text(encoding="utf-8")) for one in found if one.name.endswith(".sql")}


def _statements(script: str) -> list[str]:
    lines = [line for line in script.splitlines() if not line.lstrip().startswith("--")]
    return [statement.strip() for statement in "\n".join(lines).split(";") if statement.strip()]
