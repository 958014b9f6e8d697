"""Exhaustive search: the best of all sets, for small networks."""

from itertools import chain, combinations
from math import comb

import numpy as np

from sampler.base import SamplingProblem, Selection
from sampler.errors import TooManySetsError
from sampler.objectives.base import Objective
from sampler.searches.best import best_row
from sampler.searches.marginal import with_marginal_scores

__all__ = ["MOST_SETS", "sample_exhaustively"]

MOST_SETS = 100_000


def sample_exhaustively(objective: Objective, problem: SamplingProblem, generator: np.random.Generator) -> Selection:
    """Try every set of a small network; a score is the value that the set would lose without the device.

    Raises:
        TooManySetsError: there are more than `MOST_SETS` sets.
    """
    size, n = problem.sample_size, len(problem.candidates)
    count = comb(n, size)
    if count > MOST_SETS:
        raise TooManySetsError(n, size, count, MOST_SETS)
    # The order of the sets is random, so ties are broken at random.
    candidates = generator.permutation(problem.candidates)
    flat = chain.from_iterable(combinations(candidates.tolist(), size))
    sets = np.fromiter(flat, np.int64, count * size).reshape(count, size)
    best, _, complete = best_row(objective, sets, problem)
    standing = objective.standing()
    standing.move_to(sets[best])
    guarantee = 1.0 if complete else None
    return with_marginal_scores(standing, problem, sets[best], guarantee, complete=complete)
