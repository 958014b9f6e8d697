"""The best of given sets, within the time of a problem."""

import numpy as np
from numpy.typing import NDArray

from sampler.base import SamplingProblem
from sampler.objectives.base import Objective
from sampler.objectives.lazy import lazy_maximum

__all__ = ["best_row"]

# Sets evaluated between two looks at the clock.
_AT_ONCE = 2_000


def best_row(objective: Objective, sets: NDArray[np.int64], problem: SamplingProblem) -> tuple[int, float, bool]:
    """Return the index of the row of `sets` with the largest value, that value, and whether there was time for all."""
    if not objective.cheap:
        bounds = objective.bounds(sets)
        best, found = lazy_maximum(
            bounds,
            lambda places: objective.values(sets[places]),
            tighten=lambda places: objective.tight_bounds(sets[places]),
            over=lambda: problem.out_of_time,
        )
        return best, found, not problem.out_of_time
    best, found = -1, -np.inf
    for first in range(0, len(sets), _AT_ONCE):
        if first and problem.out_of_time:
            return best, found, False
        values = objective.values(sets[first : first + _AT_ONCE])
        top = int(np.argmax(values))
        if best < 0 or values[top] > found:
            best, found = first + top, float(values[top])
    return best, found, True
