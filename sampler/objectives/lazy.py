"""Find the largest of many values from cheap upper bounds, computing only a few of the values."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["lazy_maximum", "lazy_values", "never"]

_FIRST_LOOK = 8
_TIGHTENED_AT_ONCE = 32
# Relative tolerance for rounding between a bound and its value.
_ROUNDING = 1e-12

ValuesOf = Callable[[NDArray[np.int64]], NDArray[np.float64]]


def never() -> bool:
    """Return False: time is never over."""
    return False


def lazy_values(
    bounds: NDArray[np.float64],
    values_of: ValuesOf,
    *,
    first: int = _FIRST_LOOK,
    tighten: ValuesOf | None = None,
    over: Callable[[], bool] = never,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the places of the largest values, ascending, and the values there, given an upper bound on each.

    Values are computed in descending order of the bounds, in growing portions of `first` and more, until no remaining
    bound reaches the best value found, or time is `over` after the first portion. `tighten` gives other bounds; places
    are asked for them before their values are computed.
    """
    bounds = bounds.copy()
    loose = np.full(len(bounds), tighten is not None)
    new = np.ones(len(bounds), np.bool_)
    values = np.full(len(bounds), -np.inf)
    found, portion = -np.inf, first
    left = np.arange(len(bounds))
    while len(left) and not (portion > first and over()):
        top = _top(bounds, left, portion)
        if tighten is not None and loose[top].any():
            top = _top(bounds, left, max(portion, _TIGHTENED_AT_ONCE))
            top = top[loose[top]]
            bounds[top] = np.minimum(bounds[top], tighten(top))
            loose[top] = False
        else:
            values[top] = values_of(top)
            new[top] = False
            found = max(found, float(values[top].max()))
            portion *= 2
        # A bound that equals the best value but for rounding may be that of an equal value.
        left = np.flatnonzero(new & (bounds >= found - _ROUNDING * abs(found)))
    looked = np.flatnonzero(~new)
    return looked, values[looked]


def _top(bounds: NDArray[np.float64], left: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Return so many of the places left, those of the largest bounds."""
    return left if len(left) <= count else left[np.argpartition(-bounds[left], count)[:count]]


def lazy_maximum(
    bounds: NDArray[np.float64],
    values_of: ValuesOf,
    *,
    tighten: ValuesOf | None = None,
    over: Callable[[], bool] = never,
) -> tuple[int, float]:
    """Return the index of the largest value, and that value, given an upper bound on each."""
    places, values = lazy_values(bounds, values_of, tighten=tighten, over=over)
    top = int(np.argmax(values))
    return int(places[top]), float(values[top])
