"""`fedsift experiment NAME`: run what is missing, then write tables and figures."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markdown import Markdown

from fedl_sim.errors import InvalidSettingError
from fedl_sim.loop.loop import RunSettings
from fedl_sim.network.profiles import BUDGETS
from fedl_sim.network.realisation import RealisationSettings
from fedl_sim.pictures import require_pictures
from fedl_sim.reproduce.cell import Cell
from fedl_sim.reproduce.cell_folder import CellFolder
from fedl_sim.reproduce.provenance import source_version
from fedl_sim.reproduce.registry import STUDIES
from fedl_sim.reproduce.report_files import write_report
from fedl_sim.reproduce.study import Scope, Study
from fedl_sim.terminal import FanOut, grouped, parse_seeds, progress_bar

__all__ = ["experiment"]

# Aggregations that each experiment trains for: the paper's table counts up to 17.
AGGREGATIONS = {"accuracy": 10, "churn": 20, "convergence": 20, "resources": 10, "sampling": 10, "solver": 10}


@grouped
def experiment(
    *,
    name: Annotated[str, typer.Argument(help=f"One of {', '.join(STUDIES)}.")],
    quick: Annotated[bool, typer.Option("--quick", help="Small networks of digits: minutes instead of hours.")] = False,
    seeds: Annotated[str, typer.Option(help="Networks to draw: comma-separated, or A:B for A..B−1.")] = "0:3",
    budget: Annotated[str, typer.Option(help=f"A step's limits: {', '.join(BUDGETS)}.")] = "loose",
    references: Annotated[
        int | None,
        typer.Option(help="On how many networks FedL on all nodes runs too; it takes longest [default: all].", min=1),
    ] = None,
    draws: Annotated[
        int | None, typer.Option(help="Random sets a network, at most [default: five, as in the paper].", min=1)
    ] = None,
    aggregations: Annotated[
        int | None, typer.Option("--aggregations", "-k", help="K [default: by experiment].")
    ] = None,
    fan_out: FanOut,
    cells: Annotated[Path, typer.Option(help="Where finished runs are kept.")] = Path("build/experiments"),
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder for tables and figures [default: in CELLS].")
    ] = None,
    report_only: Annotated[bool, typer.Option("--report-only", help="Run nothing; fail if a run is missing.")] = False,
) -> None:
    """Reproduce a part of the evaluation. Stopped at any moment, it goes on where it was when started again."""
    require_pictures()
    console = Console()
    scope = Scope(parse_seeds(seeds), quick=quick, references=references, draws=draws)
    study = _study(name, scope, budget=budget, aggregations=aggregations)
    folder = CellFolder(cells / "cells")
    if not report_only:
        _make(study, folder, console, fan_out)
    report = study.report(folder.load(study.cells))
    about = {
        "experiment": name,
        "settings": asdict(scope) | {"budget": budget, "aggregations": aggregations},
        "reported_by": source_version(),
        "made_by": folder.versions(study.cells),
    }
    target = output or cells / (f"{name}-quick" if quick else name) / budget
    for path in write_report(report, target, about):
        console.print(f"wrote {path}")
    for table in report.tables:
        if not table.bulk:
            console.print(Markdown(table.markdown()))


def _study(name: str, scope: Scope, *, budget: str, aggregations: int | None) -> Study:
    if name not in STUDIES:
        raise InvalidSettingError(f"unknown experiment {name!r}; known: {', '.join(STUDIES)}")
    template = Cell(
        data_set="digits",
        scheme="random",
        seed=0,
        realisation=RealisationSettings(budget=budget),
        run=RunSettings(aggregations=aggregations or AGGREGATIONS[name], transfer="redraw"),
    )
    return STUDIES[name](template, scope)


def _make(study: Study, folder: CellFolder, console: Console, fan_out: FanOut) -> None:
    todo = len(folder.missing(study.cells))
    with progress_bar(console) as bar:
        task = bar.add_task("runs", total=todo)

        def advance(cell: Cell) -> None:
            bar.update(task, advance=1, description=f"{cell.data_set}, {cell.scheme}, seed {cell.seed}")

        folder.make(study.cells, processes=fan_out.processes, dask=fan_out.dask, on_cell=advance)
