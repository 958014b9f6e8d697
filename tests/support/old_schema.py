"""Databases as earlier releases left them."""

from collections.abc import Iterator
from contextlib import contextmanager

from app.store.database import Transaction
from app.store.store import apply, open_database, release_migrations

__all__ = ["old_schema"]


@contextmanager
def old_schema(url: str, last: str) -> Iterator[Transaction]:
    """A transaction on an empty database that has had the migrations up to this one, named by its file."""
    database = open_database(url, 60.0)
    names = release_migrations()
    with database.migration() as t:
        apply(t, names[: names.index(last) + 1])
        yield t
    database.close()
