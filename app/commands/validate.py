"""`fedsift validate`: start an experiment on a service, watch it, and draw its curves."""

import json
import secrets
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from app.commands.client import Client, ServiceRefusal
from app.commands.output.curves import check_picture, save_curves
from app.commands.output.text_table import text_table
from app.commands.refusals import print_problem
from solver.errors import FedsiftError

__all__ = ["validate", "verdict_text"]

_ENDED = {"succeeded", "failed", "cancelled"}


def validate(
    request: Annotated[
        str, typer.Argument(help="A file as POST /v1/validations takes it, - for standard input, or the id of one.")
    ],
    url: Annotated[str, typer.Option(envvar="FEDSIFT_URL", help="The service.")] = "http://127.0.0.1:8000",
    key: Annotated[str | None, typer.Option(envvar="FEDSIFT_API_KEY", help="An API key, if it asks for one.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to draw the curves: .png, .svg or .pdf.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON, and no progress.")] = False,
) -> None:
    """Train for real under several schemes, follow it, and compare."""
    # Progress and messages go to standard error; standard output has only the result.
    console = Console(stderr=True)
    try:
        if output is not None:
            check_picture(output)
        client = Client(url, key)
        place = _place(client, request)
        _announce(client, place)
        try:
            result = _follow(client, place, Console(quiet=True) if as_json else console)
        except KeyboardInterrupt:
            typer.echo(f"it goes on; come back with: fedsift validate {place.rsplit('/', 1)[1]}", err=True)
            raise typer.Exit(130) from None
        if output is not None and any(scheme["accuracy"]["mean"] for scheme in result["schemes"]):
            save_curves(result, output)
            typer.echo(f"wrote {output}", err=True)
    except ServiceRefusal as refusal:
        print_problem(refusal.problem, as_json=as_json)
        raise typer.Exit(2) from refusal
    except (OSError, FedsiftError) as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(2) from error
    if as_json:
        typer.echo(json.dumps(result))
    else:
        _show(result)
    if result["state"] != "succeeded":
        raise typer.Exit(1)


def _place(client: Client, request: str) -> str:
    if request.startswith("val_"):
        return f"/v1/validations/{request}"
    body = typer.get_binary_stream("stdin").read() if request == "-" else Path(request).read_bytes()
    # With an idempotency key, a call whose answer was lost can be repeated without a second experiment.
    made = client.call("POST", "/v1/validations", body, **{"Idempotency-Key": secrets.token_hex(16)})
    return f"/v1/validations/{made['id']}"


def _announce(client: Client, place: str) -> None:
    """Tell the validation's id, since a pipe shows no progress, and whether it has to wait for a worker."""
    typer.echo(f"validation {place.rsplit('/', 1)[1]}", err=True)
    try:
        waits = client.call("GET", "/readyz")["validations"] == "no_workers"
    except (OSError, ServiceRefusal):
        return  # it is accepted; who follows it comes back until the service answers
    if waits:
        typer.echo("no worker is there: it waits until one is started, with `fedsift worker`", err=True)


def _follow(client: Client, place: str, console: Console) -> dict[str, Any]:
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as bar:
        task = bar.add_task("queued", total=1.0)
        for event in client.events(f"{place}/events"):
            if event.kind == "round":
                body = event.body
                told = f"{body['scheme']}, seed {body['seed']}: accuracy {body['accuracy']:.3f}"
                bar.update(task, completed=body["progress"], description=told)
            elif event.body["state"] in _ENDED:
                break
            else:
                bar.update(task, description=event.body["state"])
    return client.get_patiently(place)


def _show(result: dict[str, Any]) -> None:
    console = Console(markup=False)
    if "failure" in result:
        failure = result["failure"]
        where = f"{failure['type']} in {failure['scheme']}, seed {failure['seed']}"
        console.print(f"{where}: {failure['detail']}", highlight=False)
    headings = ("scheme", "runs", "accuracy", f"K→{result['target']:g}", "moved", "kept", "cost", "kept, as predicted?")
    typer.echo(f"{result['id']}: {result['state']}")
    typer.echo(text_table(headings, [_row(scheme) for scheme in result["schemes"]]))


def _row(scheme: dict[str, Any]) -> tuple[str, ...]:
    reached = scheme.get("aggregations_to_target")
    return (
        scheme["scheme"],
        _runs(scheme),
        _last(scheme["accuracy"]),
        f"({scheme['reached']:.0%})" if reached is None else f"{reached:.1f}",
        *(f"{scheme[name]:.0f}" for name in ("moved", "useful", "cost")),
        verdict_text(scheme["verdict"]),
    )


def _runs(scheme: dict[str, Any]) -> str:
    done = f"{scheme['runs']}/{scheme['runs_planned']}"
    # A service of an earlier release does not tell it.
    diverged = scheme.get("diverged", 0)
    return f"{done}, {diverged} diverged" if diverged else done


def verdict_text(verdict: dict[str, Any]) -> str:
    """Return the verdict in words, with the relative error."""
    outcome, error = str(verdict["outcome"]).replace("_", " "), verdict.get("relative_error")
    return outcome if error is None else f"{outcome} ({error:+.1%})"


def _last(curve: dict[str, Any]) -> str:
    return f"{curve['mean'][-1]:.3f} ± {curve['deviation'][-1]:.3f}" if curve["mean"] else "-"
