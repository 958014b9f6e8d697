"""`fedsift backup` and `fedsift restore`: the whole database in one file, while the service goes on."""

import json
from pathlib import Path
from typing import Annotated

import typer

from app.commands.environment import read_settings
from app.store.backup import back_up
from app.store.backup import restore as put_back

__all__ = ["backup", "restore"]

Json = Annotated[bool, typer.Option("--json", help="Print the number of rows of each table as JSON.")]


def backup(
    file: Annotated[Path, typer.Argument(help="Where to write it; nothing may be there yet.")], as_json: Json = False
) -> None:
    """Write all that the database has into one file. The service and its workers go on meanwhile."""
    settings = read_settings()
    copied = back_up(settings.database_url, file, settings.store_timeout)
    _tell(f"wrote {file}", copied, as_json=as_json)


def restore(file: Annotated[Path, typer.Argument(help="What `fedsift backup` wrote.")], as_json: Json = False) -> None:
    """Put a backup into the database of FEDSIFT_DATABASE_URL, which has to be empty: SQLite or PostgreSQL."""
    settings = read_settings()
    copied = put_back(file, settings.database_url, settings.store_timeout)
    _tell(f"restored {file}", copied, as_json=as_json)


def _tell(done: str, copied: dict[str, int], *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(copied))
        return
    shown = ("plans", "runs", "validations", "networks", "api_keys")
    counts = (f"{copied[table]} {table.replace('_', ' ')}" for table in shown if table in copied)
    typer.echo(f"{done}: {', '.join(counts)}")
