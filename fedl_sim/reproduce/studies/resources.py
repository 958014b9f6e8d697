"""Fig. 8: datapoints processed until a share of a reference accuracy (60 %) is reached."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from fedl_sim.pictures import Drawing
from fedl_sim.reproduce.cell import Cell
from fedl_sim.reproduce.cell_folder import Results
from fedl_sim.reproduce.claims import Target, saving_claims
from fedl_sim.reproduce.compared import FIGURE_SCHEMES, colour_of, label_of, moves_data
from fedl_sim.reproduce.measures import runs_by_seed, to_target
from fedl_sim.reproduce.panel import Panel, curve_table, panel_of
from fedl_sim.reproduce.study import Report, Scope, Study
from fedl_sim.reproduce.tables import Spread, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["LEVELS", "REFERENCE", "resources_study"]

REFERENCE = 0.60
LEVELS = (0.80, 0.90, 0.95, 1.0)


def resources_study(template: Cell, scope: Scope) -> Study:
    """N = 100 and S = 5 on both data sets, which are cells of the accuracy experiment; or a small network."""
    data_sets = ("digits",) if scope.quick else ("mnist", "fashion-mnist")
    panels = tuple(
        panel_of(
            template.sized(data_set, 40 if scope.quick else 100, 5),
            FIGURE_SCHEMES,
            scope,
        )
        for data_set in data_sets
    )

    def report(results: Results) -> Report:
        drawing = Drawing(5.0 * len(panels), 4.6, lambda figure: _bars(figure, panels, results))
        claims = saving_claims(
            ("resources-claims", "The paper's sentences on Fig. 8"),
            {"datapoints": "40 %"},
            [Target(panel, level * REFERENCE) for panel in panels for level in LEVELS],
            results,
        )
        tables = (_table(panels, results), claims, curve_table(panels, FIGURE_SCHEMES, results))
        return Report(tables, {"resources": drawing})

    return Study("resources", tuple(cell for panel in panels for cell in panel.cells), report)


def _processed(panel: Panel, scheme: str, level: float, results: Results) -> tuple[Spread | None, float]:
    runs = runs_by_seed(results, panel.cells, scheme)
    return to_target(runs, level * REFERENCE, lambda record: float(record.processed))


def _table(panels: Sequence[Panel], results: Results) -> Table:
    rows = []
    for scheme in FIGURE_SCHEMES:
        row: dict[str, str | int | float | None] = {"scheme": label_of(scheme)}
        for panel in panels:
            for level in LEVELS:
                found, share = _processed(panel, scheme, level, results)
                row[_heading(panel, level)] = f"– {share:.0%}" if found is None else found.text(0)
        rows.append(row)
    return Table(
        "resources",
        f"Datapoints processed until a share of {REFERENCE:.0%} accuracy is reached, mean ± deviation",
        ("scheme", *(_heading(panel, level) for panel in panels for level in LEVELS)),
        tuple(rows),
        ("A dash: not reached in every run; the percentage says in how many it was.",),
    )


def _heading(panel: Panel, level: float) -> str:
    return f"{panel.data_set}, {level:.0%}"


def _bars(figure: "Figure", panels: Sequence[Panel], results: Results) -> None:
    grid = figure.subplots(1, len(panels), squeeze=False)[0]
    width = 0.8 / len(FIGURE_SCHEMES)
    for axes, panel in zip(grid, panels, strict=True):
        for number, scheme in enumerate(FIGURE_SCHEMES):
            found = [_processed(panel, scheme, level, results)[0] for level in LEVELS]
            places = np.arange(len(LEVELS)) + (number - (len(FIGURE_SCHEMES) - 1) / 2) * width
            heights = [np.nan if f is None else f.mean for f in found]
            errors = [np.nan if f is None else f.deviation for f in found]
            axes.bar(
                places,
                heights,
                width,
                yerr=errors,
                color=colour_of(scheme),
                alpha=1.0 if moves_data(scheme) else 0.45,
                label=label_of(scheme),
                error_kw={"elinewidth": 0.8},
            )
        axes.set_xticks(range(len(LEVELS)), [f"{level:.0%} of ref." for level in LEVELS])
        axes.set(
            title=f"{panel.data_set}, N = {panel.n_devices}, S = {panel.sample_size}", ylabel="datapoints processed"
        )
    handles, labels = grid[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, fontsize="small")
