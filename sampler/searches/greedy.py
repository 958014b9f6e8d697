"""Greedy sampling: add the device that raises the objective most, until S are chosen."""

import numpy as np
from numpy.typing import NDArray

from sampler.base import SamplingProblem, Selection
from sampler.objectives.base import Objective, with_each
from sampler.searches.lazy import lazy_maximum

__all__ = ["grow", "proven_share", "sample_greedily"]


def sample_greedily(objective: Objective, problem: SamplingProblem, generator: np.random.Generator) -> Selection:
    """Add the device of largest gain until S are chosen; a score is that gain. Ties are broken at random."""
    candidates = generator.permutation(problem.candidates)
    sampled, gains = grow(objective, candidates, problem.sample_size)
    guarantee = proven_share(objective, sampled, problem.candidates) if objective.submodular else None
    return Selection(sampled, gains, value=float(gains.sum()), guarantee=guarantee)


def grow(
    objective: Objective, candidates: NDArray[np.int64], size: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return `size` devices in order of choice, and the gain of each; the gain of the first is its own value."""
    sampled = np.empty(0, np.int64)
    gains: list[float] = []
    rest = candidates
    # The gain of each device when it was last computed. Gains of a submodular objective never grow (Minoux 1978).
    last = np.full(len(candidates), np.inf)
    value = 0.0
    for _ in range(size):
        best, found = _best_extension(objective, sampled, rest, last, value)
        gains.append(found - value)
        value = found
        sampled = np.append(sampled, rest[best])
        rest, last = np.delete(rest, best), np.delete(last, best)
    return sampled, np.array(gains)


def _best_extension(
    objective: Objective,
    sampled: NDArray[np.int64],
    rest: NDArray[np.int64],
    last: NDArray[np.float64],
    value: float,
) -> tuple[int, float]:
    """Return the index in `rest` of the best device to add, and the value with it; store new gains in `last`."""
    if not objective.cheap:
        bounds = objective.extended(sampled, rest)
        return lazy_maximum(bounds, lambda places: objective.values(with_each(sampled, rest[places])))
    if not objective.submodular or np.isinf(last).any():
        values = objective.extended(sampled, rest)
        last[:] = values - value
        best = int(np.argmax(values))
        return best, float(values[best])

    def look(places: NDArray[np.int64]) -> NDArray[np.float64]:
        values = objective.extended(sampled, rest[places])
        last[places] = values - value
        return values

    return lazy_maximum(value + last, look)


def proven_share(objective: Objective, sampled: NDArray[np.int64], candidates: NDArray[np.int64]) -> float:
    """Return a share of the optimum that a set is proven to attain under a monotone submodular objective.

    For any set 𝒮 the optimum is at most f(𝒮) plus the S largest gains over it (Nemhauser, Wolsey, Fisher 1978). The
    share that follows is usually far larger than 1 − 1/e, which greedy sets attain on every network.
    """
    value = objective.value(sampled)
    if value <= 0:
        return 1.0
    rest = np.setdiff1d(candidates, sampled)
    gains = np.sort(objective.extended(sampled, rest) - value)[::-1][: len(sampled)] if len(rest) else np.empty(0)
    return float(value / (value + np.maximum(gains, 0.0).sum()))
