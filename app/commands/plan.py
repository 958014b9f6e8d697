"""`fedsift plan`: a plan on the command line, from the same JSON that the service takes."""

from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError
from rich.console import Console
from rich.table import Table

from app.planning import InfeasiblePlanError, RefusedPlanError, make_plan
from app.problems import InfeasibleError, InvalidRequestError, ServiceError
from app.schemas.plan import PlanOut, PlanRequest
from app.schemas.pointers import refusal
from app.settings import Settings

__all__ = ["plan"]


def plan(
    network: Annotated[Path, typer.Argument(help="A request as POST /v1/plans takes it; - reads standard input.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer the service would give.")] = False,
) -> None:
    """Choose devices and plan their offloading."""
    try:
        text = typer.get_binary_stream("stdin").read() if str(network) == "-" else network.read_bytes()
    except OSError as error:
        typer.echo(f"{network}: {error.strerror}", err=True)
        raise typer.Exit(2) from error
    try:
        answer = _planned(text)
    except ServiceError as error:
        _explain(error, as_json=as_json)
        raise typer.Exit(1) from error
    if as_json:
        typer.echo(answer.__pydantic_serializer__.to_json(answer, exclude_none=True).decode())
    else:
        _show(answer)


def _planned(text: bytes) -> PlanOut:
    try:
        request = PlanRequest.model_validate_json(text)
        result = make_plan(request.to_domain(Settings()))
    except ValidationError as error:
        raise refusal(error) from None
    except InfeasiblePlanError as error:
        raise InfeasibleError(str(error), error.obstacles) from error
    except RefusedPlanError as error:
        raise InvalidRequestError.at(f"/{error.field}", str(error)) from error
    return PlanOut.from_domain("local", result, request.output)


def _explain(error: ServiceError, *, as_json: bool) -> None:
    problem = error.problem()
    if as_json:
        typer.echo(problem.model_dump_json(exclude_defaults=True))
        return
    typer.echo(f"{problem.title}: {problem.detail}", err=True)
    for item in problem.errors:
        typer.echo(f"  {item.pointer or '/'}: {item.detail}", err=True)
    for one in problem.devices:
        typer.echo(f"  device {one.device}, step {one.step}: {one.reason}", err=True)


def _show(answer: PlanOut) -> None:
    console = Console()
    console.print(f"sampled devices {', '.join(map(str, answer.sampled))}: {answer.status}")
    console.print(f"objective {answer.objective:.6g}, at most {answer.relative_gap:.1e} above the optimum (relative)")
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
