"""Databases as earlier releases left them."""

from collections.abc import Iterator
from contextlib import contextmanager

from app.store.database import Transaction
from app.store.store import _database, _scripts

__all__ = ["old_schema"]


@contextmanager
def old_schema(url: str, last: str) -> Iterator[Transaction]:
    """A transaction on an empty database that has had the migrations up to this one, named by its file."""
    database = _database(url, 60.0)
    scripts = _scripts()
    with database.migration() as t:
        t.change("CREATE TABLE migrations (name TEXT PRIMARY KEY)")
        for name in sorted(scripts)[: sorted(scripts).index(last) + 1]:
            for statement in scripts[name]:
                t.change(statement)
            t.change("INSERT INTO migrations (name) VALUES (?)", name)
        yield t
    database.close()
