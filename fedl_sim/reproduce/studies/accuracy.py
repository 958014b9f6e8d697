"""Figs. 6 and 7: accuracy over aggregations for S = 3, 4, 5 and N = 100, 200 on both data sets."""

from collections.abc import Sequence

from fedl_sim.reproduce.cell import Cell
from fedl_sim.reproduce.cell_folder import Results
from fedl_sim.reproduce.claims import accuracy_claims
from fedl_sim.reproduce.compared import FIGURE_SCHEMES, label_of
from fedl_sim.reproduce.figures import curve_grid
from fedl_sim.reproduce.measures import final, runs_by_seed, spread
from fedl_sim.reproduce.panel import Panel, curve_table, panel_of
from fedl_sim.reproduce.study import Report, Scope, Study
from fedl_sim.reproduce.tables import Table
from sampler.schemes import EVERYONE

__all__ = ["accuracy_study"]


def accuracy_study(template: Cell, scope: Scope) -> Study:
    """The grid of the paper, or a small one."""
    data_sets = ("digits",) if scope.quick else ("mnist", "fashion-mnist")
    sizes = (20, 40) if scope.quick else (100, 200)
    schemes = (*FIGURE_SCHEMES, EVERYONE)
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
        drawings = {
            f"accuracy-{data_set}": curve_grid(
                [p for p in panels if p.data_set == data_set],
                schemes,
                results,
                row=lambda panel: panel.n_devices,
                column=lambda panel: panel.sample_size,
                title=lambda panel: f"N = {panel.n_devices}, S = {panel.sample_size}",
            )
            for data_set in data_sets
        }
        tables = (_table(panels, schemes, results), accuracy_claims(panels, results))
        return Report((*tables, curve_table(panels, schemes, results)), drawings)

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


def _heading(panel: Panel) -> str:
    return f"{panel.data_set}, N={panel.n_devices}, S={panel.sample_size}"
