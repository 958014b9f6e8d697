"""`fedsift keys`: create, list, rotate and revoke API keys, and hand over what was made without one."""

import json
import time
from typing import Annotated

import typer

from app.commands.operating.listing import opened_store, show_rows
from app.commands.operating.moments import Until, moment, read_length, read_until
from app.keys.ring import KeyRing
from app.keys.store import LOCAL, KeyRecord, KeyStore, Scope
from solver.errors import FedsiftError

__all__ = ["keys"]

keys = typer.Typer(help="Create, list, rotate and revoke API keys.", no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Expires = Annotated[
    Until | None,
    typer.Option(
        "--expires-in",
        "--expires-at",
        metavar="TIME",
        parser=read_until,
        help="A length such as 90d or 12h, or an ISO time.",
    ),
]
KeyId = Annotated[str, typer.Argument(help="As `fedsift keys list` shows it.")]


def _row(record: KeyRecord) -> dict[str, str | None]:
    return {
        "id": record.id,
        "name": record.name,
        "owner": record.owner,
        "scope": record.scope,
        "created_at": moment(record.created_at),
        "expires_at": moment(record.expires_at),
        "used_at": moment(record.used_at),
    }


def _show(record: KeyRecord, text: str, *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({**_row(record), "key": text}))
    else:
        until = "" if record.expires_at is None else f", until {moment(record.expires_at)}"
        typer.echo(f"{text}\n(key {record.id} for {record.name}{until}; it cannot be shown again)")


@keys.command()
def create(
    name: Annotated[str, typer.Argument(help="Who it is for.")],
    owner: Annotated[
        str | None,
        typer.Option(help="Another key for this owner, as `fedsift keys list` shows it; a new one if left out."),
    ] = None,
    expires: Expires = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="It may only read: GET, nothing else.")] = False,
    as_json: Json = False,
) -> None:
    """Make a key. It is shown once; only its digest is kept. Without a time it does not expire."""
    scope: Scope = "read" if read_only else "full"
    if expires is not None:
        expires.after(time.time())  # refused before a database is made for it; the database's clock decides below
    with opened_store(makes=True) as store:
        expires_at = None if expires is None else expires.after(store.now())
        record, text = KeyRing(store).create(name, owner, scope=scope, expires_at=expires_at)
    _show(record, text, as_json=as_json)


@keys.command()
def rotate(
    key_id: KeyId,
    overlap: Annotated[
        float,
        typer.Option(
            metavar="LENGTH", parser=read_length, help="How long the old key is still accepted; 0s: not at all."
        ),
    ] = "1d",  # type: ignore[assignment]  # the parser reads defaults too
    expires: Expires = None,
    as_json: Json = False,
) -> None:
    """Make the successor of a key, with its name, owner, scope and length of life. The old one expires."""
    with opened_store() as store:
        expires_at = None if expires is None else expires.after(store.now())
        made = KeyRing(store).rotate(key_id, overlap=overlap, expires_at=expires_at)
    if made is None:
        raise FedsiftError(f"there is no key {key_id}")
    _show(*made, as_json=as_json)
    if not as_json:
        typer.echo(
            f"(the old key {key_id} is accepted until {moment(made[0].created_at + overlap)}, or its own expiry)"
        )


@keys.command()
def adopt(
    owner: Annotated[str, typer.Argument(help="Who gets it, as `fedsift keys list` shows owners.")],
    as_json: Json = False,
) -> None:
    """Give an owner the plans, runs, validations and networks that were made while no key was required."""
    with opened_store() as store:
        moved = KeyStore(store).hand_over(LOCAL, owner)
    typer.echo(json.dumps(moved) if as_json else ", ".join(f"{count} {things}" for things, count in moved.items()))


@keys.command("list")
def list_keys(as_json: Json = False) -> None:
    """List the keys with scope, expiry and last use; the keys themselves are not kept."""
    with opened_store() as store:
        rows = [_row(record) for record in KeyStore(store).all()]
    show_rows(rows, ("id", "name", "owner", "scope", "created", "expires", "last used"), as_json=as_json)


@keys.command()
def revoke(key_id: KeyId) -> None:
    """Revoke a key. Servers refuse it within seconds; what its owner keeps stays."""
    with opened_store() as store:
        found = KeyStore(store).delete(key_id)
    if not found:
        raise FedsiftError(f"there is no key {key_id}")
    typer.echo(f"revoked {key_id}")
