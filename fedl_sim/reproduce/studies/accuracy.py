"""Figs. 6 and 7: accuracy over aggregations for S = 3, 4, 5 and N = 100, 200 on both data sets."""

from collections.abc import Sequence

from fedl_sim.reproduce.cell import Cell
from fedl_sim.reproduce.cell_folder import Results
from fedl_sim.reproduce.compared import ACCURACY_SCHEMES, AGAIN, label_of
from fedl_sim.reproduce.figures.curve_grid import accuracy_figures
from fedl_sim.reproduce.figures.rows import rows_of
from fedl_sim.reproduce.measures import final, runs_by_seed, spread
from fedl_sim.reproduce.panel import Panel, cells_by_network, curve_table, panel_of
from fedl_sim.reproduce.study import Report, Scope, Study
from fedl_sim.reproduce.tables import Table
from sampler.schemes import EVERYONE

__all__ = ["accuracy_study"]


def accuracy_study(template: Cell, scope: Scope) -> Study:
    """The grid of the paper, or a small one."""
    data_sets = ("digits",) if scope.quick else ("mnist", "fashion-mnist")
    sizes = scope.among((20, 40) if scope.quick else (100, 200))
    schemes = (*ACCURACY_SCHEMES, AGAIN, EVERYONE)
    panels = tuple(
        panel_of(
            template.sized(data_set, n, s),
            schemes,
            scope,
        )
        for data_set in data_sets
        for n in sizes
        for s in (3, 4, 5)
    )

    def report(results: Results) -> Report:
        tables = (_table(panels, schemes, results), curve_table(panels, schemes, results))
        return Report(tables, accuracy_figures(rows_of(tables)))

    return Study("accuracy", cells_by_network(panels), report)


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


def _heading(panel: Panel) -> str:
    return f"{panel.data_set}, N={panel.n_devices}, S={panel.sample_size}"
