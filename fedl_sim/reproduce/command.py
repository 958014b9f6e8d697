"""`fedsift experiment NAME`: run what is missing, then write tables and figures."""

from collections.abc import Sequence, Set
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from fedl_sim.engines.compiled.options import compiled_for
from fedl_sim.errors import InvalidSettingError
from fedl_sim.loop.devices import SETTINGS_HELP, is_fair
from fedl_sim.network.profiles import BUDGETS
from fedl_sim.pictures import require_pictures
from fedl_sim.reproduce.cell import VERSION, Cell
from fedl_sim.reproduce.cell_folder import CellFolder
from fedl_sim.reproduce.effort import Effort, hours, kind_of
from fedl_sim.reproduce.finished_curves import TAKES_CURVES, FinishedCurves, read_finished_curves
from fedl_sim.reproduce.provenance import source_version
from fedl_sim.reproduce.registry import STUDIES, study_named
from fedl_sim.reproduce.report_files import write_report
from fedl_sim.reproduce.studies.tuning import read_rates
from fedl_sim.reproduce.study import Report, Scope, Study
from fedl_sim.terminal import FanOut, grouped, parse_numbers, parse_seeds, progress_bar

__all__ = ["experiment"]

_RATES = Path("docs/results/tune/tune.json")


@dataclass(frozen=True)
class ScopeOptions:
    """Options: which runs an experiment has."""

    quick: Annotated[bool, typer.Option("--quick", help="Small networks of digits: minutes instead of hours.")] = False
    seeds: Annotated[str, typer.Option(help="Networks to draw: comma-separated, or A:B for A..B−1.")] = "0:3"
    budget: Annotated[str, typer.Option(help=f"A step's limits: {', '.join(BUDGETS)}.")] = "loose"
    setting: Annotated[str, typer.Option(help=f"What a step is, {SETTINGS_HELP}, η tuned for each scheme.")] = "paper"
    rates: Annotated[Path, typer.Option(help="The tuned η: tune.json of the experiment tune.")] = _RATES
    sizes: Annotated[
        str | None, typer.Option(help="N of the panels to run, comma-separated [default: all of the paper's].")
    ] = None
    mesh: Annotated[
        Path | None,
        typer.Option(envvar="FEDSIFT_MESH_DIR", help="Folder of real networks for the experiment beyond, .json files."),
    ] = None
    draws: Annotated[
        int | None,
        typer.Option(help="Sets a network of random schemes and of the heuristic, at most [default: five].", min=1),
    ] = None
    aggregations: Annotated[
        int | None, typer.Option("--aggregations", "-k", help="K [default: by experiment].", min=1)
    ] = None

    def study(self, name: str, *, estimate: bool = False) -> tuple[Study, Scope]:
        """Return the experiment of that name with its scope.

        To estimate how long it takes, nothing has to be tuned: with equal batches no run takes longer than with epochs.
        """
        tuned = is_fair(self.setting) and (self.rates.exists() or not estimate)
        rates = read_rates(self.rates, name) if tuned else None
        meshes = () if self.mesh is None else tuple(map(str, sorted(self.mesh.glob("*.json"))))
        if self.mesh is not None and not meshes:
            raise InvalidSettingError(f"there is no .json file in {self.mesh}")
        scope = Scope(
            seeds=parse_seeds(self.seeds),
            quick=self.quick,
            draws=self.draws,
            rates=rates,
            sizes=None if self.sizes is None else parse_numbers(self.sizes, "sizes"),
            meshes=meshes,
        )
        return study_named(name, scope, budget=self.budget, aggregations=self.aggregations), scope


