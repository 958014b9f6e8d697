"""Local search: from greedy and random sets, swap a sampled device for another while that raises the objective."""

from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from sampler.base import SamplingProblem, Selection
from sampler.objectives.base import Objective
from sampler.objectives.remembered import Optimistic, Remembered
from sampler.searches.greedy import grow, proven_share
from sampler.searches.lazy import best_row
from sampler.searches.marginal import with_marginal_scores

__all__ = ["improve", "sample_by_local_search"]

# The most sets in a round of swaps. If there are more, the most promising devices are tried.
_SWAPS = 20_000
# Random starts share about this many swaps of a round: small networks get several starts, large ones none.
_STARTING_SWAPS = 4_000
_MOST_STARTS = 10
# Double swaps are tried if there are at most this many. They lead out of most local optima.
_DOUBLE_SWAPS = 1_000
_MOST_ROUNDS = 100
# A swap must gain more than rounding errors.
_LEAST_GAIN = 1e-10


def sample_by_local_search(objective: Objective, problem: SamplingProblem, generator: np.random.Generator) -> Selection:
    """Swap devices of greedy and random sets while that raises the objective; a score is the value lost without it."""
    candidates = generator.permutation(problem.candidates)
    known = objective if objective.cheap else Remembered(objective)
    starts = _starts(known, candidates, problem.sample_size, generator)
    found = [improve(known, start, candidates) for start in starts]
    # Of equal values the first is kept, which comes from the greedy start.
    sampled, value = max(found, key=lambda one: one[1])
    guarantee = proven_share(objective, sampled, candidates) if objective.submodular else None
    return with_marginal_scores(known, sampled, value, guarantee)


def _starts(
    objective: Objective, candidates: NDArray[np.int64], size: int, generator: np.random.Generator
) -> list[NDArray[np.int64]]:
    """Return the greedy set, and random sets if the network is small enough to swap them.

    If values are expensive, each random set is first improved by its bounds.
    """
    swaps = size * (len(candidates) - size)
    count = min(_MOST_STARTS, _STARTING_SWAPS // swaps) if swaps else 0
    sets = [generator.choice(candidates, size, replace=False) for _ in range(count)]
    if not objective.cheap:
        bounds = Optimistic(objective)
        sets = [improve(bounds, start, candidates)[0] for start in [grow(bounds, candidates, size)[0], *sets]]
        sets = list({tuple(np.sort(one).tolist()): one for one in sets}.values())
    return [grow(objective, candidates, size)[0], *sets]


def improve(
    objective: Objective, sampled: NDArray[np.int64], candidates: NDArray[np.int64]
) -> tuple[NDArray[np.int64], float]:
    """Make the best single or double swap until none raises the value; return the set and its value."""
    value = objective.value(sampled)
    for _ in range(_MOST_ROUNDS):
        rest = candidates[~np.isin(candidates, sampled)]
        for sets in (_swapped(sampled, _promising(objective, sampled, rest)), _swapped_twice(sampled, rest)):
            best, found = best_row(objective, sets) if len(sets) else (-1, -np.inf)
            if found > value + _LEAST_GAIN * max(abs(value), 1.0):
                sampled, value = sets[best], found
                break
        else:
            break
    return sampled, value


def _promising(objective: Objective, sampled: NDArray[np.int64], rest: NDArray[np.int64]) -> NDArray[np.int64]:
    limit = max(_SWAPS // len(sampled), 1)
    if len(rest) <= limit:
        return rest
    return rest[np.argsort(-objective.extended(sampled, rest), kind="stable")[:limit]]


def _swapped(sampled: NDArray[np.int64], rest: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a row for each way to replace one sampled device by one of `rest`."""
    size = len(sampled)
    sets = np.repeat(sampled[None], size * len(rest), axis=0)
    sets[np.arange(len(sets)), np.repeat(np.arange(size), len(rest))] = np.tile(rest, size)
    return sets


def _swapped_twice(sampled: NDArray[np.int64], rest: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a row for each way to replace two sampled devices by two of `rest`; no rows if there are too many ways."""
    size = len(sampled)
    if comb(size, 2) * comb(len(rest), 2) > _DOUBLE_SWAPS:
        return np.empty((0, size), np.int64)
    rows = []
    for out in combinations(range(size), 2):
        for one in combinations(rest, 2):
            row = sampled.copy()
            row[list(out)] = one
            rows.append(row)
    return np.array(rows, np.int64).reshape(-1, size)
