"""A panel of a figure: the runs of several schemes for one data set, N and S."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fedl_sim.reproduce.cell import Cell
from fedl_sim.reproduce.cell_folder import Results
from fedl_sim.reproduce.compared import cells_of
from fedl_sim.reproduce.measures import runs_by_seed
from fedl_sim.reproduce.study import Scope
from fedl_sim.reproduce.tables import Table
from sampler.schemes import EVERYONE

__all__ = ["Panel", "cells_by_network", "curve_table", "panel_of"]

# No data moves, and the sampler does not use the budgets of moving.
_BLIND = ("random", "heuristic", "ours", "greedy:resemblance")


@dataclass(frozen=True)
class Panel:
    """One plot of a figure: a data set, N and S, with its cells."""

    data_set: str
    n_devices: int
    sample_size: int
    cells: tuple[Cell, ...]


def panel_of(template: Cell, schemes: Sequence[str], scope: Scope) -> Panel:
    """Return the panel of some schemes with a template's settings.

    FedL on all nodes does not depend on S: panels share its runs. Runs that do not depend on the budgets are shared by
    all budgets.
    """
    still = replace(template, realisation=replace(template.realisation, budget="loose"))
    sampled = tuple(
        cell
        for scheme in schemes
        if scheme != EVERYONE
        for cell in cells_of(
            still if scheme in _BLIND else template, schemes=(scheme,), seeds=scope.seeds, draws=scope.draws
        )
    )
    n = template.realisation.n_devices
    if n is None:
        raise ValueError("an experiment names its number of devices")
    all_nodes: tuple[Cell, ...] = ()
    if EVERYONE in schemes:
        same = replace(still, run=replace(template.run, sample_size=1))
        all_nodes = cells_of(same, schemes=(EVERYONE,), seeds=scope.seeds)
    cells = tuple(scope.under_setting(cell) for cell in sampled + all_nodes)
    return Panel(template.data_set, n, template.run.sample_size, cells)


def cells_by_network(panels: Sequence[Panel]) -> tuple[Cell, ...]:
    """Return all cells, seed after seed: with the first networks alone, a table has all its rows and columns."""
    cells = [cell for panel in panels for cell in panel.cells]
    seeds = {seed: place for place, seed in enumerate(dict.fromkeys(cell.seed for cell in cells))}
    return tuple(sorted(cells, key=lambda cell: seeds[cell.seed]))


def curve_table(panels: Sequence[Panel], schemes: Sequence[str], results: Results) -> Table:
    """Return all curves, one row for each aggregation of a run."""
    columns = ("data_set", "n_devices", "sample_size", "scheme", "seed", "draw", "aggregation", "accuracy", "processed")
    runs = [
        ((panel.data_set, panel.n_devices, panel.sample_size, scheme, seed, run.draw), run)
        for panel in panels
        for scheme in schemes
        for seed, draws in runs_by_seed(results, panel.cells, scheme).items()
        for run in draws
    ]
    rows: tuple[dict[str, str | int | float | None], ...] = tuple(
        dict(zip(columns, (*key, k, round(record.accuracy, 4), record.processed), strict=True))
        for key, run in runs
        for k, record in enumerate(run.aggregations)
    )
    return Table("curves", "Every curve", columns, rows, bulk=True)
