"""A patch applied to the tables of a fleet. The fleet is then translated anew, which checks it as a whole."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from app.http.problems import InvalidRequestError
from app.networks.patch import Names, PatchIn, link_rows
from app.wire.fleet import FleetIn
from app.wire.fleet_tables import DEVICE_NUMBERS, LINK_NUMBERS, DeviceTable, FleetDevice, LinkTable
from app.wire.ids import DeviceIds
from app.wire.pointers import located, refusal
from app.wire.problem import ErrorItem
from solver.network.patch import LinkRows, LinkSet, renumbered

__all__ = ["patched_fleet", "pointing"]

_FLAGS = ("may_train", "may_send")


def patched_fleet(fleet: FleetIn, ids: DeviceIds, patch: PatchIn) -> FleetIn:
    """The fleet with these changes.

    Raises:
        InvalidRequestError: they do not fit the fleet.
    """
    patch.check_fields("", (*DEVICE_NUMBERS, *_FLAGS, "group", "unset"), (*LINK_NUMBERS, "unset"), "fleet")
    names = Names(len(ids.names), ids, patch.added_ids("", ids))
    changed, removed = names.devices(patch.devices, "/devices"), names.devices(patch.remove_devices, "/remove_devices")
    rows = link_rows(patch, names, removed, LINK_NUMBERS, "")
    devices = _changed(fleet.devices, changed.tolist(), patch)
    if patch.add_devices:
        devices = _joined(devices, _new(patch))
    numbers = np.array([ids.numbers[name] for name in fleet.links.ends], np.int64)
    links = LinkSet(numbers[fleet.links.source], numbers[fleet.links.target], fleet.links.numbers)
    if rows:
        with located({}):
            links = rows.applied(links, names.count, ("mbps",), "")
        links = _unset(links, rows, patch, names.count)
    links = renumbered(links, removed, names.count)
    devices = _without(devices, removed)
    table = LinkTable(devices.id, links.source, links.target, dict(links.columns))
    if not len(devices):
        raise InvalidRequestError.at("/remove_devices", "must leave at least one device")
    return fleet.model_copy(update={"devices": devices, "links": table})


def _unset(links: LinkSet, rows: LinkRows, patch: PatchIn, n_devices: int) -> LinkSet:
    """The links without the numbers that the patch unsets."""
    columns = dict(links.columns)
    for name in LINK_NUMBERS:
        told = [i for i, row in enumerate(patch.links) if name in row.unset]
        if told:
            ends = rows.target[told] * n_devices + rows.source[told]
            columns[name] = np.where(np.isin(links.target * n_devices + links.source, ends), np.nan, columns[name])
    return replace(links, columns=columns)


def _changed(table: DeviceTable, numbers: list[int], patch: PatchIn) -> DeviceTable:
    columns = {name: column.copy() for name, column in table.numbers.items()}
    flags = {name: getattr(table, name).copy() for name in _FLAGS}
    group, groups = table.group.copy(), {name: code for code, name in enumerate(table.groups)}
    for number, row in zip(numbers, patch.devices, strict=True):
        for name in DEVICE_NUMBERS:
            if (value := getattr(row, name)) is not None:
                columns[name][number] = value
        for name in _FLAGS:
            if (flag := getattr(row, name)) is not None:
                flags[name][number] = flag
        if row.group is not None:
            group[number] = groups.setdefault(row.group, len(groups))
        for name in row.unset:
            if name in columns:
                columns[name][number] = np.nan
        if "group" in row.unset:
            group[number] = -1
    made = replace(table, numbers=columns, group=group, groups=list(groups), **flags)
    labels = {
        n: row.label_counts
        for n, row in zip(numbers, patch.devices, strict=True)
        if row.label_counts is not None or "label_counts" in row.unset
    }
    return _labelled(made, labels) if labels else made


def _labelled(table: DeviceTable, labels: dict[int, dict[str, float] | None]) -> DeviceTable:
    """The table with all label counts of these devices replaced, or left out (None)."""
    classes = {name: code for code, name in enumerate(table.classes)}
    new = [
        (n, classes.setdefault(name, len(classes)), count)
        for n, row in labels.items()
        for name, count in (row or {}).items()
    ]
    others = ~np.isin(table.label_device, list(labels))
    counted = table.counted.copy()
    counted[list(labels)] = [row is not None for row in labels.values()]
    device, label, count = (np.array([one[k] for one in new]) for k in range(3))
    made = replace(
        table,
        counted=counted,
        classes=list(classes),
        label_device=np.concatenate((table.label_device[others], device.astype(np.int64))),
        label_class=np.concatenate((table.label_class[others], label.astype(np.int64))),
        label_count=np.concatenate((table.label_count[others], count.astype(np.float64))),
    )
    return _without_unused_classes(made)


def _without_unused_classes(table: DeviceTable) -> DeviceTable:
    """A class that no device has any more is none of the fleet, as if the fleet were sent anew."""
    used = np.unique(table.label_class)
    if used.size == len(table.classes):
        return table
    return replace(
        table,
        classes=[table.classes[code] for code in used.tolist()],
        label_class=np.searchsorted(used, table.label_class),
    )


def _new(patch: PatchIn) -> DeviceTable:
    rows = [row.model_dump(exclude_none=True) for row in patch.add_devices]
    made = []
    for i, row in enumerate(rows):
        try:
            made.append(FleetDevice.model_validate(row))
        except ValidationError as error:
            found = refusal(error, FleetDevice)
            if not isinstance(found, InvalidRequestError):
                raise found from None
            items = [ErrorItem(pointer=f"/add_devices/{i}{one.pointer}", detail=one.detail) for one in found.errors]
            raise InvalidRequestError(items, count=found.count) from None
    return DeviceTable.of(made)


def _joined(table: DeviceTable, more: DeviceTable) -> DeviceTable:
    """Both tables, one after the other."""
    groups = {name: code for code, name in enumerate(table.groups)}
    classes = {name: code for code, name in enumerate(table.classes)}
    group = np.array([groups.setdefault(name, len(groups)) for name in more.groups] or [0], np.int64)
    label = np.array([classes.setdefault(name, len(classes)) for name in more.classes] or [0], np.int64)
    return DeviceTable(
        id=[*table.id, *more.id],
        numbers={name: _both(table.numbers[name], more.numbers[name]) for name in table.numbers},
        may_train=_both(table.may_train, more.may_train),
        may_send=_both(table.may_send, more.may_send),
        groups=list(groups),
        group=_both(table.group, np.where(more.group < 0, -1, group[more.group])),
        classes=list(classes),
        counted=_both(table.counted, more.counted),
        label_device=_both(table.label_device, more.label_device + len(table)),
        label_class=_both(table.label_class, label[more.label_class]),
        label_count=_both(table.label_count, more.label_count),
    )


def _both(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate((first, second))


def _without(table: DeviceTable, removed: NDArray[np.int64]) -> DeviceTable:
    if not removed.size:
        return table
    left = np.ones(len(table), np.bool_)
    left[removed] = False
    number, labels = np.cumsum(left) - 1, left[table.label_device]
    made = replace(
        table,
        id=[name for name, stays in zip(table.id, left.tolist(), strict=True) if stays],
        numbers={name: column[left] for name, column in table.numbers.items()},
        may_train=table.may_train[left],
        may_send=table.may_send[left],
        group=table.group[left],
        counted=table.counted[left],
        label_device=number[table.label_device[labels]],
        label_class=table.label_class[labels],
        label_count=table.label_count[labels],
    )
    return _without_unused_classes(made)


_ROW = re.compile(r"/devices/(\d+)(/.*)")


@contextmanager
def pointing(patch: PatchIn, ids: DeviceIds, fleet: FleetIn) -> Iterator[None]:
    """Let errors about devices of the patched fleet point to the rows of the patch that changed them."""
    try:
        yield
    except InvalidRequestError as error:
        numbers = Names(len(ids.names), ids).devices(patch.devices, "/devices").tolist()
        rows = {ids.names[number]: f"/devices/{i}" for i, number in enumerate(numbers)}
        rows |= {str(row.id): f"/add_devices/{i}" for i, row in enumerate(patch.add_devices)}
        items = []
        for one in error.errors:
            found = _ROW.fullmatch(one.pointer or "")
            place = rows.get(fleet.devices.id[int(found[1])], "") if found else ""
            items.append(ErrorItem(pointer=place + found[2] if found and place else "", detail=one.detail))
        raise InvalidRequestError(items, count=error.count) from error
