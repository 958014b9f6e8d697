"""The paper's statements about its figures and table (Sec. V-B), each beside the same number from our runs.

Each statement is evaluated for the paper's method among the paper's schemes, and for ours among all schemes that ran.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fedl_sim.loop.records import AggregationRecord
from fedl_sim.reproduce.cell_folder import Results
from fedl_sim.reproduce.measures import final, runs_by_seed, to_target
from fedl_sim.reproduce.panel import Panel
from fedl_sim.reproduce.tables import Table
from sampler.schemes import EVERYONE

__all__ = ["Target", "accuracy_claims", "saving_claims"]


@dataclass(frozen=True)
class _Method:
    """A method with and without offloading, and the schemes that it is compared with."""

    name: str
    moving: str
    still: str
    rivals: tuple[str, ...]


_MOVING = ("random-offload", "heuristic-offload")
_STILL = ("random", "heuristic")
_PAPERS = _Method("paper's method", "gcn_branch+fast", "gcn_branch", (*_MOVING, *_STILL, "gcn_branch"))
_RIVALS = (*_PAPERS.rivals, "gcn_branch+fast", "random_branch+fast")
_OURS = _Method("ours", "ours-offload", "ours", (*_RIVALS, "ours"))
_UNTOLD = _Method("ours, label counts hidden", "greedy:resemblance+fast", "greedy:resemblance", _RIVALS)
_METHODS = (_PAPERS, _OURS, _UNTOLD)
_LEADS: Mapping[str, str] = {"mnist": "over 20 points", "fashion-mnist": "over 10 points"}
Measure = Callable[[AggregationRecord], float]


@dataclass(frozen=True)
class Target:
    """An accuracy to reach in a panel."""

    panel: Panel
    accuracy: float


def accuracy_claims(panels: Sequence[Panel], results: Results) -> Table:
    """Figs. 6 and 7."""
    methods = _that_ran(panels)

    def mean(panel: Panel, scheme: str) -> float:
        return float(final(runs_by_seed(results, panel.cells, scheme)).mean())

    def above(panel: Panel, scheme: str, others: Iterable[str]) -> bool:
        return mean(panel, scheme) > max(mean(panel, other) for other in others)

    rows = [
        _row(
            "pictures where it ends above every other sampled scheme",
            "12 of 12",
            [_count(above(p, method.moving, _there(p, method)) for p in panels) for method in methods],
        ),
        _row(
            "pictures where it ends above FedL on all nodes",
            "10 of 12",
            [_count(above(p, method.moving, [EVERYONE]) for p in panels) for method in methods],
        ),
    ]
    for data_set in dict.fromkeys(panel.data_set for panel in panels):
        mine = [panel for panel in panels if panel.data_set == data_set]
        leads = [[mean(p, m.still) - max(mean(p, scheme) for scheme in _STILL) for p in mine] for m in methods]
        added = [[mean(p, m.moving) - mean(p, m.still) for p in mine] for m in methods]
        others = {s: np.mean([mean(p, f"{s}-offload") - mean(p, s) for p in mine]) for s in _STILL}
        told = ", ".join(f"{name} {100 * gain:+.1f}" for name, gain in others.items())
        rows += [
            _row(
                f"{data_set}: points above the better of random and heuristic, none offloading: mean (least)",
                _LEADS.get(data_set),
                [_points(lead) for lead in leads],
            ),
            _row(
                f"{data_set}: points that offloading adds, mean (least); {told}",
                "more than to random and heuristic",
                [_points(gain) for gain in added],
            ),
        ]
    return _table(("accuracy-claims", "The paper's sentences on Figs. 6 and 7"), rows, methods)


def saving_claims(
    table: tuple[str, str], said: Mapping[str, str], targets: Sequence[Target], results: Results
) -> Table:
    """Table I and Fig. 8: how many aggregations or datapoints a method saves until each target.

    Args:
        table: its name and title.
        said: the paper's number for each measure ("aggregations" or "datapoints").
        targets: the accuracies to reach.
        results: the runs.
    """
    methods = _that_ran([target.panel for target in targets])
    rows = []
    for what, of in _MEASURES.items():

        def cost(target: Target, scheme: str, of: Measure = of) -> float:
            """Return the mean cost; infinite unless every run reached the target."""
            found, _ = to_target(runs_by_seed(results, target.panel.cells, scheme), target.accuracy, of)
            return float("inf") if found is None else found.mean

        best = [
            _count(np.inf > cost(t, m.moving) <= min(cost(t, rival) for rival in _there(t.panel, m)) for t in targets)
            for m in methods
        ]
        rivals = [[(cost(t, m.moving), cost(t, scheme)) for t in targets for scheme in _MOVING] for m in methods]
        papers = [[(cost(t, m.moving), cost(t, _PAPERS.moving)) for t in targets] for m in methods]
        rows += [
            _row(f"targets reached with the fewest {what}, ties counted", "all" if what in said else None, best),
            _row(
                f"{what} saved against random and heuristic with offloading, mean (least)",
                said.get(what),
                [_saved(pairs) for pairs in rivals],
            ),
            _row(
                f"{what} saved against the paper's method, both offloading, mean (least)",
                None,
                ["" if m is _PAPERS else _saved(pairs) for m, pairs in zip(methods, papers, strict=True)],
            ),
        ]
    return _table(table, rows, methods)


_MEASURES: Mapping[str, Measure] = {
    "aggregations": lambda record: float(record.aggregation),
    "datapoints": lambda record: float(record.processed),
}


def _there(panel: Panel, method: _Method) -> list[str]:
    """Return the method's rivals that ran in this panel."""
    ran = {cell.scheme for cell in panel.cells}
    return [rival for rival in method.rivals if rival in ran]


def _that_ran(panels: Sequence[Panel]) -> list[_Method]:
    ran = {cell.scheme for panel in panels for cell in panel.cells}
    return [method for method in _METHODS if method.moving in ran]


def _row(claim: str, paper: str | None, measured: Sequence[str]) -> tuple[str | None, ...]:
    return claim, paper, *measured


def _table(table: tuple[str, str], rows: Sequence[tuple[str | None, ...]], methods: Sequence[_Method]) -> Table:
    columns = ("claim", "paper", *(method.name for method in methods))
    return Table(*table, columns, tuple(dict(zip(columns, row, strict=True)) for row in rows))


def _count(held: Iterable[bool]) -> str:
    found = list(held)
    return f"{sum(found)} of {len(found)}"


def _points(differences: Sequence[float]) -> str:
    return f"{100 * float(np.mean(differences)):+.1f} ({100 * min(differences):+.1f})"


def _saved(pairs: Sequence[tuple[float, float]]) -> str:
    """Return the share saved where both reached the target, and how often only one did."""
    shares = [1 - mine / other for mine, other in pairs if np.isfinite([mine, other]).all()]
    told = [f"{float(np.mean(shares)):.0%} ({min(shares):.0%})"] if shares else []
    alone = sum(bool(np.isfinite(mine)) and not np.isfinite(other) for mine, other in pairs)
    missed = sum(bool(np.isfinite(other)) and not np.isfinite(mine) for mine, other in pairs)
    told += [f"alone in {alone} of {len(pairs)}"] if alone else []
    told += [f"missed {missed} of {len(pairs)}"] if missed else []
    return "; ".join(told) or "neither reached any"
