"""The names that callers give their devices. Within the service devices have numbers; answers have both."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from app.http.problems import InvalidRequestError
from app.wire.budget import charge
from app.wire.estimate import device_ids
from app.wire.problem import DeviceReason
from solver import Obstacle

__all__ = ["DeviceId", "DeviceIds", "describe"]

DeviceId = Annotated[str, Field(min_length=1, max_length=128)]


@dataclass(frozen=True)
class DeviceIds:
    """The id of each device, by its number, and the numbers of those that may not train."""

    names: tuple[str, ...]
    unwilling: frozenset[int] = frozenset()

    @classmethod
    def of(cls, names: Sequence[str], pointer: str, unwilling: Iterable[int] = ()) -> "DeviceIds":
        """Distinct ids; `pointer` has the number of a device where `*` stands."""
        charge(device_ids(len(names)), f"ids of {len(names)} devices")
        seen: dict[str, int] = {}
        for number, name in enumerate(names):
            first = seen.setdefault(name, number)
            if first != number:
                place = pointer.replace("*", str(number))
                raise InvalidRequestError.at(place, f"is the id of device {first} too")
        return cls(tuple(names), frozenset(unwilling))

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each device, by its id."""
        return {name: number for number, name in enumerate(self.names)}

    def reason(self, obstacle: Obstacle) -> DeviceReason:
        """Why a device cannot be sampled, with its id."""
        own = "may not train" if obstacle.device in self.unwilling else obstacle.reason
        return DeviceReason(device=obstacle.device, id=self.names[obstacle.device], step=obstacle.step, reason=own)

    def named(self, numbers: Iterable[int]) -> list[str]:
        """The ids of these devices."""
        return [self.names[number] for number in numbers]

    def numbered(self, names: Sequence[str], pointer: str) -> NDArray[np.int64]:
        """The numbers of the devices with these ids."""
        numbers = self.numbers
        found = [numbers.get(name, -1) for name in names]
        if -1 in found:
            raise InvalidRequestError.at(f"{pointer}/{found.index(-1)}", "is the id of no device")
        return np.array(found, dtype=np.int64)


def describe(ids: DeviceIds | None) -> Callable[[Obstacle], DeviceReason]:
    """How to tell why a device cannot be sampled."""
    return DeviceReason.of if ids is None else ids.reason
