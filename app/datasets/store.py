"""Which data sets workers have, as they tell in their rows."""

from collections.abc import Iterable

from app.store import Store

__all__ = ["reported_data_sets", "written"]


def written(data_sets: Iterable[str]) -> str:
    """The data sets as a worker's row has them; empty if the worker does not tell."""
    return " ".join(data_sets)


def reported_data_sets(store: Store) -> list[frozenset[str]]:
    """What each worker has that is in the table and tells it."""
    with store.read() as t:
        rows = t.rows("SELECT data_sets FROM workers WHERE data_sets <> ''")
        return [frozenset(text.split()) for (text,) in rows]
