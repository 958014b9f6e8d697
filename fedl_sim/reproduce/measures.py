"""From runs to numbers: curves and targets by scheme and seed; a seed's value is the mean over its draws."""

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from fedl_sim.loop.records import AggregationRecord, SchemeRun
from fedl_sim.reproduce.cell import Cell
from fedl_sim.reproduce.cell_folder import Results
from fedl_sim.reproduce.tables import Spread
from fedl_sim.simulate.summary import first_reaching

__all__ = ["curve", "final", "runs_by_seed", "spread", "to_target"]


def runs_by_seed(results: Results, cells: Iterable[Cell], scheme: str) -> dict[int, list[SchemeRun]]:
    """Return the scheme's runs among these cells."""
    found: dict[int, list[SchemeRun]] = {}
    for cell in cells:
        if cell.scheme == scheme:
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
    last: NDArray[np.float64] = curve(runs, name)[:, -1]
    return last


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
    share = hits / count
    return (spread(np.array(reached)) if share == 1 else None), share


def spread(values: NDArray[np.float64]) -> Spread:
    """Mean and deviation over seeds (n − 1; zero for one seed)."""
    deviation = float(values.std(ddof=1)) if values.size > 1 else 0.0
    return Spread(float(values.mean()), deviation, int(values.size))
