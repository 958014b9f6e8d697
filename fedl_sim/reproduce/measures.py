"""From runs to numbers: curves and targets by scheme and seed; a seed's value is the mean over its draws."""

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from fedl_sim.loop.records import AggregationRecord, SchemeRun
from fedl_sim.reproduce.cell import Cell
from fedl_sim.reproduce.cell_folder import Results
from fedl_sim.reproduce.compared import SHARES
from fedl_sim.reproduce.tables import NOT_RUN, Spread
from fedl_sim.simulate.summary import first_reaching

__all__ = ["curve", "final", "reached_text", "runs_by_seed", "spread", "target_of", "to_target"]


def runs_by_seed(results: Results, cells: Iterable[Cell], scheme: str) -> dict[int, list[SchemeRun]]:
    """Return the scheme's runs among these cells, as far as they are finished."""
    found: dict[int, list[SchemeRun]] = {}
    for cell in cells:
        if cell.name == scheme and cell in results:
            found.setdefault(cell.seed, []).append(results[cell])
    return found


def curve(runs: dict[int, list[SchemeRun]], name: str) -> NDArray[np.float64]:
    """A record's field over aggregations: shape (seeds, K + 1)."""
    return np.array(
        [
            np.mean([[getattr(record, name) for record in run.aggregations] for run in draws], axis=0)
            for draws in runs.values()
        ]
    )


def final(runs: dict[int, list[SchemeRun]], name: str = "accuracy") -> NDArray[np.float64]:
    """A record's field after the last aggregation, by seed."""
    return np.array([np.mean([getattr(run.aggregations[-1], name) for run in draws]) for draws in runs.values()])


def target_of(data_set: str, finals: NDArray[np.float64]) -> float:
    """Return Table I's target: a share of what all nodes reach on average; NaN where they have not run."""
    return SHARES[data_set] * float(np.mean(finals)) if len(finals) else float("nan")


def to_target(
    runs: dict[int, list[SchemeRun]], target: float, of: Callable[[AggregationRecord], float]
) -> tuple[Spread | None, float]:
    """Return the cost to reach the target, and the share of runs that reached it.

    The cost is None unless all runs did: a mean over the fast runs alone would be too good.
    """
    reached: list[float] = []
    hits = count = 0
    for draws in runs.values():
        found = [hit for run in draws if (hit := first_reaching(run, target)) is not None]
        hits += len(found)
        count += len(draws)
        if len(found) == len(draws):
            reached.append(float(np.mean([of(hit) for hit in found])))
    share = hits / count if count else 0.0
    return (spread(np.array(reached)) if share == 1 else None), share


def reached_text(
    runs: dict[int, list[SchemeRun]], target: float, of: Callable[[AggregationRecord], float], *, digits: int
) -> str:
    """Return the cost to reach the target for a table, or in how many runs it was reached."""
    found, share = to_target(runs, target, of)
    if not runs or np.isnan(target):
        return NOT_RUN
    return f"– {share:.0%}" if found is None else found.text(digits)


def spread(values: NDArray[np.float64]) -> Spread:
    """Mean and deviation over seeds (n − 1; zero for one seed)."""
    if values.size == 0:
        return Spread(float("nan"), 0.0, 0)
    deviation = float(values.std(ddof=1)) if values.size > 1 else 0.0
    return Spread(float(values.mean()), deviation, int(values.size))
