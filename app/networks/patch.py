"""Patches over the wire: the one document that changes a stored network, and a network in the course of a schedule.

A device is named by `id` or by `index`, a link by the ids `from` and `to` or the numbers `source` and `target`. Fields
are those of `network` or of `fleet`, whichever is changed. `PatchIn.to_domain` makes of it what `solver.network.patch`
applies to arrays; `app.networks.fleet_patch` applies it to fleets.
"""

from collections.abc import Iterable, Sequence
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from app.http.problems import InvalidRequestError
from app.wire.base import LARGEST, SMALLEST, Measure, Optional, RequestModel
from app.wire.ids import DeviceId, DeviceIds
from solver.network import DEVICE_COLUMNS, LINK_COLUMNS, Network
from solver.network.patch import DeviceRows, LinkRows, NetworkPatch

__all__ = [
    "DeviceChange",
    "DeviceFields",
    "DeviceName",
    "LinkChange",
    "LinkEnds",
    "Names",
    "NewDevice",
    "PatchIn",
    "link_rows",
]

_Index = Annotated[int, Field(ge=0, lt=2**31)]
_Count = Annotated[float, Field(ge=-LARGEST, le=LARGEST)]
_NETWORK_LINK = LINK_COLUMNS[2:]
# The fields that a fleet may leave out. Null is no way to say so: some generated clients send it for what is not told.
_DeviceField = Literal[
    "load",
    "storage_datapoints",
    "airtime_seconds",
    "joules_per_sample",
    "label_counts",
    "group",
    "latitude",
    "longitude",
]
_LinkField = Literal["loss", "joules_per_megabyte", "similarity"]


class DeviceName(RequestModel):
    """A device, by its id or its number."""

    id: Optional[DeviceId] = None
    index: Optional[_Index] = Field(None, description="Its number before the patch.")


class DeviceFields(RequestModel):
    """The fields of a device: of `network` up to `transmit_budget`, the others but `label_counts` of `fleet`."""

    data: Optional[Measure] = None
    processing_capacity: Optional[Measure] = None
    processing_cost: Optional[Measure] = None
    receive_capacity: Optional[Measure] = None
    transmit_budget: Optional[Measure] = None
    datapoints: Optional[Measure] = None
    samples_per_second: Optional[Annotated[float, Field(ge=1e-6, le=1e9)]] = None
    load: Optional[Annotated[float, Field(ge=0, le=1)]] = None
    storage_datapoints: Optional[Measure] = None
    airtime_seconds: Optional[Annotated[float, Field(ge=0, le=1e9)]] = None
    joules_per_sample: Optional[Annotated[float, Field(ge=0, le=1e6)]] = None
    group: Optional[Annotated[str, Field(min_length=1, max_length=128)]] = None
    latitude: Optional[Annotated[float, Field(ge=-90, le=90)]] = None
    longitude: Optional[Annotated[float, Field(ge=-180, le=180)]] = None
    may_train: Optional[bool] = None
    may_send: Optional[bool] = None
    label_counts: Optional[dict[str, _Count]] = Field(
        None, description="All counts of the device, by class; in a `network` classes are columns, `0` the first."
    )


class DeviceChange(DeviceName, DeviceFields):
    """A device and the fields that change; those left out stay as they are."""

    unset: Annotated[
        list[_DeviceField],
        Field(default_factory=list, description="Fields of a `fleet` that are left out from now on."),
    ]


class NewDevice(DeviceFields):
    """A device to add, with all fields that a device needs."""

    id: Optional[DeviceId] = Field(None, description="Needed where the others have ids.")


class LinkEnds(RequestModel):
    """A link in one direction, by the ids or the numbers of its ends."""

    from_: Optional[DeviceId] = Field(None, alias="from", description="The id of the device that sends.")
    to: Optional[DeviceId] = Field(None, description="The id of the device that receives.")
    source: Optional[_Index] = Field(None, description="The number of the device that sends.")
    target: Optional[_Index] = Field(None, description="The number of the device that receives.")


class LinkChange(LinkEnds):
    """A link to add or change. `transmit_cost` is a field of `network`, all others but `similarity` of `fleet`."""

    similarity: Optional[Annotated[float, Field(ge=0, le=1)]] = None
    transmit_cost: Optional[Measure] = None
    mbps: Optional[Annotated[float, Field(ge=1e-3, le=1e6)]] = None
    loss: Optional[Annotated[float, Field(ge=0, le=0.999)]] = None
    joules_per_megabyte: Optional[Annotated[float, Field(ge=0, le=1e6)]] = None
    unset: Annotated[
        list[_LinkField],
        Field(default_factory=list, description="Fields of a `fleet` that are left out from now on."),
    ]


