"""`fedsift keys`: create, list and revoke API keys."""

import json
from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from app.keys.ring import KeyRing
from app.keys.store import KeyRecord, KeyStore
from app.settings import Settings
from app.store import Store

__all__ = ["keys"]

keys = typer.Typer(help="Create, list and revoke API keys.", no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def _store() -> Store:
    settings = Settings()
    return Store(settings.database_url, settings.store_timeout)


def _row(record: KeyRecord) -> dict[str, str]:
    made = datetime.fromtimestamp(record.created_at, UTC).isoformat(timespec="seconds")
    return {"id": record.id, "name": record.name, "created_at": made}


@keys.command()
def create(name: Annotated[str, typer.Argument(help="Who it is for.")], as_json: Json = False) -> None:
    """Make a key. It is shown once; only its digest is kept."""
    store = _store()
    record, text = KeyRing(store).create(name)
    store.close()
    if as_json:
        typer.echo(json.dumps({**_row(record), "key": text}))
    else:
        typer.echo(f"{text}\n(key {record.id} for {record.name}; it cannot be shown again)")


@keys.command("list")
def list_keys(as_json: Json = False) -> None:
    """List the keys; the keys themselves are not kept."""
    store = _store()
    rows = [_row(record) for record in KeyStore(store).all()]
    store.close()
    if as_json:
        typer.echo(json.dumps(rows))
        return
    table = Table("id", "name", "created")
    for row in rows:
        table.add_row(*row.values())
    Console().print(table)


@keys.command()
def revoke(key_id: Annotated[str, typer.Argument(help="As `fedsift keys list` shows it.")]) -> None:
    """Revoke a key. Servers refuse it within seconds; its runs stay."""
    store = _store()
    found = KeyStore(store).delete(key_id)
    store.close()
    if not found:
        typer.echo(f"there is no key {key_id}", err=True)
        raise typer.Exit(1)
    typer.echo(f"revoked {key_id}")
