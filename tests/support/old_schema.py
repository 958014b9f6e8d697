"""Databases as earlier releases left them."""

from collections.abc import Iterator
from contextlib import contextmanager

from app.store.database import Transaction
from app.store.store import apply, open_database, release_migrations

__all__ = ["old_schema", "write_rows"]


@contextmanager
def old_schema(url: str, last: str) -> Iterator[Transaction]:
    """A transaction on an empty database that has had the migrations up to this one, named by its file."""
    database = open_database(url, 60.0)
    names = release_migrations()
    with database.migration() as t:
        apply(t, names[: names.index(last) + 1])
        yield t
    database.close()


# A row of each kind that releases have kept from the start, or from the table's first version on, in columns that every
# version since has had with the same meaning or had to fill from elsewhere.
_ROWS: dict[str, dict[str, object]] = {
    "api_keys": {"id": "own_1", "digest": "digest-of-a-key", "name": "me", "created_at": 1.0, "owner": "own_1"},
    "runs": {
        "id": "run_1",
        "owner": "own_1",
        "created_at": 2.0,
        "n_devices": 3,
        "sample_size": 1,
        "horizon": 2,
        "aggregation_period": 1,
        "request": b"{}",
    },
    "periods": {
        "run_id": "run_1",
        "aggregation": 0,
        "request_digest": "",
        "request": b"{}",
        "state": "{}",
        "answer": b"{}",
    },
    "plans": {"id": "plan_1", "owner": "own_1", "created_at": 3.0, "request": b"{}", "answer": b"{}"},
    "validations": {
        "id": "val_1",
        "owner": "own_1",
        "created_at": 4.0,
        "digest": "",
        "state": "succeeded",
        "cancelled": 0,
        "rounds": 1,
        "rounds_done": 1,
        "last_event": 0,
        "finished_at": 5.0,
        "updated_at": 5.0,
        "request": b"{}",
        "work": b"{}",
    },
    "validation_parts": {
        "id": "val_1-0000",
        "validation_id": "val_1",
        "number": 0,
        "scheme": "random",
        "seed": 0,
        "draw": 0,
        "rounds": 1,
        "state": "done",
        "attempt": 1,
        "leased_until": 0.0,
        "next_round": 1,
        "facts": "{}",
        "forgotten": 0,
        "created_at": 4.0,
    },
    "owners": {"id": "own_1", "name": "me"},
    "networks": {
        "id": "net_1",
        "owner": "own_1",
        "created_at": 6.0,
        "kind": "network",
        "version": 1,
        "updated_at": 6.0,
        "n_devices": 3,
        "n_links": 0,
    },
    "webhooks": {"id": "whk_1", "owner": "own_1", "url": "https://a.example", "secret": "s", "created_at": 7.0},
}
# What later releases know of things beside the things themselves.
_BESIDE: dict[str, dict[str, object]] = {
    "about": {"owner": "own_1", "digest": ""},
    "usage": {"owner": "own_1", "bytes": 512, "grown_at": 9.0},
}


def write_rows(t: Transaction, layout: dict[str, list[str]]) -> list[str]:
    """One row in each table of an old schema, by its tables and columns; returns the tables."""
    written = []
    for table, row in _ROWS.items():
        if table in layout:
            _insert(t, table, {name: value for name, value in row.items() if name in layout[table]})
            written.append(table)
    for table, row in _BESIDE.items():
        for thing in ("plan", "run", "validation", "network"):
            if f"{thing}s" in layout and f"{thing}_id" in layout.get(table, ()):
                _insert(t, table, {f"{thing}_id": _ROWS[f"{thing}s"]["id"], **row})
    return written


def _insert(t: Transaction, table: str, row: dict[str, object]) -> None:
    places = ", ".join("?" for _ in row)
    t.change(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({places})", *row.values())
