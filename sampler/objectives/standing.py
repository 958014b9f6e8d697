"""A set of devices that changes by one device at a time, and the value of the set with any other device added."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sampler.objectives.lazy import lazy_values
from sampler.threads import THREADS

if TYPE_CHECKING:
    from sampler.objectives.base import Objective

__all__ = ["Looked", "PlainStanding", "Standing", "with_each"]

# Expensive values are computed one for each thread at first: close bounds often say that no other can be better.
_FIRST_LOOK = THREADS


class Looked(NamedTuple):
    """What a search for the best of many devices to add has found.

    The best of all is among those looked at. Of the others only an upper bound is known, which is no larger.

    Attributes:
        bounds: an upper bound on the value with each device.
        places: the devices looked at, as places in `bounds`, ascending.
        values: the values with them.
    """

    bounds: NDArray[np.float64]
    places: NDArray[np.int64]
    values: NDArray[np.float64]


class Standing(ABC):
    """A set of devices under one objective."""

    @abstractmethod
    def value(self) -> float:
        """Return the value of the set; 0 if it is empty."""

    @abstractmethod
    def values(self, devices: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the value of the set with each of `devices` added, none of which it has."""

    @abstractmethod
    def add(self, device: int) -> None:
        """Add a device."""

    @abstractmethod
    def remove(self, device: int) -> None:
        """Remove a device."""

    @property
    @abstractmethod
    def members(self) -> NDArray[np.int64]:
        """The devices of the set, in any order."""

    def move_to(self, devices: NDArray[np.int64]) -> None:
        """Become the set of these devices."""
        before = self.members
        for device in np.setdiff1d(before, devices).tolist():
            self.remove(device)
        for device in devices[~np.isin(devices, before)].tolist():
            self.add(device)

    def bounds(self, devices: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return an upper bound on each of `values` that is cheap to compute."""
        return self.values(devices)

    def look(self, devices: NDArray[np.int64]) -> Looked:
        """Find the best of `devices` to add."""
        values = self.values(devices)
        return Looked(values, np.arange(len(devices)), values)


class PlainStanding(Standing):
    """The set as it is: every value is computed anew."""

    def __init__(self, objective: "Objective") -> None:
        self._objective = objective
        self._members: list[int] = []

    @property
    def members(self) -> NDArray[np.int64]:
        """The devices of the set, in any order."""
        return np.array(self._members, np.int64)

    def value(self) -> float:
        """Return the value of the set; 0 if it is empty."""
        return self._objective.value(self.members) if self._members else 0.0

    def values(self, devices: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the value of the set with each device added."""
        return self._objective.values(with_each(self.members, devices))

    def add(self, device: int) -> None:
        """Add a device."""
        self._members.append(device)

    def remove(self, device: int) -> None:
        """Remove a device."""
        self._members.remove(device)

    def bounds(self, devices: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the objective's bound on the value with each device."""
        return self._objective.bounds(with_each(self.members, devices))

    def look(self, devices: NDArray[np.int64]) -> Looked:
        """Find the best of `devices`; where values are expensive, by their bounds."""
        if self._objective.cheap:
            return super().look(devices)
        bounds, members = self.bounds(devices), self.members

        def tighten(places: NDArray[np.int64]) -> NDArray[np.float64]:
            return self._objective.tight_bounds(with_each(members, devices[places]))

        found = lazy_values(
            bounds,
            lambda places: self.values(devices[places]),
            first=_FIRST_LOOK,
            tighten=tighten,
            over=self._objective.out_of_time,
        )
        return Looked(bounds, *found)


def with_each(sampled: NDArray[np.int64], devices: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return one row for each device: the sampled devices, then that device."""
    return np.column_stack((np.broadcast_to(sampled, (len(devices), len(sampled))), devices))
