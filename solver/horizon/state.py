"""The state of a horizon between two steps: all that the next step needs besides the network.

For each ordered pair it keeps the share of the sender's data that is still *unsent*, also while the link of the pair is
absent. If senders redraw, eq. (8), Λ_ki(t) = Λ_ki(t−1) + (1 − Λ_ki(t−1))·Φ_ki(t), means that this share is Π_s (1 −
Φ_ki(s)); if they send once, it is 1 − Σ_s Φ_ki(s) (`solver.horizon.transfer`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from solver.arrays import FloatArray, IntArray
from solver.errors import InvalidInputError
from solver.network import Network
from solver.network.schedule import Schedule
from solver.network.subgraph import Subgraph, pair_keys
from solver.validation import as_column, as_count, as_device_set, as_indices, frozen, reject_first

__all__ = ["HorizonState", "start"]

_NO_DEVICES = frozen(np.empty(0, np.int64))
_NO_SHARES = frozen(np.empty(0))


@dataclass(frozen=True, eq=False)
class HorizonState:
    """A horizon after `step` steps.

    Attributes:
        step: t, how many steps are done.
        sampled: the sampled devices.
        data: D_i(t) of each sampled device.
        source, target, unsent: the ordered pairs that have offloaded, and the share that each has not sent yet.
    """

    step: int
    sampled: IntArray
    data: FloatArray
    source: IntArray
    target: IntArray
    unsent: FloatArray

    def __post_init__(self) -> None:
        step = as_count(self.step, "state.step", low=0)
        sampled = as_indices(self.sampled, "state.sampled")
        if sampled.size == 0:
            raise InvalidInputError("sampled", "must name at least one device")
        data = as_column(self.data, "state.data", length=sampled.size)
        source = as_indices(self.source, "state.source")
        target = as_indices(self.target, "state.target")
        if target.size != source.size:
            raise InvalidInputError("state.target", f"must have {source.size} entries, has {target.size}")
        unsent = as_column(self.unsent, "state.unsent", length=source.size, high=1.0)
        if source.size:
            pairs = np.stack((source, target), axis=1)
            first = np.unique(pairs, axis=0, return_index=True)[1]
            again = np.ones(source.size, dtype=np.bool_)
            again[first] = False
            reject_first(again, source, "state.source", "names a pair twice")
        for field, value in zip(fields(self), (step, sampled, data, source, target, unsent), strict=True):
            object.__setattr__(self, field.name, value)

    def unsent_of(self, source: IntArray, target: IntArray) -> FloatArray:
        """The unsent share of each of these pairs; 1 for pairs that have not offloaded yet."""
        unsent = np.ones(source.size)
        if self.source.size and unsent.size:
            n = 1 + max(int(self.source.max()), int(source.max()))
            known, wanted = pair_keys(self.source, self.target, n), pair_keys(source, target, n)
            order = np.argsort(known)
            place = np.minimum(np.searchsorted(known, wanted, sorter=order), known.size - 1)
            found = known[order[place]] == wanted
            unsent[found] = self.unsent[order[place[found]]]
        return unsent

    def unsent_along(self, subgraph: Subgraph) -> FloatArray:
        """The unsent share of each link of the subgraph; 1 for pairs that have not offloaded yet."""
        return self.unsent_of(subgraph.source, subgraph.target)

    def after(self, step: int, data: FloatArray, subgraph: Subgraph, unsent: FloatArray) -> "HorizonState":
        """The state after more steps along a subgraph; pairs whose link is absent keep their value."""
        return self.moved_on(step, data, subgraph.source, subgraph.target, unsent, len(subgraph.network))

    def moved_on(
        self, step: int, data: FloatArray, source: IntArray, target: IntArray, unsent: FloatArray, n_devices: int
    ) -> "HorizonState":
        """The state after more steps over these pairs, each named once; other pairs keep their value."""
        touched = np.flatnonzero(unsent < 1.0)
        columns: tuple[npt.NDArray[Any], ...] = (source[touched], target[touched], unsent[touched])
        if self.source.size:
            own = pair_keys(self.source, self.target, n_devices)
            away = ~np.isin(own, pair_keys(source, target, n_devices))
            kept = (self.source[away], self.target[away], self.unsent[away])
            columns = tuple(map(np.concatenate, zip(kept, columns, strict=True)))
        return HorizonState._trusted(step, self.sampled, data.copy(), *columns)

    @classmethod
    def _trusted(cls, step: int, *columns: npt.NDArray[Any]) -> "HorizonState":
        """A state of columns that were validated before."""
        state = object.__new__(cls)
        state.__dict__.update(zip(cls.__match_args__, (step, *map(frozen, columns)), strict=True))
        return state

    def to_lists(self) -> dict[str, Any]:
        """Plain numbers and lists for JSON; floats keep their exact value."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value if isinstance(value, int) else value.tolist() for name, value in values.items()}

    @classmethod
    def from_lists(cls, lists: Mapping[str, Any]) -> "HorizonState":
        """The state `to_lists` wrote."""
        names = [field.name for field in fields(cls)]
        missing = [name for name in names if name not in lists]
        if missing:
            raise InvalidInputError(f"state.{missing[0]}", "is missing")
        return cls(**{name: lists[name] for name in names})


def start(network: Network | Schedule, sampled: npt.ArrayLike) -> HorizonState:
    """The state before the first step: D_i(0), nothing offloaded yet."""
    base = Schedule.of(network).network
    devices = as_device_set(sampled, "sampled", n_devices=len(base))
    if devices.size == 0:
        raise InvalidInputError("sampled", "must name at least one device")
    return HorizonState._trusted(0, devices, base.devices.data[devices], _NO_DEVICES, _NO_DEVICES, _NO_SHARES)
