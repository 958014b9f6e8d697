"""Figs. 6 and 7: accuracy over aggregations for S = 3, 4, 5 and N = 100, 200 on both data sets."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fedl_sim.experiments.cell import Cell, cells_of
from fedl_sim.experiments.measures import curve, final, runs_by_seed, spread
from fedl_sim.experiments.results import Results
from fedl_sim.experiments.schemes import COLOURS, EVERYONE, TABLE_SCHEMES, label_of
from fedl_sim.experiments.study import Drawing, Report, Scope, Study
from fedl_sim.experiments.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Panel", "accuracy_study", "curve_table", "panel_of"]


@dataclass(frozen=True)
class Panel:
    """One picture of the figure: a data set, N and S, with its cells."""

    data_set: str
    n_devices: int
    sample_size: int
    cells: tuple[Cell, ...]


def panel_of(template: Cell, schemes: Sequence[str], scope: Scope) -> Panel:
    """The cells of some schemes under a template's settings.

    FedL on all nodes is one run whatever S is, on the first of the networks only: nothing takes longer, and
    nothing differs less from network to network.
    """
    sampled = cells_of(template, schemes=tuple(s for s in schemes if s != EVERYONE), seeds=scope.seeds)
    n = template.realisation.n_devices
    if n is None:
        raise ValueError("an experiment names its number of devices")
    all_nodes: tuple[Cell, ...] = ()
    if EVERYONE in schemes:
        # Nothing moves, so that budgets of moving change nothing.
        same = replace(
            template,
            realisation=replace(template.realisation, budget="loose"),
            run=replace(template.run, sample_size=1),
        )
        all_nodes = cells_of(same, schemes=(EVERYONE,), seeds=scope.seeds[: scope.references])
    return Panel(template.data_set, n, template.run.sample_size, sampled + all_nodes)


def accuracy_study(template: Cell, scope: Scope) -> Study:
    """The grid of the paper, or a small one."""
    data_sets = ("digits",) if scope.quick else ("mnist", "fashion-mnist")
    sizes = (20, 40) if scope.quick else (100, 200)
    schemes = (*TABLE_SCHEMES, EVERYONE)
    panels = tuple(
        panel_of(
            replace(
                template,
                data_set=data_set,
                realisation=replace(template.realisation, n_devices=n),
                run=replace(template.run, sample_size=s),
            ),
            schemes,
            scope,
        )
        for data_set in data_sets
        for n in sizes
        for s in (3, 4, 5)
    )

    def report(results: Results) -> Report:
        drawings = {
            f"accuracy-{data_set}": _drawing([p for p in panels if p.data_set == data_set], schemes, results)
            for data_set in data_sets
        }
        return Report((_table(panels, schemes, results), curve_table(panels, schemes, results)), drawings)

    return Study("accuracy", tuple(cell for panel in panels for cell in panel.cells), report)


def _table(panels: Sequence[Panel], schemes: Sequence[str], results: Results) -> Table:
    rows = []
    for scheme in schemes:
        row: dict[str, str | int | float | None] = {"scheme": label_of(scheme)}
        for panel in panels:
            runs = runs_by_seed(results, panel.cells, scheme)
            row[_heading(panel)] = spread(final(runs)).text()
        rows.append(row)
    seeds = len({cell.seed for panel in panels for cell in panel.cells})
    aggregations = panels[0].cells[0].run.aggregations
    return Table(
        "accuracy",
        f"Final test accuracy after {aggregations} aggregations, mean ± deviation over {seeds} networks",
        ("scheme", *(_heading(panel) for panel in panels)),
        tuple(rows),
    )


def curve_table(panels: Sequence[Panel], schemes: Sequence[str], results: Results) -> Table:
    """Every curve, one row for each aggregation of a seed (the mean over its draws)."""
    columns = ("data_set", "n_devices", "sample_size", "scheme", "seed", "aggregation")
    fields = ("accuracy", "loss", "processed", "moved", "cost")
    rows: list[dict[str, str | int | float | None]] = []
    for panel in panels:
        for scheme in schemes:
            runs = runs_by_seed(results, panel.cells, scheme)
            values = {name: curve(runs, name) for name in fields} if runs else {}
            for row, seed in enumerate(runs):
                for k in range(values["accuracy"].shape[1]):
                    key = (panel.data_set, panel.n_devices, panel.sample_size, scheme, seed, k)
                    measured = {name: round(float(values[name][row, k]), 4) for name in fields}
                    rows.append({**dict(zip(columns, key, strict=True)), **measured})
    return Table("curves", "Every curve", (*columns, *fields), tuple(rows))


def _heading(panel: Panel) -> str:
    return f"{panel.data_set}, N={panel.n_devices}, S={panel.sample_size}"


def _drawing(panels: Sequence[Panel], schemes: Sequence[str], results: Results) -> Drawing:
    sizes = sorted({panel.n_devices for panel in panels})
    columns = sorted({panel.sample_size for panel in panels})

    def draw(figure: "Figure") -> None:
        grid = figure.subplots(len(sizes), len(columns), sharex=True, sharey=True, squeeze=False)
        for panel in panels:
            axes = grid[sizes.index(panel.n_devices), columns.index(panel.sample_size)]
            _curves(axes, panel, schemes, results)
        handles, labels = grid[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize="small")

    return Drawing(3.2 * len(columns), 2.8 * len(sizes) + 0.9, draw)


def _curves(axes: "Axes", panel: Panel, schemes: Sequence[str], results: Results) -> None:
    for number, scheme in enumerate(schemes):
        values = curve(runs_by_seed(results, panel.cells, scheme), "accuracy")
        k = np.arange(values.shape[1])
        mean = values.mean(axis=0)
        dashed = "offload" not in scheme and "+" not in scheme and scheme != EVERYONE
        colour = "black" if scheme == EVERYONE else COLOURS[number % 4]
        axes.plot(k, mean, color=colour, linestyle="--" if dashed else "-", label=label_of(scheme), linewidth=1.4)
        if values.shape[0] > 1:
            deviation = values.std(axis=0, ddof=1)
            axes.fill_between(k, mean - deviation, mean + deviation, color=colour, alpha=0.1, linewidth=0)
    axes.set(title=f"N = {panel.n_devices}, S = {panel.sample_size}", xlabel="aggregation", ylabel="test accuracy")
    axes.grid(alpha=0.3)
