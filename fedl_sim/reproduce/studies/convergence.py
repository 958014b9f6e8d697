"""Table I: aggregations until a share of what FedL on all nodes reaches, S = 6, N = 600, 700, 800."""

from collections.abc import Mapping, Sequence

from fedl_sim.reproduce.cell import Cell
from fedl_sim.reproduce.cell_folder import Results
from fedl_sim.reproduce.compared import SHARES, TABLE_SCHEMES, label_of
from fedl_sim.reproduce.figures.curve_grid import convergence_figures
from fedl_sim.reproduce.figures.rows import rows_of
from fedl_sim.reproduce.measures import final, reached_text, runs_by_seed, spread, target_of
from fedl_sim.reproduce.panel import Panel, cells_by_network, curve_table, panel_of
from fedl_sim.reproduce.study import Report, Scope, Study
from fedl_sim.reproduce.tables import Table
from sampler.schemes import EVERYONE

__all__ = ["PAPER_TABLE", "convergence_study"]

_SIZES = (600, 700, 800)
# The paper's Table I; None is its dash: not reached.
PAPER_TABLE: Mapping[str, Mapping[str, tuple[int | None, ...]]] = {
    "gcn_branch": {"mnist": (8, 9, 11), "fashion-mnist": (8, 5, 7)},
    "random": {"mnist": (None, None, None), "fashion-mnist": (None, 14, 17)},
    "heuristic": {"mnist": (None, 17, None), "fashion-mnist": (14, 17, 7)},
    "gcn_branch+fast": {"mnist": (4, 4, 6), "fashion-mnist": (6, 4, 5)},
    "random-offload": {"mnist": (11, 14, 10), "fashion-mnist": (14, 12, 13)},
    "heuristic-offload": {"mnist": (None, 15, None), "fashion-mnist": (9, 11, 5)},
}


def convergence_study(template: Cell, scope: Scope) -> Study:
    """The columns of the table, or small ones."""
    data_sets = ("digits",) if scope.quick else ("mnist", "fashion-mnist")
    sizes = scope.among((40, 60) if scope.quick else _SIZES)
    schemes = (*TABLE_SCHEMES, EVERYONE)
    panels = tuple(
        panel_of(
            template.sized(data_set, n, 6),
            schemes,
            scope,
        )
        for data_set in data_sets
        for n in sizes
    )

    def report(results: Results) -> Report:
        tables = (_table(panels, results), _datapoints(panels, results), curve_table(panels, schemes, results))
        return Report(tables, convergence_figures(rows_of(tables)))

    return Study("convergence", cells_by_network(panels), report)


def _target(panel: Panel, results: Results) -> float:
    return target_of(panel.data_set, final(runs_by_seed(results, panel.cells, EVERYONE)))


def _table(panels: Sequence[Panel], results: Results) -> Table:
    rows = []
    for scheme in TABLE_SCHEMES:
        row: dict[str, str | int | float | None] = {"scheme": label_of(scheme)}
        for panel in panels:
            runs = runs_by_seed(results, panel.cells, scheme)
            ours = reached_text(runs, _target(panel, results), lambda record: float(record.aggregation), digits=1)
            row[_heading(panel)] = f"{ours} {_papers(panel, scheme)}".strip()
        rows.append(row)
    reference: dict[str, str | int | float | None] = {"scheme": "final accuracy, all nodes"}
    for panel in panels:
        reference[_heading(panel)] = spread(final(runs_by_seed(results, panel.cells, EVERYONE))).text()
    return Table(
        "convergence",
        "Aggregations until the share of all nodes' final accuracy is reached, measured here (and in the paper)",
        ("scheme", *(_heading(panel) for panel in panels)),
        (*rows, reference),
        (_note(panels),),
    )


def _datapoints(panels: Sequence[Panel], results: Results) -> Table:
    rows = []
    for scheme in TABLE_SCHEMES:
        row: dict[str, str | int | float | None] = {"scheme": label_of(scheme)}
        for panel in panels:
            runs = runs_by_seed(results, panel.cells, scheme)
            target = _target(panel, results)
            row[_heading(panel)] = reached_text(runs, target, lambda record: float(record.processed), digits=0)
        rows.append(row)
    return Table(
        "datapoints",
        "Datapoints processed until the same share is reached",
        ("scheme", *(_heading(panel) for panel in panels)),
        tuple(rows),
        (_note(panels),),
    )


def _note(panels: Sequence[Panel]) -> str:
    aggregations = panels[0].cells[0].run.aggregations
    return (
        f"Mean ± deviation over networks. A dash: not reached within {aggregations} aggregations in every run; the "
        "percentage: in how many."
    )


def _papers(panel: Panel, scheme: str) -> str:
    numbers = PAPER_TABLE.get(scheme, {}).get(panel.data_set)
    if numbers is None or panel.n_devices not in _SIZES:
        return ""
    number = numbers[_SIZES.index(panel.n_devices)]
    return f"({'–' if number is None else number})"


def _heading(panel: Panel) -> str:
    return f"{panel.data_set} {SHARES[panel.data_set]:.0%}, N={panel.n_devices}"
