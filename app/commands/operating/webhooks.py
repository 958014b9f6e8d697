"""`fedsift webhooks`: who is told what happens to plans, runs and validations."""

import json
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from app.commands.environment import read_settings
from app.keys.store import LOCAL, KeyStore
from app.store import Store
from app.webhooks.store import WebhookStore
from app.webhooks.targets import Targets
from solver.errors import FedsiftError

__all__ = ["webhooks"]

webhooks = typer.Typer(help="Create, list and delete webhooks, and show what was delivered.", no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
WebhookId = Annotated[str, typer.Argument(help="As `fedsift webhooks list` shows it.")]


def _opened() -> Store:
    settings = read_settings()
    return Store(settings.database_url, settings.store_timeout)


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


@webhooks.command()
def create(
    url: Annotated[str, typer.Argument(help="Where to send events; its host is in FEDSIFT_WEBHOOK_TARGETS.")],
    owner: Annotated[str, typer.Option(help="Whose events, as `fedsift keys list` shows owners.")] = LOCAL,
    as_json: Json = False,
) -> None:
    """Tell a program of everything that happens to an owner's plans, runs and validations from now on."""
    Targets.of(read_settings().webhook_targets).place(url)
    store = _opened()
    try:
        if owner != LOCAL and owner not in {key.owner for key in KeyStore(store).all()}:
            raise FedsiftError(f"no key has the owner {owner!r}; `fedsift keys list` shows them")
        made = WebhookStore(store).create(owner, url)
    finally:
        store.close()
    if as_json:
        typer.echo(json.dumps(asdict(made)))
    else:
        typer.echo(f"{made.secret}\n(signs what webhook {made.id} sends to {url})")


@webhooks.command("list")
def list_webhooks(as_json: Json = False) -> None:
    """List the webhooks, without their secrets."""
    store = _opened()
    found = WebhookStore(store).all()
    store.close()
    rows = [{"id": one.id, "owner": one.owner, "url": one.url, "created_at": _moment(one.created_at)} for one in found]
    _show(rows, ("id", "owner", "url", "created"), as_json=as_json)


@webhooks.command()
def deliveries(
    webhook_id: WebhookId,
    limit: Annotated[int, typer.Option(help="How many, newest first.", min=1)] = 50,
    as_json: Json = False,
) -> None:
    """Show what was delivered to a webhook, what waits, and what the last attempt ended in."""
    store = _opened()
    found = WebhookStore(store).log(webhook_id, limit)
    store.close()
    rows = [{**asdict(one), "created_at": _moment(one.created_at)} for one in found]
    _show(rows, ("event", "of", "state", "attempts", "answer", "created"), as_json=as_json)


@webhooks.command()
def delete(webhook_id: WebhookId) -> None:
    """Forget a webhook, and what was to be delivered to it."""
    store = _opened()
    found = WebhookStore(store).delete(webhook_id)
    store.close()
    if not found:
        raise FedsiftError(f"there is no webhook {webhook_id}")
    typer.echo(f"deleted {webhook_id}")


def _show(rows: list[dict[str, Any]], headings: tuple[str, ...], *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(rows))
        return
    table = Table(*headings)
    for row in rows:
        table.add_row(*map(str, row.values()))
    Console(markup=False).print(table)
