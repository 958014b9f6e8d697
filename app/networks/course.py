"""Patches in the course of a plan: conditions change from a step on, devices stay, and so does their data.

The patches of a schedule speak the network's quantities. Those for a fleet may speak the fleet's own fields instead:
`fleet_changes` applies them as PATCH applies them to a stored fleet, and translates the fleet anew after each.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from app.http.problems import InvalidRequestError
from app.networks.fleet_patch import patched_fleet, pointing
from app.networks.patch import DeviceChange, LinkChange, PatchIn
from app.wire.fleet import FleetIn
from app.wire.ids import DeviceIds
from app.wire.problem import ErrorItem
from solver import Change, Network
from solver.network import LINK_COLUMNS
from solver.network.schedule import CHANGEABLE_COLUMNS

__all__ = ["Announced", "check_course", "fleet_changes", "speaks_fleet"]

_DEVICE_FIXED = {"data", "datapoints", "joules_per_sample", "label_counts"}
_LINK_FIXED = {"joules_per_megabyte"}
_FLEET_DEVICE = {
    *("samples_per_second", "load", "storage_datapoints", "airtime_seconds", "group", "may_train", "may_send"),
    *("datapoints", "joules_per_sample", "latitude", "longitude", "unset"),
}
_FLEET_LINK = {"mbps", "loss", "joules_per_megabyte", "unset"}
# A fleet is translated anew for each patch, which nothing interrupts: seconds for so many devices and links in all.
_MOST_ROWS = 10**7


@dataclass(frozen=True)
class Announced:
    """A patch that holds from a step on, and its place in the request."""

    step: int
    patch: PatchIn
    pointer: str


def speaks_fleet(patch: PatchIn) -> bool:
    """Whether the patch has fields that only fleets have."""
    return any(row.model_fields_set & _FLEET_DEVICE for row in patch.devices) or any(
        row.model_fields_set & _FLEET_LINK for row in patch.links
    )


def check_course(patch: PatchIn, pointer: str) -> None:
    """Refuse what cannot change in the course of a plan.

    Raises:
        InvalidRequestError: devices come or go, or what they hold, or their joules change.
    """
    if patch.add_devices or patch.remove_devices:
        field = "add_devices" if patch.add_devices else "remove_devices"
        raise InvalidRequestError.at(f"{pointer}/{field}", "devices cannot come or go in the course of a plan")
    _check_fixed(patch.devices, _DEVICE_FIXED, f"{pointer}/devices")
    _check_fixed(patch.links, _LINK_FIXED, f"{pointer}/links")


def _check_fixed(rows: Sequence[DeviceChange | LinkChange], fixed: set[str], pointer: str) -> None:
    for i, row in enumerate(rows):
        told = sorted((row.model_fields_set | {*row.unset}) & fixed)
        if told:
            raise InvalidRequestError.at(f"{pointer}/{i}/{told[0]}", "cannot change in the course of a plan")


def fleet_changes(fleet: FleetIn, network: Network, announced: Sequence[Announced]) -> list[Change]:
    """The changes that patches of a fleet make to the network that it was translated into, one after the other.

    Raises:
        InvalidRequestError: a patch does not fit the fleet, or there are too many for so large a fleet.
    """
    ids = DeviceIds.of(fleet.devices.id, "")
    size = len(fleet.devices) + len(fleet.links)
    if size * len(announced) > _MOST_ROWS:
        most = _MOST_ROWS // size
        raise InvalidRequestError.at(announced[-1].pointer, f"a fleet of this size may have {most} patches")
    changes = []
    for one in sorted(announced, key=lambda one: one.step):
        check_course(one.patch, one.pointer)
        with _under(one.pointer):
            fleet = patched_fleet(fleet, ids, one.patch)
            with pointing(one.patch, ids, fleet):
                after = fleet.to_domain("").network
        changes.append(_change(one.step, network, after))
        network = after
    return changes


def _change(step: int, before: Network, after: Network) -> Change:
    columns = _changed(before.devices, after.devices, CHANGEABLE_COLUMNS)
    return Change(step, columns, after.links if _changed(before.links, after.links, LINK_COLUMNS) else None)


def _changed(before: object, after: object, names: Sequence[str]) -> dict[str, Any]:
    columns = {name: getattr(after, name) for name in names}
    return {name: column for name, column in columns.items() if not np.array_equal(column, getattr(before, name))}


@contextmanager
def _under(pointer: str) -> Iterator[None]:
    """Let errors about a patch point to its place in the request."""
    try:
        yield
    except InvalidRequestError as error:
        items = [ErrorItem(pointer=pointer + (one.pointer or ""), detail=one.detail) for one in error.errors]
        raise InvalidRequestError(items, count=error.count) from error
