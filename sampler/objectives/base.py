"""What an objective is: a figure of merit of sets of devices, larger being better."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sampler.base import SamplingProblem

__all__ = ["Factory", "Objective"]


class Objective(ABC):
    """A figure of merit of sets of devices of one problem; larger is better.

    Sets of fewer than S devices have a value too: greedy sampling grows sets one device at a time.

    Attributes:
        cheap: whether `bounds` are the values themselves, so that nothing is gained by putting them off.
        submodular: whether it is monotone, submodular and zero for the empty set: gains only fall as a set grows, and
            greedy is within 1 − 1/e of the optimum.
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
        """Return for each row a number that its value does not exceed, and that is cheaper to have."""
        return self.values(sets)

    def extended(self, sampled: NDArray[np.int64], devices: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the bound of `sampled` with each of `devices` added."""
        return self.bounds(with_each(sampled, devices))


# A function, not a class: objectives are made anew for every problem.
Factory = Callable[[SamplingProblem], Objective]


def with_each(sampled: NDArray[np.int64], devices: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return one row for each device: the sampled ones, then it."""
    return np.column_stack((np.broadcast_to(sampled, (len(devices), len(sampled))), devices))
