"""A stored network as bytes: an archive of plain arrays, and a JSON object for what is no number."""

import io
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.wire.fleet import FleetIn, Translated
from app.wire.fleet_tables import DeviceTable, LinkTable
from app.wire.ids import DeviceIds
from app.wire.network import SimilarityOrigin
from solver import Devices, Links, Network
from solver.network import DEVICE_COLUMNS, LINK_COLUMNS

__all__ = ["pack_fleet", "pack_network", "unpack"]

_WORDS = "words"
_TABLE = ("may_train", "may_send", "group", "counted", "label_device", "label_class", "label_count")
_SCALARS = ("step_seconds", "datapoint_bytes", "epochs_per_step", "label_noise")


def pack_network(given: Translated) -> bytes:
    """A network in the paper's quantities, with the ids of its devices."""
    devices, links = given.network.devices, given.network.links
    arrays = {f"devices.{name}": getattr(devices, name) for name in DEVICE_COLUMNS}
    arrays |= {f"links.{name}": getattr(links, name) for name in LINK_COLUMNS[2:]}
    arrays |= {f"links.{name}": getattr(links, name).astype(np.int32) for name in LINK_COLUMNS[:2]}
    if devices.label_counts is not None:
        arrays["label_counts"] = devices.label_counts
    ids = None if given.ids is None else given.ids.names
    words = {"kind": "network", "ids": ids, "epsilon": devices.label_epsilon}
    origin = given.similarity
    return _packed(words if origin is None else words | {"similarity": origin.model_dump(exclude_none=True)}, arrays)


def pack_fleet(fleet: FleetIn) -> bytes:
    """A fleet, as it was sent."""
    table, links = fleet.devices, fleet.links
    words = fleet.model_dump(include=set(_SCALARS), exclude_none=True)
    words |= {"kind": "fleet", "ids": table.id, "groups": table.groups, "classes": table.classes, "ends": links.ends}
    arrays: dict[str, NDArray[Any]] = {name: getattr(table, name) for name in _TABLE}
    arrays |= {f"devices.{name}": column for name, column in table.numbers.items()}
    arrays |= {f"links.{name}": column for name, column in links.numbers.items()}
    arrays |= {"source": links.source.astype(np.int32), "target": links.target.astype(np.int32)}
    return _packed(words, arrays)


def unpack(text: bytes) -> Translated | FleetIn:
    """What was packed."""
    with np.load(io.BytesIO(text), allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    words = json.loads(arrays.pop(_WORDS).tobytes())
    return _network(words, arrays) if words["kind"] == "network" else _fleet(words, arrays)


def _network(words: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Translated:
    counts, epsilon = arrays.get("label_counts"), words["epsilon"]
    devices = Devices(**_part(arrays, "devices"), label_counts=counts, label_epsilon=epsilon)
    ids = None if words["ids"] is None else DeviceIds.of(words["ids"], "")
    origin = SimilarityOrigin(**words["similarity"]) if "similarity" in words else None
    return Translated(Network(devices, Links(**_part(arrays, "links"))), ids, similarity=origin)


def _fleet(words: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> FleetIn:
    devices = DeviceTable(
        id=words["ids"],
        numbers=_part(arrays, "devices"),
        groups=words["groups"],
        classes=words["classes"],
        **{name: arrays[name] for name in _TABLE},
    )
    ends = {name: arrays[name].astype(np.int64) for name in ("source", "target")}
    links = LinkTable(ends=words["ends"], numbers=_part(arrays, "links"), **ends)
    scalars = {name: words[name] for name in _SCALARS if name in words}
    return FleetIn.model_validate({**scalars, "devices": devices, "links": links})


def _part(arrays: Mapping[str, NDArray[Any]], table: str) -> dict[str, Any]:
    prefix = f"{table}."
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def _packed(words: dict[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    stream = io.BytesIO()
    text = np.frombuffer(json.dumps(words).encode(), np.uint8)
    np.savez(stream, allow_pickle=False, **{_WORDS: text}, **arrays)
    return stream.getvalue()
