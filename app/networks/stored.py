"""A version of a stored network: what is stored, and the network that plans are made for."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

from app.http.problems import InvalidRequestError
from app.networks.fleet_patch import patched_fleet, pointing
from app.networks.patch import PatchIn
from app.networks.snapshot import pack_fleet, pack_network, unpack
from app.wire.budget import charge
from app.wire.estimate import network as network_memory
from app.wire.estimate import shown_network
from app.wire.fleet import FleetIn, Translated
from app.wire.ids import DeviceIds
from app.wire.pointers import located
from solver.network import DEVICE_COLUMNS, LINK_COLUMNS

__all__ = ["Stored", "StoredFleet", "StoredNetwork", "unpacked"]

# An id as text, in a list and in a dictionary.
_ID = 200


@dataclass(frozen=True, eq=False)
class StoredNetwork:
    """A network in the paper's quantities."""

    given: Translated
    kind: Literal["network"] = "network"

    @property
    def counts(self) -> tuple[int, int]:
        """Devices and links."""
        return len(self.given.network), len(self.given.network.links)

    @cached_property
    def size(self) -> int:
        """Bytes of memory."""
        return _size(self.given)

    @property
    def shown_size(self) -> int:
        """Bytes of memory that an answer with all of it takes."""
        (devices, links), counts = self.counts, self.given.network.devices.label_counts
        labels = 0 if counts is None else counts.size
        named = 0 if self.given.ids is None else devices
        return shown_network(named, len(DEVICE_COLUMNS) * devices + len(LINK_COLUMNS) * links + labels)

    def patched(self, patch: PatchIn) -> "StoredNetwork":
        """The network with these changes.

        Raises:
            InvalidRequestError: they do not fit it.
        """
        _charge(self.counts, patch)
        before = self.given
        change = patch.to_domain("", before.network, before.ids)
        n = len(before.network) + len(patch.add_devices)
        if change.removed.size == n:
            raise InvalidRequestError.at("/remove_devices", "must leave at least one device")
        with located({}):
            network = change.applied(before.network)
        return StoredNetwork(replace(before, network=network, ids=_ids(before.ids, patch, change.removed.tolist())))

    def check(self, patch: PatchIn, before: "Stored") -> None:
        """Nothing: all was checked."""

    def packed(self) -> bytes:
        """As the store has it."""
        return pack_network(self.given)

    def content(self) -> dict[str, Any]:
        """As it was sent."""
        devices, links = self.given.network.devices, self.given.network.links
        columns: dict[str, Any] = {} if self.given.ids is None else {"id": list(self.given.ids.names)}
        columns |= {name: getattr(devices, name).tolist() for name in DEVICE_COLUMNS}
        if devices.label_counts is not None:
            columns["label_counts"] = devices.label_counts.tolist()
        if devices.label_epsilon is not None:
            columns["label_noise"] = {"epsilon": devices.label_epsilon}
        topology = {"kind": "links"} | {name: getattr(links, name).tolist() for name in LINK_COLUMNS}
        return {"devices": columns, "topology": topology}


@dataclass(frozen=True, eq=False)
class StoredFleet:
    """A fleet, in physical units."""

    fleet: FleetIn
    pointer: str = ""
    kind: Literal["fleet"] = "fleet"

    @cached_property
    def given(self) -> Translated:
        """The network that it amounts to; errors point to it at `pointer`."""
        return self.fleet.to_domain(self.pointer)

    @property
    def counts(self) -> tuple[int, int]:
        """Devices and links, also those that no data may go over."""
        return len(self.fleet.devices), len(self.fleet.links)

    @cached_property
    def size(self) -> int:
        """Bytes of memory."""
        devices, links = self.fleet.devices, self.fleet.links
        tables = sum(column.nbytes for column in (*devices.numbers.values(), *links.numbers.values()))
        labels = 3 * devices.label_count.nbytes
        return _size(self.given) + tables + labels + 11 * len(devices) + 16 * len(links)

    @property
    def shown_size(self) -> int:
        """Bytes of memory that an answer with all of it takes."""
        devices, links = self.fleet.devices, self.fleet.links
        numbers = len(devices.numbers) * len(devices) + len(links.numbers) * len(links)
        return shown_network(len(devices) + len(links), numbers + 2 * devices.label_count.size)

    def patched(self, patch: PatchIn) -> "StoredFleet":
        """The fleet with these changes; `check` says whether they make sense together.

        Raises:
            InvalidRequestError: they do not fit it.
        """
        _charge(self.counts, patch)
        return StoredFleet(patched_fleet(self.fleet, self._ids, patch))

    def check(self, patch: PatchIn, before: "Stored") -> None:
        """Refuse a fleet that cannot be translated, pointing to the rows of the patch that it was made with."""
        if isinstance(before, StoredFleet):
            with pointing(patch, before._ids, self.fleet):
                _ = self.given

    def packed(self) -> bytes:
        """As the store has it."""
        return pack_fleet(self.fleet)

    def content(self) -> dict[str, Any]:
        """As it was sent."""
        made: dict[str, Any] = self.fleet.model_dump(exclude_none=True)
        return made

    @cached_property
    def _ids(self) -> DeviceIds:
        return DeviceIds.of(self.fleet.devices.id, "")


Stored = StoredNetwork | StoredFleet


def unpacked(text: bytes) -> Stored:
    """From the store's bytes."""
    found = unpack(text)
    return StoredFleet(found) if isinstance(found, FleetIn) else StoredNetwork(found)


def _size(given: Translated) -> int:
    devices, links = given.network.devices, given.network.links
    columns = [getattr(devices, name) for name in DEVICE_COLUMNS] + [getattr(links, name) for name in LINK_COLUMNS]
    labels = 0 if devices.label_counts is None else devices.label_counts.nbytes
    ids = 0 if given.ids is None else _ID * len(given.ids.names)
    return int(sum(column.nbytes for column in columns) + given.network.incoming.nbytes + labels + ids)


def _charge(counts: tuple[int, int], patch: PatchIn) -> None:
    devices, links = counts
    size = network_memory(devices + len(patch.add_devices), links + len(patch.links))
    charge(size, f"a patch of a network of {devices} devices and {links} links")


def _ids(ids: DeviceIds | None, patch: PatchIn, removed: list[int]) -> DeviceIds | None:
    if ids is None or not (patch.add_devices or removed):
        return ids
    names = [*ids.names, *(str(row.id) for row in patch.add_devices)]
    gone = set(removed)
    return DeviceIds.of([name for number, name in enumerate(names) if number not in gone], "")
