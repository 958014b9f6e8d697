"""`fedsift plan`: a plan on the command line, from a request as the service takes it or from a network alone."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import BaseModel
from rich.console import Console
from rich.table import Table

from app.commands.environment import read_settings
from app.commands.given_file import read_request
from app.commands.output.text_table import text_table
from app.commands.refusals import print_problem
from app.http.problems import ServiceError
from app.plans.answer import DiagnosisOut, PlanOut, asked_for
from app.plans.diagnosis import diagnose
from app.plans.planning import PlanQuery, make_plan
from app.plans.request import PlanParameters, PlanRequest
from app.wire.arrays import read_model, read_plainly
from app.wire.base import given
from app.wire.fleet import Translation
from app.wire.pointers import located
from solver import load_network

__all__ = ["plan"]


def plan(
    network: Annotated[
        Path,
        typer.Argument(
            help="JSON as POST /v1/plans takes it, or its `network` or `fleet` alone, or a network as .npz; - reads "
            "JSON from standard input."
        ),
    ],
    sample_size: Annotated[int | None, typer.Option("-s", "--sample-size", help="How many devices train.")] = None,
    horizon: Annotated[int | None, typer.Option("-t", "--horizon", help="Steps to plan.")] = None,
    sampler: Annotated[str | None, typer.Option(help="Who chooses the devices.")] = None,
    transfer: Annotated[str | None, typer.Option(help="send_once, or redraw as in the paper.")] = None,
    transmit_weight: Annotated[
        float | None, typer.Option("--weight-transmit", help="What a unit of transmit cost adds to the objective.")
    ] = None,
    processing_weight: Annotated[
        float | None, typer.Option("--weight-processing", help="What a unit of processing cost adds to the objective.")
    ] = None,
    energy_weight: Annotated[
        float | None,
        typer.Option("--weight-energy", help="What a joule adds to the objective, in a fleet that tells joules."),
    ] = None,
    planning: Annotated[str | None, typer.Option(help="step by step, or the whole horizon as one problem.")] = None,
    seed: Annotated[int | None, typer.Option(help="For samplers that draw.")] = None,
    explain: Annotated[
        str | None, typer.Option(help="Devices, as 3,7, or all: show their gain beside that of each device picked.")
    ] = None,
    orders: Annotated[bool, typer.Option("--orders", help="Show which datapoints each device sends where.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only diagnose the network.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer the service would give.")] = False,
) -> None:
    """Choose devices and plan their offloading. Options win over what the file says."""
    options = given(
        sample_size=sample_size, horizon=horizon, sampler=sampler, transfer=transfer, planning=planning, seed=seed
    )
    weights = given(transmit=transmit_weight, processing=processing_weight, energy=energy_weight)
    options |= {"weights": weights} if weights else {}
    options |= {} if explain is None else _explanation(explain)
    options |= {"orders": True} if orders else {}
    try:
        answer = _answer(network, options, dry_run=dry_run)
    except OSError as error:
        typer.echo(f"{network}: {error.strerror}", err=True)
        raise typer.Exit(2) from error
    except ServiceError as error:
        print_problem(error.problem().model_dump(exclude_defaults=True), as_json=as_json)
        raise typer.Exit(1) from error
    if as_json:
        typer.echo(answer.__pydantic_serializer__.to_json(answer, exclude_none=True).decode())
    elif isinstance(answer, DiagnosisOut):
        _show_diagnosis(answer)
    else:
        _show(answer)


def _explanation(text: str) -> dict[str, Any]:
    """The parameters behind `--explain`."""
    if text == "all":
        return {"explain_all": True}
    try:
        return {"explain": [int(word) for word in text.split(",")]}
    except ValueError:
        raise typer.BadParameter("name devices, as 3,7, or all", param_hint="--explain") from None


def _answer(path: Path, options: dict[str, Any], *, dry_run: bool) -> PlanOut | DiagnosisOut:
    query, output, asked = _from_archive(path, options) if path.suffix == ".npz" else _from_json(path, options)
    if dry_run or asked:
        return DiagnosisOut.from_domain(diagnose(query))
    return PlanOut.from_domain(make_plan(query), output, **asked_for(query))


def _from_archive(path: Path, options: dict[str, Any]) -> tuple[PlanQuery, str, bool]:
    with located({}):
        network = load_network(path)
    parameters = read_plainly(PlanParameters, json.dumps(options).encode())
    return parameters.query(network, read_settings()), parameters.output, False


def _from_json(path: Path, options: dict[str, Any]) -> tuple[PlanQuery, str, bool]:
    content, text = read_request(path)
    if isinstance(content, dict):
        if isinstance(content.get("weights"), dict) and "weights" in options:
            options = options | {"weights": content["weights"] | options["weights"]}
        text = json.dumps({**content, **options}).encode()
    request = read_model(PlanRequest, text)
    return request.to_domain(read_settings()), request.output, request.dry_run


def _show(answer: PlanOut) -> None:
    console = Console(markup=False)
    sampled = map(str, answer.sampled) if answer.sampled_ids is None else answer.sampled_ids
    console.print(f"sampled devices {', '.join(sampled)}: {answer.status}")
    best = f"at most {answer.horizon_gap:.1e} above the best plan for these devices"
    console.print(f"objective {answer.objective:.6g}, {best}")
    if answer.set_gap is not None:
        console.print(f"no choice of as many devices is more than {answer.set_gap:.1%} better")
    if answer.sampler_status == "time_limit":
        console.print("the search for devices was cut short by the time limit")
    _show_gains(console, answer)
    table = Table("step", "transfers", "datapoints sent", "useful received", "objective", "gap")
    for step in answer.steps:
        moved = step.transfers
        table.add_row(
            str(step.step),
            "-" if moved is None else str(len(moved.source)),
            "-" if moved is None else f"{sum(moved.datapoints):.1f}",
            f"{sum(step.received):.1f}",
            f"{step.objective:.6g}",
            f"{step.relative_gap:.1e}",
        )
    console.print(table)
    _show_orders(console, answer)


def _show_orders(console: Console, answer: PlanOut) -> None:
    """The datapoints of each device's own order that it sends, step by step."""
    if answer.orders is None:
        return
    table = Table("device", "step", "to", "first", "count", title="orders", title_justify="left")
    for order in answer.orders:
        for send in order.sends:
            ends = (order.id or order.device, send.step, send.to_id or send.to, send.first, send.count)
            table.add_row(*map(str, ends))
    console.print(table)


