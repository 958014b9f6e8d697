"""Two views of an objective whose values are dear: one that remembers them, one that takes the bounds for them."""

import numpy as np
from numpy.typing import NDArray

from sampler.objectives.base import Objective

__all__ = ["Optimistic", "Remembered"]


class Remembered(Objective):
    """The same objective, remembering the value of every set it was asked for in any order of its devices.

    Rounds of swaps look at the same sets again and again; remembering them pays where a value takes a solve.
    """

    cheap = False

    def __init__(self, objective: Objective) -> None:
        self._objective = objective
        self._known: dict[bytes, float] = {}

    def values(self, sets: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the value of each set, asking for new ones only."""
        keys = [row.tobytes() for row in np.sort(sets, axis=1)]
        new = {key: place for place, key in enumerate(keys) if key not in self._known}
        if new:
            values = self._objective.values(sets[list(new.values())])
            self._known |= zip(new, values.tolist(), strict=True)
        return np.array([self._known[key] for key in keys])

    def bounds(self, sets: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the objective's bounds."""
        return self._objective.bounds(sets)

    def extended(self, sampled: NDArray[np.int64], devices: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the objective's bounds of extended sets."""
        return self._objective.extended(sampled, devices)


class Optimistic(Objective):
    """The bounds of an objective as an objective of their own: nearly it, and cheap."""

    def __init__(self, objective: Objective) -> None:
        self._objective = objective

    def values(self, sets: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the bounds."""
        return self._objective.bounds(sets)
