"""A few changes to a large network: numbers of devices and links, and devices and links that come or go.

A patch is applied to arrays. What it costs beside copying the changed columns grows with the patch, not the network.
Numbers of devices are those of the network before the patch; devices that it adds follow after them, and devices that
it removes are left out last, so that the others move up.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from solver.arrays import BoolArray, FloatArray, IntArray
from solver.errors import InvalidInputError
from solver.network import DEVICE_COLUMNS, LINK_COLUMNS, Devices, Links, Network

__all__ = ["DeviceRows", "LinkRows", "LinkSet", "NetworkPatch", "renumbered"]

_WEIGHTS = LINK_COLUMNS[2:]


def _nothing() -> IntArray:
    return np.empty(0, np.int64)


@dataclass(frozen=True, eq=False)
class LinkSet:
    """Links as columns, each pair at most once in a direction, in any order."""

    source: IntArray
    target: IntArray
    columns: Mapping[str, FloatArray]

    def kept(self, mask: BoolArray) -> "LinkSet":
        """Those that are marked."""
        columns = {name: column[mask] for name, column in self.columns.items()}
        return LinkSet(self.source[mask], self.target[mask], columns)


@dataclass(frozen=True, eq=False)
class LinkRows:
    """Links to add or change, and links to remove, by the numbers of their ends; no link is named twice.

    In `columns` NaN leaves a number of an existing link as it is. A link that is new needs the columns `needed`; in
    the others NaN stays.
    """

    source: IntArray = field(default_factory=_nothing)
    target: IntArray = field(default_factory=_nothing)
    columns: Mapping[str, FloatArray] = field(default_factory=dict)
    removed_source: IntArray = field(default_factory=_nothing)
    removed_target: IntArray = field(default_factory=_nothing)

    def __bool__(self) -> bool:
        return bool(self.source.size or self.removed_source.size)

    def applied(self, links: LinkSet, n_devices: int, needed: tuple[str, ...], place: str) -> LinkSet:
        """The links with these changes; sorted links stay sorted by target, then source.

        Raises:
            InvalidInputError: a link to remove does not exist, or a new one lacks a number.
        """
        key = _keys(links.source, links.target, n_devices)
        order = None if np.all(key[1:] > key[:-1]) else np.argsort(key)
        gone = _places(key, order, _keys(self.removed_source, self.removed_target, n_devices))
        if (gone < 0).any():
            raise InvalidInputError(f"{place}remove_links.{int(np.argmax(gone < 0))}", "is no link of this network")
        found = _places(key, order, _keys(self.source, self.target, n_devices))
        new = found < 0
        for name in needed:
            lacking = new & np.isnan(self.columns[name])
            if lacking.any():
                raise InvalidInputError(f"{place}links.{int(np.argmax(lacking))}.{name}", "is missing: the link is new")
        columns = {}
        for name, column in links.columns.items():
            values = self.columns[name]
            told = ~new & ~np.isnan(values)
            columns[name] = column
            if told.any():
                columns[name] = column.copy()
                columns[name][found[told]] = values[told]
        changed = LinkSet(links.source, links.target, columns)
        if gone.size:
            mask = np.ones(key.size, np.bool_)
            mask[gone] = False
            changed, key = changed.kept(mask), key[mask]
        return self._with_new(changed, key, new, n_devices, is_sorted=order is None)

    def _with_new(self, links: LinkSet, key: IntArray, new: BoolArray, n_devices: int, *, is_sorted: bool) -> LinkSet:
        if not new.any():
            return links
        own = _keys(self.source[new], self.target[new], n_devices)
        rank = np.argsort(own)
        places = np.searchsorted(key, own[rank]) if is_sorted else np.full(rank.size, key.size)
        added = np.flatnonzero(new)[rank]
        return LinkSet(
            np.insert(links.source, places, self.source[added]),
            np.insert(links.target, places, self.target[added]),
            {name: np.insert(column, places, self.columns[name][added]) for name, column in links.columns.items()},
        )


@dataclass(frozen=True, eq=False)
class DeviceRows:
    """Devices by number, with a number for each column, NaN where it stays; rows of label counts for some of them."""

    device: IntArray = field(default_factory=_nothing)
    columns: Mapping[str, FloatArray] = field(default_factory=dict)
    labelled: IntArray = field(default_factory=_nothing)
    label_counts: FloatArray = field(default_factory=lambda: np.empty((0, 0)))


@dataclass(frozen=True, eq=False)
class NetworkPatch:
    """Changes to a network in the paper's quantities.

    Attributes:
        devices: devices that change.
        added: columns of devices to add, without NaN; with `label_counts` if the network has them.
        removed: devices to remove, with all their links.
        links: links that change, come or go.
        place: what precedes a field's name in errors, as `schedule.3.patch.`.
    """

    devices: DeviceRows = field(default_factory=DeviceRows)
    added: DeviceRows = field(default_factory=DeviceRows)
    removed: IntArray = field(default_factory=_nothing)
    links: LinkRows = field(default_factory=LinkRows)
    place: str = ""

    @property
    def renumbers(self) -> bool:
        """Whether devices come or go."""
        return bool(self.added.device.size or self.removed.size)

    def applied(self, network: Network) -> Network:
        """The network with these changes.

        Raises:
            InvalidInputError: they do not fit the network.
        """
        devices = self._devices(network.devices)
        links = network.links
        if self.links or self.removed.size:
            n = len(network) + self.added.device.size
            have = LinkSet(links.source, links.target, {name: getattr(links, name) for name in _WEIGHTS})
            have = self.links.applied(have, n, _WEIGHTS, self.place) if self.links else have
            have = renumbered(have, self.removed, n)
            links = Links(have.source, have.target, have.columns["similarity"], have.columns["transmit_cost"])
        return Network(devices, links)

    def _devices(self, devices: Devices) -> Devices:
        columns: dict[str, FloatArray] = {}
        for name in DEVICE_COLUMNS:
            values = self.devices.columns.get(name, np.empty(0))
            told = ~np.isnan(values)
            if told.any():
                columns[name] = getattr(devices, name).copy()
                columns[name][self.devices.device[told]] = values[told]
        counts = devices.label_counts
        if self.devices.labelled.size and counts is not None:
            counts = counts.copy()
            counts[self.devices.labelled] = self.devices.label_counts
        if not self.renumbers and not columns and counts is devices.label_counts:
            return devices
        whole = {name: columns.get(name, getattr(devices, name)) for name in DEVICE_COLUMNS}
        if self.added.device.size:
            whole = {name: np.concatenate((column, self.added.columns[name])) for name, column in whole.items()}
            counts = None if counts is None else np.concatenate((counts, self.added.label_counts))
        if self.removed.size:
            whole = {name: np.delete(column, self.removed) for name, column in whole.items()}
            counts = None if counts is None else np.delete(counts, self.removed, axis=0)
        return Devices(**whole, label_counts=counts, label_epsilon=devices.label_epsilon)


def renumbered(links: LinkSet, removed: IntArray, n_devices: int) -> LinkSet:
    """The links between the devices that are left, which move up."""
    if not removed.size:
        return links
    left = np.ones(n_devices, np.bool_)
    left[removed] = False
    number = np.cumsum(left) - 1
    kept = links.kept(left[links.source] & left[links.target])
    return LinkSet(number[kept.source], number[kept.target], kept.columns)


def _keys(source: IntArray, target: IntArray, n_devices: int) -> IntArray:
    return np.asarray(target * np.int64(n_devices) + source, np.int64)


def _places(key: IntArray, order: IntArray | None, wanted: IntArray) -> IntArray:
    """Where each wanted key stands, −1 for those that are not there."""
    if not key.size:
        return np.full(wanted.size, -1)
    place = np.minimum(np.searchsorted(key, wanted, sorter=order), key.size - 1)
    place = place if order is None else order[place]
    return np.where(key[place] == wanted, place, -1)
