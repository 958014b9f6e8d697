"""`fedsift keys`: create, list, rotate and revoke API keys, and hand over what was made without one."""

import json
from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from app.commands.environment import read_settings
from app.keys.ring import KeyRing
from app.keys.store import LOCAL, KeyNameError, KeyRecord, KeyStore, UnknownOwnerError
from app.store import Store

__all__ = ["keys"]

keys = typer.Typer(help="Create, list, rotate and revoke API keys.", no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
KeyId = Annotated[str, typer.Argument(help="As `fedsift keys list` shows it.")]


def _store() -> Store:
    settings = read_settings()
    return Store(settings.database_url, settings.store_timeout)


def _row(record: KeyRecord) -> dict[str, str]:
    made = datetime.fromtimestamp(record.created_at, UTC).isoformat(timespec="seconds")
    return {"id": record.id, "name": record.name, "owner": record.owner, "created_at": made}


def _show(record: KeyRecord, text: str, *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({**_row(record), "key": text}))
    else:
        typer.echo(f"{text}\n(key {record.id} for {record.name}; it cannot be shown again)")


def _refuse(reason: object) -> typer.Exit:
    typer.echo(str(reason), err=True)
    return typer.Exit(1)


@keys.command()
def create(
    name: Annotated[str, typer.Argument(help="Who it is for.")],
    owner: Annotated[
        str | None,
        typer.Option(help="Another key for this owner, as `fedsift keys list` shows it; a new one if left out."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Make a key. It is shown once; only its digest is kept."""
    store = _store()
    try:
        record, text = KeyRing(store).create(name, owner)
    except (KeyNameError, UnknownOwnerError) as error:
        raise _refuse(error) from error
    finally:
        store.close()
    _show(record, text, as_json=as_json)


@keys.command()
def rotate(key_id: KeyId, as_json: Json = False) -> None:
    """Replace a key by a new one of the same name and owner. The old one is refused within seconds."""
    store = _store()
    made = KeyRing(store).rotate(key_id)
    store.close()
    if made is None:
        raise _refuse(f"there is no key {key_id}")
    _show(*made, as_json=as_json)


@keys.command()
def adopt(
    owner: Annotated[str, typer.Argument(help="Who gets it, as `fedsift keys list` shows owners.")],
    as_json: Json = False,
) -> None:
    """Give an owner the plans, runs, validations and networks that were made while no key was required."""
    store = _store()
    try:
        moved = KeyStore(store).hand_over(LOCAL, owner)
    except UnknownOwnerError as error:
        raise _refuse(error) from error
    finally:
        store.close()
    typer.echo(json.dumps(moved) if as_json else ", ".join(f"{count} {things}" for things, count in moved.items()))


@keys.command("list")
def list_keys(as_json: Json = False) -> None:
    """List the keys; the keys themselves are not kept."""
    store = _store()
    rows = [_row(record) for record in KeyStore(store).all()]
    store.close()
    if as_json:
        typer.echo(json.dumps(rows))
        return
    table = Table("id", "name", "owner", "created")
    for row in rows:
        table.add_row(*row.values())
    Console(markup=False).print(table)


@keys.command()
def revoke(key_id: KeyId) -> None:
    """Revoke a key. Servers refuse it within seconds; what its owner keeps stays."""
    store = _store()
    found = KeyStore(store).delete(key_id)
    store.close()
    if not found:
        raise _refuse(f"there is no key {key_id}")
    typer.echo(f"revoked {key_id}")
