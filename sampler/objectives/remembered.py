"""Two wrappers of objectives with expensive values: a cache of the values, and the bounds in their place."""

import numpy as np
from numpy.typing import NDArray

from sampler.objectives.base import Objective

__all__ = ["Optimistic", "Remembered"]


class Remembered(Objective):
    """The same objective with a cache of the values of sets, whatever the order of their devices.

    Local search evaluates the same sets many times. The cache saves time if a value needs a solve.
    """

    cheap = False

    def __init__(self, objective: Objective) -> None:
        self._objective = objective
        self._known: dict[bytes, float] = {}

    def values(self, sets: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the value of each set; only new sets are computed."""
        keys = [row.tobytes() for row in np.sort(sets, axis=1)]
        new = {key: place for place, key in enumerate(keys) if key not in self._known}
        if new:
            values = self._objective.values(sets[list(new.values())])
            self._known |= zip(new, values.tolist(), strict=True)
        return np.array([self._known[key] for key in keys])

    def bounds(self, sets: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the objective's bounds."""
        return self._objective.bounds(sets)

    def tight_bounds(self, sets: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the objective's closer bounds."""
        return self._objective.tight_bounds(sets)

    def out_of_time(self) -> bool:
        """Return what the objective returns."""
        return self._objective.out_of_time()


class Optimistic(Objective):
    """The bounds of an objective as a cheap objective of their own, close to the original."""

    def __init__(self, objective: Objective) -> None:
        self._objective = objective

    def values(self, sets: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the bounds."""
        return self._objective.bounds(sets)
