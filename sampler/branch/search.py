"""The branch search of Sec. IV-C: from scores Γ to a sampled set, with a reason for every pick.

1. The first pick is argmax Γ among the devices at or above the 98th percentile of data D(0).
2. The n-th is argmax Γ among the neighbours of the (n−1)-th at or above the 98th percentile of dissimilarity to it.

Percentiles are taken over all devices, or over all neighbours, with linear interpolation. Devices at the threshold are
candidates. Devices already picked and devices that cannot be sampled are not. If no candidate is left, the percentile
is lowered step by step to 0. If no neighbour can be picked at all, argmax Γ among all remaining devices is picked. The
neighbours of s are the devices i with a link i → s. Λ_is is the share of i's data that s covers already, so the
dissimilarity of i to s is 1 − Λ_is.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sampler.base import SamplingProblem, Selection
from sampler.trace import SHOWN_CANDIDATES, Pick
from sampler.unfinished import selection
from solver.network import Network

__all__ = ["PERCENTILES", "RULES", "branch_search"]

# The paper's percentile first, then lower ones.
PERCENTILES = (98.0, 95.0, 90.0, 80.0, 50.0, 0.0)

MOST_DATA = "most data"
DISSIMILAR = "dissimilar neighbours"
ANYWHERE = "anywhere"
RULES = (MOST_DATA, DISSIMILAR, ANYWHERE)


@dataclass(frozen=True, eq=False)
class _Pool:
    """The candidates of a pick, the rule that selected them, and the percentile used with its value."""

    devices: NDArray[np.int64]
    rule: str
    previous: int | None = None
    percentile: float | None = None
    threshold: float | None = None


def branch_search(
    problem: SamplingProblem,
    scores: NDArray[np.float64],
    generator: np.random.Generator,
    percentiles: Sequence[float] = PERCENTILES,
) -> Selection:
    """Pick `problem.sample_size` devices by their scores (N,); exact ties are broken at random.

    When time is over, the rest are the highest scores that are left.
    """
    n = len(problem.schedule.network)
    if scores.shape != (n,) or not np.all(np.isfinite(scores)):
        raise ValueError(f"the branch needs a finite score for each of the {n} devices")
    free = np.zeros(n, np.bool_)
    free[problem.candidates] = True
    picks: list[Pick] = []
    for _ in range(problem.sample_size):
        if problem.out_of_time:
            break
        last = picks[-1].device if picks else None
        pick = _best(_pool(problem.conditions, free, last, percentiles), scores, generator)
        told = {int(i): float(scores[i]) for i in problem.explained if free[i]}
        free[pick.device] = False
        picks.append(pick.with_gains(told))
    return selection(problem, picks, scores)


def _pool(network: Network, free: NDArray[np.bool_], last: int | None, percentiles: Sequence[float]) -> _Pool:
    """Return the candidates for the pick after `last`."""
    if last is None:
        devices, values, rule = np.arange(len(network)), network.devices.data, MOST_DATA
    else:
        into = slice(network.incoming[last], network.incoming[last + 1])
        devices, values, rule = network.links.source[into], 1.0 - network.links.similarity[into], DISSIMILAR
    able = free[devices]
    if able.any():
        for percentile, threshold in zip(percentiles, np.percentile(values, percentiles), strict=True):
            chosen = devices[(values >= threshold) & able]
            if len(chosen):
                return _Pool(chosen, rule, last, percentile, float(threshold))
    return _Pool(np.flatnonzero(free), ANYWHERE, last)


def _best(pool: _Pool, scores: NDArray[np.float64], generator: np.random.Generator) -> Pick:
    """Pick the highest score of the pool, and record why."""
    devices = pool.devices
    own = scores[devices]
    top = devices[own == own.max()]
    device = int(top[0] if len(top) == 1 else generator.choice(top))
    shown = devices
    if len(devices) > SHOWN_CANDIDATES:
        shown = devices[np.argpartition(-own, SHOWN_CANDIDATES)[:SHOWN_CANDIDATES]]
        if device not in shown:
            shown[-1] = device
    shown = shown[np.lexsort((shown, shown != device, -scores[shown]))]
    return Pick(
        device=device,
        score=float(scores[device]),
        rule=pool.rule,
        previous=pool.previous,
        percentile=pool.percentile,
        threshold=pool.threshold,
        n_candidates=len(devices),
        candidates=tuple(shown.tolist()),
        candidate_scores=tuple(scores[shown].tolist()),
        tied=len(top),
    )
