"""Who may train in a run: who may be replaced, how often a device trains, and how many of each group do."""

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.http.problems import InvalidRequestError
from app.plans.planning import PlanQuery
from app.runs.request import GroupIn, ParticipationIn, ResampleIn, RunOptions
from app.wire.fleet import FleetIn
from app.wire.fleet_tables import DeviceTable
from app.wire.ids import DeviceIds
from app.wire.network import indices
from sampler.healing import Quota

__all__ = ["Group", "Policy"]

# Shares such as 0.1 are not exact.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Group:
    """Devices of which at least so many train."""

    name: str
    quota: Quota


@dataclass(frozen=True, eq=False)
class Policy:
    """As the run was asked for."""

    resample: ResampleIn = field(default_factory=ResampleIn)
    participation: ParticipationIn | None = None
    groups: tuple[Group, ...] = ()

    @property
    def quotas(self) -> tuple[Quota, ...]:
        """Those of the groups."""
        return tuple(group.quota for group in self.groups)

    @classmethod
    def of(cls, request: RunOptions, query: PlanQuery, fleet: FleetIn | None) -> "Policy":
        """What a request asks for; groups may be those of its fleet.

        Raises:
            InvalidRequestError: limits where nobody could take a device's place, or groups that are none.
        """
        asked, resample = request.participation, request.resample or ResampleIn()
        if asked is None:
            return cls(resample)
        if resample.when == "never":
            raise InvalidRequestError.at("/participation", "needs `resample.when` to be `lost` or `always`")
        if query.sampled is not None:
            raise InvalidRequestError.at("/participation", "cannot hold with `sampled`, which fixes who trains")
        groups = tuple(_group(one, place, fleet, query) for place, one in enumerate(asked.groups))
        needed = sum(group.quota.least for group in groups)
        if needed > query.sample_size and _disjoint(groups):
            told = f"ask for {needed} devices, sample_size is {query.sample_size}"
            raise InvalidRequestError.at("/participation/groups", told)
        return cls(resample, asked.model_copy(update={"groups": []}), groups)

    def in_fleet(self, before: DeviceTable, after: DeviceTable) -> "Policy":
        """The policy when the fleet has changed: groups that are those of the fleet have its devices of now."""
        groups = tuple(
            replace(one, quota=replace(one.quota, devices=_members(after, one.name)))
            if np.array_equal(one.quota.devices, _members(before, one.name))
            else one
            for one in self.groups
        )
        return replace(self, groups=groups)

    def to_json(self) -> dict[str, Any]:
        """Plain values for JSON."""
        limits = self.participation
        return {
            "resample": self.resample.model_dump(exclude_none=True),
            **({} if limits is None else {"participation": limits.model_dump(exclude_none=True)}),
            "groups": [[group.name, group.quota.devices.tolist(), group.quota.least] for group in self.groups],
        }

    @classmethod
    def from_json(cls, kept: dict[str, Any]) -> "Policy":
        """What `to_json` made."""
        limits = kept.get("participation")
        groups = (Group(name, Quota(np.array(devices, np.int64), least)) for name, devices, least in kept["groups"])
        return cls(ResampleIn(**kept["resample"]), None if limits is None else ParticipationIn(**limits), tuple(groups))


def _members(table: DeviceTable, group: str) -> NDArray[np.int64]:
    """The devices of a group of a fleet."""
    return np.flatnonzero(table.group == (table.groups.index(group) if group in table.groups else len(table.groups)))


def _disjoint(groups: tuple[Group, ...]) -> bool:
    devices = np.concatenate([group.quota.devices for group in groups])
    return len(np.unique(devices)) == devices.size


def _group(one: GroupIn, place: int, fleet: FleetIn | None, query: PlanQuery) -> Group:
    pointer = f"/participation/groups/{place}"
    n = len(query.schedule.network)
    if one.devices is not None and one.device_ids is not None:
        raise InvalidRequestError.at(f"{pointer}/device_ids", "`devices` names devices too: give one of the two")
    if one.devices is not None:
        devices = indices(one.devices, f"{pointer}/devices", n)
    elif one.device_ids is not None:
        devices = _numbered(query.ids, one.device_ids, f"{pointer}/device_ids")
    elif fleet is not None and one.name in fleet.devices.groups:
        devices = _members(fleet.devices, one.name)
    else:
        raise InvalidRequestError.at(f"{pointer}/name", "is no group of a fleet: name its `devices` or `device_ids`")
    least, members = math.ceil(one.min_share * query.sample_size - _ROUNDING), np.unique(devices)
    if least > members.size:
        told = f"asks for {least} devices of sample_size, the group has {members.size}"
        raise InvalidRequestError.at(f"{pointer}/min_share", told)
    return Group(one.name, Quota(members, least))


def _numbered(ids: DeviceIds | None, names: list[str], pointer: str) -> NDArray[np.int64]:
    if ids is None:
        raise InvalidRequestError.at(pointer, "needs devices with ids: a fleet, or `devices.id`")
    return ids.numbered(names, pointer)