def _show_gains(console: Console, answer: PlanOut) -> None:
    """For every pick the gains of the devices that were asked for, beside that of the device picked."""
    told = [pick for pick in answer.trace or [] if pick.gains is not None]
    if not told:
        return
    devices = sorted({device for pick in told if pick.gains for device in pick.gains.device})
    headings = ("pick", "device", "its gain", *(f"gain of {device}" for device in devices))
    rows = []
    for number, pick in enumerate(told, start=1):
        gains = dict(zip(pick.gains.device, pick.gains.gain, strict=True)) if pick.gains else {}
        others = (f"{gains[device]:.6g}" if device in gains else "-" for device in devices)
        rows.append((str(number), str(pick.device), f"{pick.score:.6g}", *others))
    console.print(text_table(headings, rows), highlight=False, soft_wrap=True)


def _show_diagnosis(found: DiagnosisOut) -> None:
    console = Console(markup=False)
    console.print("a plan exists" if found.feasible else "no plan exists: too few devices can be sampled")
    table = Table("what", "count", "first of them")
    table.add_row("devices", str(found.n_devices), "")
    table.add_row("links", str(found.n_links), "")
    table.add_row("can be sampled", str(found.eligible), "")
    table.add_row("connected parts", str(found.connectivity.components), "")
    groups: dict[str, BaseModel] = {"without links": found.connectivity.isolated, **dict(found.tight)}
    for name, group in groups.items():
        label = name if name.startswith("without") else f"tight {name}"
        table.add_row(label, str(group.count), ", ".join(map(str, group.ids or group.devices)))  # type: ignore[attr-defined]
    console.print(table)
    for one in found.obstacles:
        console.print(f"device {one.device if one.id is None else one.id}, step {one.step}: {one.reason}")
    if found.fleet is not None:
        _show_fleet(console, found.fleet)


def _show_fleet(console: Console, told: Translation) -> None:
    """What was assumed where the fleet leaves something out."""
    for one in told.assumptions:
        console.print(f"{one.count} without {one.field}: assumed {one.assumed}")
    left_out = told.links_left_out
    console.print(f"links left out: {left_out.across_groups} between groups, {left_out.unwilling} of unwilling devices")
    known = told.similarity
    console.print(f"similarity of links: {known.measured} measured, {known.derived} derived, {known.assumed} assumed")