@grouped
def experiment(
    *,
    name: Annotated[str, typer.Argument(help=f"One of {', '.join(STUDIES)}.")],
    options: ScopeOptions,
    fan_out: FanOut,
    cells: Annotated[Path, typer.Option(help="Where finished runs are kept.")] = Path("build/experiments"),
    curves: Annotated[
        list[Path] | None,
        typer.Option(help="Take runs from curves.csv of this folder, which an experiment wrote; may be repeated."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder for tables and figures [default: in CELLS].")
    ] = None,
    report_only: Annotated[bool, typer.Option("--report-only", help="Run nothing; fail if a run is missing.")] = False,
    partial: Annotated[bool, typer.Option("--partial", help="Run nothing; report on what is finished.")] = False,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Run one of each kind if none is finished; say how long the rest takes.")
    ] = False,
) -> None:
    """Reproduce a part of the evaluation. Stopped at any moment, it goes on where it was when started again."""
    require_pictures()
    console = Console()
    study, scope = options.study(name, estimate=estimate)
    written = _written(name, curves or [])
    folder = CellFolder(cells / "cells", known={cell: run for one in written for cell, run in one.runs.items()})
    if estimate:
        _estimate(study, folder, console)
        return
    taken = {one.compiled_for for one in written}
    if not (report_only or partial):
        _require_one_processor(taken | {compiled_for()} if folder.missing(study.cells) else taken)
        _make(study, folder, console, fan_out)
    # By key: a method under two names is one run.
    missing = {cell.key for cell in folder.missing(study.cells)} if partial else set()
    finished = [cell for cell in study.cells if cell.key not in missing]
    processors = taken | folder.processors(finished)
    _require_one_processor(processors)
    report = study.report(folder.load(finished))
    if missing:
        report = _marked(report, len(missing), len({cell.key for cell in study.cells}))
    about = {
        "experiment": name,
        "settings": asdict(scope)
        | {"meshes": [Path(mesh).stem for mesh in scope.meshes]}
        | {k: getattr(options, k) for k in ("budget", "aggregations", "setting")},
        "reported_by": source_version(),
        "cell_version": VERSION,
        "compiled_for": next(iter(processors), compiled_for()),
        "first_cell": study.cells[0].settings if study.cells else None,
        "made_by": sorted({*folder.versions(finished), *(version for one in written for version in one.made_by)}),
    }
    kind = f"{options.budget}-fair" if options.setting == "fair" else options.budget
    target = output or cells / (f"{name}-quick" if options.quick else name) / kind
    for path in write_report(report, target, about):
        console.print(f"wrote {path}")
    for table in report.tables:
        if not table.bulk:
            # As it stands in the file: a terminal's own tables would cut numbers of wide ones.
            console.print(table.markdown(), markup=False, highlight=False, soft_wrap=True)


def _written(name: str, folders: Sequence[Path]) -> list[FinishedCurves]:
    """Read the runs of other folders, for experiments that need no more of a run than its curve."""
    if folders and name not in TAKES_CURVES:
        raise InvalidSettingError(f"{name} needs more than curves; these take them: {', '.join(TAKES_CURVES)}")
    return [read_finished_curves(folder) for folder in folders]


def _require_one_processor(names: Set[str]) -> None:
    """Runs that are compared share their random numbers bit by bit, so their code is compiled for one processor."""
    if len(names) > 1:
        raise InvalidSettingError(
            f"these runs were compiled for different processors: {', '.join(sorted(names))}; set NUMBA_CPU_NAME to one "
            "of them and NUMBA_CPU_FEATURES to nothing, here and on workers, and remove the runs of the others"
        )


def _marked(report: Report, missing: int, total: int) -> Report:
    """Return the tables of an unfinished experiment, marked as such; pictures carry no mark, so there are none."""
    note = f"**Unfinished: {total - missing} of {total} runs.** A point stands where nothing has run."
    return Report(tuple(replace(table, notes=(note, *table.notes)) for table in report.tables))


def _make(study: Study, folder: CellFolder, console: Console, fan_out: FanOut) -> None:
    left = dict.fromkeys(folder.missing(study.cells))
    effort = Effort()
    for cell, seconds in folder.seconds(study.cells):
        effort.learn(cell, seconds)
    with progress_bar(console) as bar:
        task = bar.add_task("runs", total=len(left))

        def advance(cell: Cell, seconds: float) -> None:
            left.pop(cell, None)
            effort.learn(cell, seconds)
            rest = hours(effort.seconds(left))
            bar.update(task, advance=1, description=f"{cell.data_set}, {cell.name}, seed {cell.seed}; {rest} of work")

        folder.make(study.cells, processes=fan_out.processes, dask=fan_out.dask, on_cell=advance)


def _estimate(study: Study, folder: CellFolder, console: Console) -> None:
    effort = Effort()
    for cell, seconds in folder.seconds(study.cells):
        effort.learn(cell, seconds)
    folder.make(effort.unknown(study.cells), on_cell=effort.learn)
    missing = folder.missing(study.cells)
    for kind in dict.fromkeys(map(kind_of, study.cells)):
        mine = [cell for cell in dict.fromkeys(study.cells) if kind_of(cell) == kind]
        todo = [cell for cell in missing if kind_of(cell) == kind]
        told = f"{len(mine)} runs of {effort.seconds(mine[:1]):.1f} s, {hours(effort.seconds(todo))} left"
        console.print(f"{', '.join(kind)}: {told}", markup=False, highlight=False)
    whole = effort.seconds(dict.fromkeys(study.cells))
    console.print(f"{study.name}: {hours(whole)} of one core in all, {hours(effort.seconds(missing))} left")