class Names:
    """The devices of a network, and those that a patch adds, by id and by number."""

    def __init__(self, n_devices: int, ids: DeviceIds | None, added: Sequence[str | None] = ()) -> None:
        self.count = n_devices + len(added)
        self._before = n_devices
        self._ids = None if ids is None else ids.numbers
        self._added = {name: n_devices + j for j, name in enumerate(added) if name is not None}

    def _device(self, row: DeviceName, pointer: str) -> int:
        """The number of a device that was there before the patch."""
        found = self._number(row.id, row.index, pointer, ("id", "index"))
        if found >= self._before:
            raise InvalidRequestError.at(pointer, "is a device that the patch adds")
        return found

    def _number(self, name: str | None, index: int | None, pointer: str, fields: tuple[str, str]) -> int:
        """The number of the device that one of the two fields names."""
        if (name is None) == (index is None):
            both = f"give `{fields[0]}` or `{fields[1]}`" + (", not both" if name is not None else "")
            raise InvalidRequestError.at(f"{pointer}/{fields[0]}", both)
        if index is not None:
            if index >= self.count:
                raise InvalidRequestError.at(
                    f"{pointer}/{fields[1]}", f"must be below the number of devices, {self.count}"
                )
            return index
        if self._ids is None:
            raise InvalidRequestError.at(f"{pointer}/{fields[0]}", "the devices have no ids: give their numbers")
        found = self._ids.get(str(name), self._added.get(str(name), -1))
        if found < 0:
            raise InvalidRequestError.at(f"{pointer}/{fields[0]}", "is the id of no device")
        return found

    def devices(self, rows: Sequence[DeviceName], pointer: str) -> NDArray[np.int64]:
        """The numbers of these devices, none of them named twice."""
        found = [self._device(row, f"{pointer}/{i}") for i, row in enumerate(rows)]
        _refuse_twice(found, pointer, "names a device that an earlier row names")
        return np.array(found, np.int64)

    def links(self, rows: Sequence[LinkEnds], pointer: str) -> NDArray[np.int64]:
        """Two rows with the numbers of the ends of these links, none of them named twice."""
        ends = []
        for i, row in enumerate(rows):
            place = f"{pointer}/{i}"
            source = self._number(row.from_, row.source, place, ("from", "source"))
            target = self._number(row.to, row.target, place, ("to", "target"))
            if source == target:
                raise InvalidRequestError.at(place, "links a device with itself")
            ends.append((source, target))
        _refuse_twice(ends, pointer, "names a link that an earlier row names")
        return np.array(ends, np.int64).reshape(-1, 2).T


def _refuse_twice(found: Sequence[object], pointer: str, rule: str) -> None:
    if len(set(found)) < len(found):
        seen: set[object] = set()
        for i, one in enumerate(found):
            if one in seen:
                raise InvalidRequestError.at(f"{pointer}/{i}", rule)
            seen.add(one)


