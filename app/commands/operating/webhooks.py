"""`fedsift webhooks`: who is told what happens to plans, runs and validations."""

import json
from dataclasses import asdict
from typing import Annotated

import typer

from app.commands.environment import read_settings
from app.commands.operating.listing import opened_store, show_rows
from app.commands.operating.moments import moment
from app.keys.store import LOCAL, KeyStore
from app.webhooks.store import WebhookStore
from app.webhooks.targets import Targets
from solver.errors import FedsiftError

__all__ = ["webhooks"]

webhooks = typer.Typer(help="Create, list and delete webhooks, and show what was delivered.", no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
WebhookId = Annotated[str, typer.Argument(help="As `fedsift webhooks list` shows it.")]


@webhooks.command()
def create(
    url: Annotated[str, typer.Argument(help="Where to send events; its host is in FEDSIFT_WEBHOOK_TARGETS.")],
    owner: Annotated[str, typer.Option(help="Whose events, as `fedsift keys list` shows owners.")] = LOCAL,
    as_json: Json = False,
) -> None:
    """Tell a program of everything that happens to an owner's plans, runs and validations from now on."""
    Targets.of(read_settings(warn=False).webhook_targets).place(url)
    with opened_store(makes=True) as store:
        if owner != LOCAL:
            KeyStore(store).check_owner(owner)
        made = WebhookStore(store).create(owner, url)
    if as_json:
        typer.echo(json.dumps(asdict(made)))
    else:
        typer.echo(f"{made.secret}\n(signs what webhook {made.id} sends to {url})")


@webhooks.command("list")
def list_webhooks(as_json: Json = False) -> None:
    """List the webhooks, without their secrets."""
    with opened_store() as store:
        found = WebhookStore(store).all()
    rows = [{"id": one.id, "owner": one.owner, "url": one.url, "created_at": moment(one.created_at)} for one in found]
    show_rows(rows, ("id", "owner", "url", "created"), as_json=as_json)


@webhooks.command()
def deliveries(
    webhook_id: WebhookId,
    limit: Annotated[int, typer.Option(help="How many, newest first.", min=1)] = 50,
    as_json: Json = False,
) -> None:
    """Show what was delivered to a webhook, what waits, and what the last attempt ended in."""
    with opened_store() as store:
        found = WebhookStore(store).log(webhook_id, limit)
    rows = [{**asdict(one), "created_at": moment(one.created_at)} for one in found]
    show_rows(rows, ("id", "event", "of", "state", "attempts", "answer", "created"), as_json=as_json)


@webhooks.command()
def delete(webhook_id: WebhookId) -> None:
    """Forget a webhook, and what was to be delivered to it."""
    with opened_store() as store:
        found = WebhookStore(store).delete(webhook_id)
    if not found:
        raise FedsiftError(f"there is no webhook {webhook_id}")
    typer.echo(f"deleted {webhook_id}")
