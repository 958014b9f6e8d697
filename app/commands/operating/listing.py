"""What commands that look into the store share: the store of the settings, and a list on the terminal."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import typer

from app.commands.environment import read_settings
from app.commands.output.text_table import text_table
from app.store import NewerSchemaError, Store, StoreError
from app.store.store import explained
from solver.errors import FedsiftError

__all__ = ["opened_store", "show_rows"]


@contextmanager
def opened_store(*, makes: bool = False) -> Iterator[Store]:
    """The store, for as long as the command needs it; only with `makes` the command makes a file that is not there.

    Raises:
        FedsiftError: it does not answer; names the setting.
    """
    settings = read_settings()
    store = Store(settings.database_url, settings.store_timeout, makes=makes)
    try:
        yield store
    except NewerSchemaError:
        raise
    except StoreError as error:
        raise FedsiftError(explained(settings.database_url, error)) from error
    finally:
        store.close()


def show_rows(rows: Sequence[dict[str, Any]], headings: Sequence[str], *, as_json: bool) -> None:
    """Print rows as JSON, or as a table."""
    if as_json:
        typer.echo(json.dumps(rows))
    else:
        cells = [["-" if cell is None else str(cell) for cell in row.values()] for row in rows]
        typer.echo(text_table(headings, cells))
