"""Table I: aggregations until a share of what FedL on all nodes reaches, S = 6, N = 600, 700, 800."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from fedl_sim.experiments.accuracy import Panel, curve_table, panel_of
from fedl_sim.experiments.cell import Cell
from fedl_sim.experiments.measures import final, runs_by_seed, spread, to_target
from fedl_sim.experiments.results import Results
from fedl_sim.experiments.schemes import EVERYONE, TABLE_SCHEMES, label_of
from fedl_sim.experiments.study import Report, Scope, Study
from fedl_sim.experiments.table import Table

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
            replace(
                template,
                data_set=data_set,
                realisation=replace(template.realisation, n_devices=n),
                run=replace(template.run, sample_size=6),
            ),
            schemes,
            scope,
        )
        for data_set in data_sets
        for n in sizes
    )

    def report(results: Results) -> Report:
        return Report((_table(panels, results), curve_table(panels, schemes, results)))

    return Study("convergence", tuple(cell for panel in panels for cell in panel.cells), report)


def _table(panels: Sequence[Panel], results: Results) -> Table:
    rows = []
    for scheme in TABLE_SCHEMES:
        row: dict[str, str | int | float | None] = {"scheme": label_of(scheme)}
        for panel in panels:
            row[_heading(panel)] = _entry(panel, scheme, results)
        rows.append(row)
    reference: dict[str, str | int | float | None] = {"scheme": "final accuracy, all nodes"}
    for panel in panels:
        reference[_heading(panel)] = spread(final(runs_by_seed(results, panel.cells, EVERYONE))).text()
    aggregations = panels[0].cells[0].run.aggregations
    return Table(
        "convergence",
        "Aggregations until the share of all nodes' final accuracy is reached: ours, and in brackets the paper's",
        ("scheme", *(_heading(panel) for panel in panels)),
        (*rows, reference),
        (f"A dash: not reached within {aggregations} aggregations in every run; the percentage: in how many.",),
    )


def _entry(panel: Panel, scheme: str, results: Results) -> str:
    reference = float(final(runs_by_seed(results, panel.cells, EVERYONE)).mean())
    runs = runs_by_seed(results, panel.cells, scheme)
    found, share = to_target(runs, SHARES[panel.data_set] * reference, lambda record: float(record.aggregation))
    ours = f"– {share:.0%}" if found is None else found.text(1)
    return f"{ours} {_papers(panel, scheme)}".strip()


def _papers(panel: Panel, scheme: str) -> str:
    numbers = PAPER_TABLE.get(scheme, {}).get(panel.data_set)
    if numbers is None or panel.n_devices not in _SIZES:
        return ""
    number = numbers[_SIZES.index(panel.n_devices)]
    return f"({'–' if number is None else number})"


def _heading(panel: Panel) -> str:
    return f"{panel.data_set} {SHARES[panel.data_set]:.0%}, N={panel.n_devices}"
