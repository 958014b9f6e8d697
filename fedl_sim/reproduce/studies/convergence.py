"""Table I: aggregations until a share of what FedL on all nodes reaches, S = 6, N = 600, 700, 800."""

from collections.abc import Callable, Mapping, Sequence

from fedl_sim.loop.records import AggregationRecord
from fedl_sim.reproduce.cell import Cell
from fedl_sim.reproduce.cell_folder import Results
from fedl_sim.reproduce.claims import Target, saving_claims
from fedl_sim.reproduce.compared import TABLE_SCHEMES, label_of
from fedl_sim.reproduce.figures import curve_grid
from fedl_sim.reproduce.measures import final, runs_by_seed, spread, to_target
from fedl_sim.reproduce.panel import Panel, curve_table, panel_of
from fedl_sim.reproduce.study import Report, Scope, Study
from fedl_sim.reproduce.tables import Table
from sampler.schemes import EVERYONE

__all__ = ["PAPER_TABLE", "SHARES", "convergence_study"]

# Of the final accuracy of FedL on all nodes, as the paper has it; digits are ours.
SHARES: Mapping[str, float] = {"mnist": 0.85, "fashion-mnist": 0.65, "digits": 0.85}

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
    sizes = (40, 60) if scope.quick else _SIZES
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
        drawing = curve_grid(
            panels,
            schemes,
            results,
            row=lambda panel: panel.data_set,
            column=lambda panel: panel.n_devices,
            title=lambda panel: f"{panel.data_set}, N = {panel.n_devices}",
            level=lambda panel: _target(panel, results),
        )
        claims = saving_claims(
            ("convergence-claims", "The paper's sentences on Table I"),
            {"aggregations": "40 % (MNIST), 50 % (F-MNIST)"},
            [Target(panel, _target(panel, results)) for panel in panels],
            results,
        )
        tables = (_table(panels, results), _datapoints(panels, results), claims, curve_table(panels, schemes, results))
        return Report(tables, {"convergence": drawing})

    return Study("convergence", tuple(cell for panel in panels for cell in panel.cells), report)


def _target(panel: Panel, results: Results) -> float:
    """The share of what all nodes reach, on average over the networks where they ran."""
    return SHARES[panel.data_set] * float(final(runs_by_seed(results, panel.cells, EVERYONE)).mean())


def _table(panels: Sequence[Panel], results: Results) -> Table:
    rows = []
    for scheme in TABLE_SCHEMES:
        row: dict[str, str | int | float | None] = {"scheme": label_of(scheme)}
        for panel in panels:
            ours = _reached(panel, scheme, results, lambda record: float(record.aggregation), digits=1)
            row[_heading(panel)] = f"{ours} {_papers(panel, scheme)}".strip()
        rows.append(row)
    reference: dict[str, str | int | float | None] = {"scheme": "final accuracy, all nodes"}
    for panel in panels:
        reference[_heading(panel)] = spread(final(runs_by_seed(results, panel.cells, EVERYONE))).text()
    return Table(
        "convergence",
        "Aggregations until the share of all nodes' final accuracy is reached: ours, and in brackets the paper's",
        ("scheme", *(_heading(panel) for panel in panels)),
        (*rows, reference),
        (_note(panels),),
    )


def _datapoints(panels: Sequence[Panel], results: Results) -> Table:
    rows = []
    for scheme in TABLE_SCHEMES:
        row: dict[str, str | int | float | None] = {"scheme": label_of(scheme)}
        for panel in panels:
            row[_heading(panel)] = _reached(panel, scheme, results, lambda record: float(record.processed), digits=0)
        rows.append(row)
    return Table(
        "datapoints",
        "Datapoints processed until the same share is reached",
        ("scheme", *(_heading(panel) for panel in panels)),
        tuple(rows),
        (_note(panels),),
    )


def _reached(
    panel: Panel, scheme: str, results: Results, of: Callable[[AggregationRecord], float], *, digits: int
) -> str:
    runs = runs_by_seed(results, panel.cells, scheme)
    found, share = to_target(runs, _target(panel, results), of)
    return f"– {share:.0%}" if found is None else found.text(digits)


def _note(panels: Sequence[Panel]) -> str:
    aggregations = panels[0].cells[0].run.aggregations
    return f"A dash: not reached within {aggregations} aggregations in every run; the percentage: in how many."


def _papers(panel: Panel, scheme: str) -> str:
    numbers = PAPER_TABLE.get(scheme, {}).get(panel.data_set)
    if numbers is None or panel.n_devices not in _SIZES:
        return ""
    number = numbers[_SIZES.index(panel.n_devices)]
    return f"({'–' if number is None else number})"


def _heading(panel: Panel) -> str:
    return f"{panel.data_set} {SHARES[panel.data_set]:.0%}, N={panel.n_devices}"
