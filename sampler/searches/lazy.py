"""Find the largest of many values from cheap upper bounds, computing only a few of the values."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sampler.objectives.base import Objective

__all__ = ["best_row", "lazy_maximum"]

_FIRST_LOOK = 8
# Relative tolerance for rounding between a bound and its value.
_ROUNDING = 1e-12


def lazy_maximum(
    bounds: NDArray[np.float64], values_of: Callable[[NDArray[np.int64]], NDArray[np.float64]]
) -> tuple[int, float]:
    """Return the index of the largest value, and that value, given an upper bound on each.

    Values are computed in descending order of the bounds, in growing portions, until no remaining bound exceeds the
    best value found. Of equal values the one with the largest bound is returned, then the one with the lowest index.
    """
    order = np.argsort(-bounds, kind="stable")
    best, found, looked, portion = -1, -np.inf, 0, _FIRST_LOOK
    while looked < len(order) and (best < 0 or bounds[order[looked]] > found + _ROUNDING * abs(found)):
        places = order[looked : looked + portion]
        values = values_of(places)
        top = int(np.argmax(values))
        if best < 0 or values[top] > found:
            best, found = int(places[top]), float(values[top])
        looked += len(places)
        portion *= 2
    return best, found


def best_row(objective: Objective, sets: NDArray[np.int64]) -> tuple[int, float]:
    """Return the index of the row of `sets` with the largest value, and that value."""
    if objective.cheap:
        values = objective.values(sets)
        best = int(np.argmax(values))
        return best, float(values[best])
    return lazy_maximum(objective.bounds(sets), lambda places: objective.values(sets[places]))
