"""Find the largest of many values from cheap upper bounds, computing only a few of the values."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["lazy_maximum", "lazy_values", "never"]

_FIRST_LOOK = 8
# Relative tolerance for rounding between a bound and its value.
_ROUNDING = 1e-12

ValuesOf = Callable[[NDArray[np.int64]], NDArray[np.float64]]


def never() -> bool:
    """Return False: time is never over."""
    return False


def lazy_values(
    bounds: NDArray[np.float64], values_of: ValuesOf, *, first: int = _FIRST_LOOK, over: Callable[[], bool] = never
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the places of the largest values, ascending, and the values there, given an upper bound on each.

    Values are computed in descending order of the bounds, in growing portions of `first` and more, until no remaining
    bound exceeds the best value found, or time is `over` after the first portion.
    """
    places: list[NDArray[np.int64]] = []
    values: list[NDArray[np.float64]] = []
    left = np.arange(len(bounds))
    found, portion = -np.inf, first
    while len(left) and not (places and over()):
        top = left
        if len(left) > portion:
            top = left[np.argpartition(-bounds[left], portion)[:portion]]
        places.append(top)
        values.append(values_of(top))
        found = max(found, float(values[-1].max()))
        rest = np.ones(len(bounds), np.bool_)
        rest[np.concatenate(places)] = False
        left = np.flatnonzero(rest & (bounds > found + _ROUNDING * abs(found)))
        portion *= 2
    looked = np.concatenate(places) if places else np.empty(0, np.int64)
    order = np.argsort(looked)
    return looked[order], np.concatenate(values)[order] if places else np.empty(0)


def lazy_maximum(
    bounds: NDArray[np.float64], values_of: ValuesOf, *, over: Callable[[], bool] = never
) -> tuple[int, float]:
    """Return the index of the largest value, and that value, given an upper bound on each."""
    places, values = lazy_values(bounds, values_of, over=over)
    top = int(np.argmax(values))
    return int(places[top]), float(values[top])
