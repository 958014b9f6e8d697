"""Fig. 8: datapoints processed until a share of a reference accuracy (60 %) is reached."""

from collections.abc import Sequence

from fedl_sim.reproduce.cell import Cell
from fedl_sim.reproduce.cell_folder import Results
from fedl_sim.reproduce.compared import ACCURACY_SCHEMES, AGAIN, label_of
from fedl_sim.reproduce.figures.points import resources_figures
from fedl_sim.reproduce.figures.rows import rows_of
from fedl_sim.reproduce.measures import reached_text, runs_by_seed
from fedl_sim.reproduce.panel import Panel, cells_by_network, panel_of
from fedl_sim.reproduce.study import Report, Scope, Study
from fedl_sim.reproduce.tables import Table

__all__ = ["LEVELS", "N_DEVICES", "REFERENCE", "SAMPLE_SIZE", "resources_study"]

REFERENCE = 0.60
LEVELS = (0.80, 0.90, 0.95, 1.0)
N_DEVICES, SAMPLE_SIZE = 100, 5
_ROWS = (*ACCURACY_SCHEMES, AGAIN)


def resources_study(template: Cell, scope: Scope) -> Study:
    """N = 100 and S = 5 on both data sets, which are cells of the accuracy experiment; or a small network."""
    data_sets = ("digits",) if scope.quick else ("mnist", "fashion-mnist")
    panels = tuple(
        panel_of(
            template.sized(data_set, 40 if scope.quick else N_DEVICES, SAMPLE_SIZE),
            _ROWS,
            scope,
        )
        for data_set in data_sets
    )

    def report(results: Results) -> Report:
        tables = (_table(panels, results),)
        return Report(tables, resources_figures(rows_of(tables)))

    return Study("resources", cells_by_network(panels), report)


def _table(panels: Sequence[Panel], results: Results) -> Table:
    rows = []
    for scheme in _ROWS:
        row: dict[str, str | int | float | None] = {"scheme": label_of(scheme)}
        for panel in panels:
            for level in LEVELS:
                runs = runs_by_seed(results, panel.cells, scheme)
                cost = reached_text(runs, level * REFERENCE, lambda record: float(record.processed), digits=0)
                row[_heading(panel, level)] = cost
        rows.append(row)
    return Table(
        "resources",
        f"Datapoints processed until a share of {REFERENCE:.0%} accuracy is reached, mean ± deviation",
        ("scheme", *(_heading(panel, level) for panel in panels for level in LEVELS)),
        tuple(rows),
        (
            "A dash: not reached in every run; the percentage says in how many it was. Datapoints are counted at the "
            "end of an aggregation, so that a scheme may reach several levels with the same number.",
        ),
    )


def _heading(panel: Panel, level: float) -> str:
    return f"{panel.data_set}, {level:.0%}"
