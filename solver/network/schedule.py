"""Networks that change in time: device columns and links are piecewise constant."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from solver.errors import InvalidInputError
from solver.network import DEVICE_COLUMNS, Links, Network
from solver.network.patch import NetworkPatch
from solver.validation import as_count

__all__ = ["CHANGEABLE_COLUMNS", "Change", "Conditions", "Schedule"]

# Without the data: only offloading changes it, eq. (6).
CHANGEABLE_COLUMNS = DEVICE_COLUMNS[1:]


@dataclass(frozen=True, eq=False)
class Change:
    """From `step` on, these device columns and (if given) these links hold, and then what `patch` changes.

    The similarity of a link is always λ(0), before any offloading. `solver.horizon.state.HorizonState` keeps what each
    ordered pair has offloaded, also while its link is absent.
    """

    step: int
    columns: Mapping[str, npt.ArrayLike] = field(default_factory=dict)
    links: Links | None = None
    patch: NetworkPatch | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "step", as_count(self.step, "schedule.step"))
        if not isinstance(self.columns, Mapping):
            raise InvalidInputError(
                "schedule.devices", f"must map columns to numbers, is {type(self.columns).__name__}"
            )
        if not isinstance(self.links, Links | None):
            raise InvalidInputError("schedule.links", f"must be Links, is {type(self.links).__name__}")
        object.__setattr__(self, "columns", dict(self.columns))
        for name in self.columns:
            if name not in CHANGEABLE_COLUMNS:
                allowed = ", ".join(CHANGEABLE_COLUMNS)
                raise InvalidInputError(f"schedule.devices.{name}", f"cannot change in time; {allowed} can")
        if self.patch is not None:
            _check_patch(self.patch)

    def applied(self, network: Network) -> Network:
        """The network with this change."""
        changed = network.with_columns(dict(self.columns), self.links)
        return changed if self.patch is None else self.patch.applied(changed)


def _check_patch(patch: NetworkPatch) -> None:
    """Refuse what cannot change in time: the devices that there are, and their data."""
    if patch.renumbers:
        raise InvalidInputError(f"{patch.place}devices", "cannot come or go in time")
    told = [name for name, values in patch.devices.columns.items() if not np.isnan(values).all()]
    if patch.devices.labelled.size:
        told.append("label_counts")
    for name in told:
        if name not in CHANGEABLE_COLUMNS:
            allowed = ", ".join(CHANGEABLE_COLUMNS)
            raise InvalidInputError(f"{patch.place}devices.{name}", f"cannot change in time; {allowed} can")


@dataclass(frozen=True, eq=False)
class Conditions:
    """The network from step `first` to step `last` (None: no end)."""

    first: int
    last: int | None
    network: Network


@dataclass(frozen=True, eq=False)
class Schedule:
    """A network and its changes in time, resolved into segments at construction.

    `changes` may come in any order. Those of one step are applied in the order given.
    """

    network: Network
    changes: tuple[Change, ...] = ()
    segments: tuple[Conditions, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        changes = tuple(sorted(self.changes, key=lambda change: change.step))
        object.__setattr__(self, "changes", changes)
        starts = [1]
        networks = [self.network]
        for change in changes:
            if change.step > starts[-1]:
                starts.append(change.step)
                networks.append(networks[-1])
            networks[-1] = change.applied(networks[-1])
        ends = [start - 1 for start in starts[1:]] + [None]
        segments = tuple(map(Conditions, starts, ends, networks))
        object.__setattr__(self, "segments", segments)

    @classmethod
    def of(cls, network: "Network | Schedule", changes: Iterable[Change] = ()) -> "Schedule":
        """A schedule from a network that stays constant, or an existing schedule; `changes` are added."""
        changes = tuple(changes)
        if isinstance(network, Schedule):
            return network if not changes else cls(network.network, (*network.changes, *changes))
        return cls(network, changes)

    def whole_changes(self) -> tuple[Change, ...]:
        """The same changes in whole columns and links, one for each step at which anything changes."""
        before, found = self.network, []
        for segment in self.segments:
            now = segment.network
            columns = {
                name: getattr(now.devices, name)
                for name in CHANGEABLE_COLUMNS
                if not np.array_equal(getattr(now.devices, name), getattr(before.devices, name))
            }
            links = now.links if now.links is not before.links else None
            if columns or links is not None:
                found.append(Change(segment.first, columns, links))
            before = now
        return tuple(found)

    def at(self, step: int) -> Network:
        """The network in force at a step (1-based)."""
        return self.segment_at(step).network

    def segment_at(self, step: int) -> Conditions:
        """The segment a step lies in."""
        return next(s for s in self.segments if s.first <= step and (s.last is None or step <= s.last))

    def between(self, first: int, last: int) -> Iterator[Network]:
        """The networks in force at some step of first..last."""
        return (s.network for s in self.segments if s.first <= last and (s.last is None or s.last >= first))

    def after(self, step: int) -> "Schedule":
        """The same conditions counted from `step` on: its step 1 is the step after it."""
        later = [replace(one, step=one.step - step) for one in self.changes if one.step > step + 1]
        return Schedule(self.at(step + 1), tuple(later))