class PatchIn(RequestModel):
    """Changes to a network or fleet. Numbers of devices are those before the patch; added ones follow after them."""

    devices: Annotated[list[DeviceChange], Field(default_factory=list, description="Devices that change.")]
    add_devices: Annotated[list[NewDevice], Field(default_factory=list)]
    remove_devices: Annotated[
        list[DeviceName],
        Field(default_factory=list, description="With all their links. The devices after them move up."),
    ]
    links: Annotated[
        list[LinkChange],
        Field(default_factory=list, description="Links that are added, with all that a link needs, or changed."),
    ]
    remove_links: Annotated[list[LinkEnds], Field(default_factory=list)]

    def to_domain(self, pointer: str, network: Network, ids: DeviceIds | None) -> NetworkPatch:
        """What it changes in a network of the paper's quantities; `pointer` is the patch's place in the request.

        Raises:
            InvalidRequestError: it names what does not exist, or fields that a network does not have.
        """
        names = Names(len(network), ids, self.added_ids(pointer, ids))
        self.check_fields(pointer, DEVICE_COLUMNS, _NETWORK_LINK, "network")
        counts = network.devices.label_counts
        classes, signed = (0 if counts is None else counts.shape[1]), network.devices.label_epsilon is not None
        changed = names.devices(self.devices, f"{pointer}/devices")
        labelled = [i for i, row in enumerate(self.devices) if row.label_counts is not None]
        rows = [_label_row(self.devices[i], f"{pointer}/devices/{i}", classes, signed=signed) for i in labelled]
        devices = DeviceRows(
            changed,
            _columns(self.devices, DEVICE_COLUMNS, f"{pointer}/devices"),
            changed[labelled],
            np.array(rows, np.float64).reshape(len(rows), classes),
        )
        removed = names.devices(self.remove_devices, f"{pointer}/remove_devices")
        return NetworkPatch(
            devices,
            self._added(pointer, classes, signed=signed),
            removed,
            link_rows(self, names, removed, _NETWORK_LINK, pointer),
            place=pointer.removeprefix("/").replace("/", ".") + ("." if pointer else ""),
        )

    def added_ids(self, pointer: str, ids: DeviceIds | None) -> list[str | None]:
        """The ids of the devices to add, all of them new if the others have ids, or none."""
        seen: set[str] = set()
        for i, row in enumerate(self.add_devices):
            place = f"{pointer}/add_devices/{i}/id"
            if ids is None and row.id is not None:
                raise InvalidRequestError.at(place, "the devices have no ids")
            if ids is None:
                continue
            if row.id is None:
                raise InvalidRequestError.at(place, "is missing: the devices have ids")
            if row.id in ids.numbers or row.id in seen:
                raise InvalidRequestError.at(place, "is the id of another device")
            seen.add(row.id)
        return [row.id for row in self.add_devices]

    def check_fields(self, pointer: str, device: Iterable[str], link: Iterable[str], kind: str) -> None:
        """Refuse fields that devices and links of this kind do not have."""
        device_fields, link_fields = {*device, "label_counts", "id", "index"}, {*link, *LinkEnds.model_fields}
        tables = (
            ("devices", self.devices, device_fields),
            ("add_devices", self.add_devices, device_fields),
            ("links", self.links, link_fields),
        )
        for table, rows, known in tables:
            for i, row in enumerate(rows):
                both = {*getattr(row, "unset", ())} & row.model_fields_set
                if both:
                    raise InvalidRequestError.at(f"{pointer}/{table}/{i}/{min(both)}", "is in `unset` too")
                strange = row.model_fields_set - known
                if strange:
                    other = "fleet" if kind == "network" else "network"
                    raise InvalidRequestError.at(
                        f"{pointer}/{table}/{i}/{min(strange)}", f"is a field of a {other}; this is a {kind}"
                    )

    def _added(self, pointer: str, classes: int, *, signed: bool) -> DeviceRows:
        place = f"{pointer}/add_devices"
        columns = _columns(self.add_devices, DEVICE_COLUMNS, place)
        for name, values in columns.items():
            if np.isnan(values).any():
                raise InvalidRequestError.at(f"{place}/{int(np.argmax(np.isnan(values)))}/{name}", "is missing")
        rows = []
        for i, row in enumerate(self.add_devices):
            if classes and row.label_counts is None:
                raise InvalidRequestError.at(f"{place}/{i}/label_counts", "is missing: the others have them")
            rows.append(_label_row(row, f"{place}/{i}", classes, signed=signed))
        number = np.arange(len(rows))
        return DeviceRows(number, columns, number, np.array(rows, np.float64).reshape(len(rows), classes))


def link_rows(
    patch: PatchIn, names: Names, gone: NDArray[np.int64], columns: tuple[str, ...], pointer: str
) -> LinkRows:
    """The links of a patch with these columns, and those that it removes; the devices `gone` are removed."""
    changed = names.links(patch.links, f"{pointer}/links")
    lost = np.isin(changed, gone).any(axis=0)
    if lost.any():
        raise InvalidRequestError.at(f"{pointer}/links/{int(np.argmax(lost))}", "names a device that is removed")
    removed = names.links(patch.remove_links, f"{pointer}/remove_links")
    both = {*map(tuple, changed.T.tolist())} & {*map(tuple, removed.T.tolist())}
    if both:
        place = next(i for i, ends in enumerate(removed.T.tolist()) if tuple(ends) in both)
        raise InvalidRequestError.at(f"{pointer}/remove_links/{place}", "is a link that `links` changes")
    rows = _columns(patch.links, columns, f"{pointer}/links")
    return LinkRows(changed[0], changed[1], rows, removed[0], removed[1])


def _columns(rows: Sequence[RequestModel], names: tuple[str, ...], pointer: str) -> dict[str, NDArray[np.float64]]:
    """A column for each name, NaN where it was left out."""
    columns = {name: np.array([getattr(row, name) for row in rows], np.float64) for name in names}
    for name, column in columns.items():
        tiny = (column != 0) & (np.abs(column) < SMALLEST)  # squares and quotients of these would not be numbers
        if tiny.any():
            place = int(np.argmax(tiny))
            raise InvalidRequestError.at(f"{pointer}/{place}/{name}", f"must be 0 or at least {SMALLEST:g}")
    return columns


def _label_row(row: DeviceFields, pointer: str, classes: int, *, signed: bool) -> NDArray[np.float64]:
    """The counts of a network's device, a number for each column."""
    made, place = np.zeros(classes), f"{pointer}/label_counts"
    if row.label_counts and not classes:
        raise InvalidRequestError.at(place, "the network has no label counts")
    for name, count in (row.label_counts or {}).items():
        if not (name.isdecimal() and len(name) < 10 and int(name) < classes):
            raise InvalidRequestError.at(place, f"has a class that is no column; columns are 0 to {classes - 1}")
        if (count < 0 and not signed) or 0 < abs(count) < SMALLEST:
            rule = f"must be 0 or from {SMALLEST:g} to {LARGEST:g}; only counts with label_noise may be negative"
            raise InvalidRequestError.at(place, rule)
        made[int(name)] = count
    return made
