"""The protocol of objectives: a value for each set of devices, larger being better."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sampler.base import SamplingProblem
from sampler.objectives.standing import PlainStanding, Standing

__all__ = ["Factory", "Objective"]


class Objective(ABC):
    """A value for each set of devices of one problem; larger is better.

    Sets of fewer than S devices have a value too, because greedy sampling grows sets device by device.

    Attributes:
        cheap: whether `bounds` are the values themselves, so that a lazy search saves nothing.
        submodular: whether it is monotone, submodular and zero for the empty set. Then gains only fall as a set grows,
            and greedy attains at least 1 − 1/e of the optimum.
    """

    cheap: ClassVar[bool] = True
    submodular: ClassVar[bool] = False

    @abstractmethod
    def values(self, sets: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the value of each row of `sets` (m rows of different devices)."""

    def value(self, sampled: NDArray[np.int64]) -> float:
        """Return the value of one set."""
        return float(self.values(np.asarray(sampled, np.int64)[None])[0])

    def bounds(self, sets: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return an upper bound on the value of each row that is cheaper to compute than the value."""
        return self.values(sets)

    def tight_bounds(self, sets: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return an upper bound that takes longer than `bounds` and is usually closer; to be asked for a few rows."""
        return self.bounds(sets)

    def out_of_time(self) -> bool:
        """Return whether a search by bounds is to end with what it found; only expensive values need to ask."""
        return False

    def standing(self) -> Standing:
        """Return the empty set, to be grown device by device."""
        return PlainStanding(self)


# Makes the objective of a problem.
Factory = Callable[[SamplingProblem], Objective]
