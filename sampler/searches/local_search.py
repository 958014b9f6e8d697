"""Local search: from greedy and random sets, swap a sampled device for another while that raises the objective."""

from collections.abc import Callable, Sequence
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from sampler.base import SamplingProblem, Selection
from sampler.objectives.base import Objective
from sampler.objectives.remembered import Optimistic, Remembered
from sampler.searches.best import best_row
from sampler.searches.greedy import best_of, grow, proven_share
from sampler.searches.marginal import with_marginal_scores

__all__ = ["LEAST_GAIN", "LocalSearch", "sample_by_local_search"]

# The most sets in a round of swaps. If there are more, the most promising devices are tried.
_SWAPS = 20_000
# Random starts share about this many swaps of a round: small networks get several starts, large ones none.
_STARTING_SWAPS = 4_000
_MOST_STARTS = 10
# Double swaps are tried if there are at most this many. They lead out of most local optima.
_DOUBLE_SWAPS = 1_000
_MOST_ROUNDS = 100
# A swap must gain more than rounding errors.
LEAST_GAIN = 1e-10

Successors = Callable[[int, NDArray[np.int64]], NDArray[np.bool_]]


def sample_by_local_search(objective: Objective, problem: SamplingProblem, generator: np.random.Generator) -> Selection:
    """Swap devices of greedy and random sets while that raises the objective; a score is the value lost without it."""
    candidates = generator.permutation(problem.candidates)
    search = LocalSearch(objective if objective.cheap else Remembered(objective), problem, candidates)
    grown = grow(search.standing, problem, candidates)
    if not grown.complete:
        return Selection(grown.sampled, grown.gains, grown.trace, complete=False)
    found = [search.improve(start) for start in [grown.sampled, *_more_starts(search, generator)]]
    # Of equal values the first is kept, which comes from the greedy start.
    sampled, _ = max(found, key=lambda one: one[1])
    search.standing.move_to(sampled)
    complete = not problem.out_of_time
    guarantee = proven_share(search.standing, problem, sampled) if objective.submodular and complete else None
    return with_marginal_scores(search.standing, problem, sampled, guarantee, complete=complete)


def _more_starts(search: "LocalSearch", generator: np.random.Generator) -> list[NDArray[np.int64]]:
    """Return random sets if the network is small enough to swap them.

    If values are expensive, the greedy set by bounds is a start too, and all are first improved by their bounds.
    """
    problem, candidates, size = search.problem, search.candidates, search.problem.sample_size
    swaps = size * (len(candidates) - size)
    count = min(_MOST_STARTS, _STARTING_SWAPS // swaps) if swaps else 0
    sets = [generator.choice(candidates, size, replace=False) for _ in range(count)]
    if search.objective.cheap:
        return sets
    optimist = LocalSearch(Optimistic(search.objective), problem, candidates)
    sets = [optimist.improve(start)[0] for start in [grow(optimist.standing, problem, candidates).sampled, *sets]]
    return list({tuple(np.sort(one).tolist()): one for one in sets}.values())


class LocalSearch:
    """Swaps under one objective. All starts share one standing set, so its first pass over the network is made once."""

    def __init__(self, objective: Objective, problem: SamplingProblem, candidates: NDArray[np.int64]) -> None:
        self.objective = objective
        self.problem = problem
        self.candidates = candidates
        self.standing = objective.standing()

    def improve(self, sampled: NDArray[np.int64]) -> tuple[NDArray[np.int64], float]:
        """Make the best single or double swap until none raises the value or time is over; return set and value."""
        value = self.objective.value(sampled)
        self.standing.move_to(sampled)
        for _ in range(_MOST_ROUNDS):
            rest = self.candidates[~np.isin(self.candidates, sampled)]
            for swaps in (self.best_swap, self._best_double_swap):
                other, found = swaps(sampled, rest)
                if found > value + LEAST_GAIN * max(abs(value), 1.0):
                    self.standing.move_to(other)
                    sampled, value = other, found
                    break
            else:
                break
        return sampled, value

    def best_swap(
        self, sampled: NDArray[np.int64], rest: NDArray[np.int64], successors: Successors | None = None
    ) -> tuple[NDArray[np.int64], float]:
        """Return the best set with one of `sampled` replaced by one of `rest`, and its value.

        `successors` marks which of some devices may take the place of a sampled one; by default all may.
        """
        best, highest = sampled, -np.inf
        if successors is None:
            choices = [self._promising(rest)] * len(sampled)
        else:
            choices = [self._promising(rest[successors(device, rest)]) for device in sampled.tolist()]
        if not self.objective.cheap:
            return self._best(_swapped(sampled, choices), sampled)
        for place, (device, others) in enumerate(zip(sampled.tolist(), choices, strict=True)):
            if self.problem.out_of_time:
                break
            if not len(others):
                continue
            self.standing.remove(device)
            new, found = best_of(self.standing.look(others))
            self.standing.add(device)
            if found > highest:
                best, highest = sampled.copy(), found
                best[place] = others[new]
        return best, highest

    def _promising(self, rest: NDArray[np.int64]) -> NDArray[np.int64]:
        limit = max(_SWAPS // self.problem.sample_size, 1)
        if len(rest) <= limit:
            return rest
        return rest[np.argsort(-self.standing.bounds(rest), kind="stable")[:limit]]

    def _best_double_swap(self, sampled: NDArray[np.int64], rest: NDArray[np.int64]) -> tuple[NDArray[np.int64], float]:
        """Return the best set with two of `sampled` replaced, and its value, if there are not too many such sets."""
        if comb(len(sampled), 2) * comb(len(rest), 2) > _DOUBLE_SWAPS:
            return sampled, -np.inf
        return self._best(_swapped_twice(sampled, rest), sampled)

    def _best(self, sets: NDArray[np.int64], sampled: NDArray[np.int64]) -> tuple[NDArray[np.int64], float]:
        if len(sets) == 0 or self.problem.out_of_time:
            return sampled, -np.inf
        best, found, _ = best_row(self.objective, sets, self.problem)
        return sets[best], found


def _swapped(sampled: NDArray[np.int64], choices: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return a row for each way to replace one sampled device by one of its choices."""
    sizes = [len(others) for others in choices]
    sets = np.repeat(sampled[None], sum(sizes), axis=0)
    sets[np.arange(len(sets)), np.repeat(np.arange(len(sampled)), sizes)] = np.concatenate([sampled[:0], *choices])
    return sets


def _swapped_twice(sampled: NDArray[np.int64], rest: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a row for each way to replace two sampled devices by two of `rest`."""
    rows = []
    for out in combinations(range(len(sampled)), 2):
        for one in combinations(rest, 2):
            row = sampled.copy()
            row[list(out)] = one
            rows.append(row)
    return np.array(rows, np.int64).reshape(-1, len(sampled))
