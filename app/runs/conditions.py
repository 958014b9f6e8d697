"""What a run needs of its request from now on, as bytes: the parameters, the network in force, and announced changes.

The cost of an aggregation thus does not grow with the run's history. Arrays are kept as .npz without pickles, and not
compressed: that would take longer than planning.
"""

import io
import json
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.networks.snapshot import pack_fleet, unpack
from app.plans.planning import PlanQuery
from app.plans.request import PlanParameters
from app.runs.policy import Policy
from app.settings import Settings
from app.wire.budget import charge
from app.wire.estimate import network as network_memory
from app.wire.fleet import FleetIn, Translated, Translation
from app.wire.ids import DeviceIds
from solver import Change, Devices, Links, Network, Schedule
from solver.network import DEVICE_COLUMNS, LINK_COLUMNS
from solver.network.energy import Energy

__all__ = ["Kept", "conditions_of", "packed", "parameters_of", "query_for", "settled"]

# The network has the rest.
_PARAMETERS = set(PlanParameters.model_fields) - {"schedule"}
_ENERGY = ("processing", "source", "target", "transmit")
Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Kept:
    """A run's query from now on, the parameters that it was made of, and who may train.

    `fleet` is that of a run of a fleet, in its own units; None while it is as it was asked for.
    """

    query: PlanQuery
    parameters: dict[str, Any]
    policy: Policy
    fleet: FleetIn | None = None


def parameters_of(request: PlanParameters) -> dict[str, Any]:
    """The parameters of a request, to be kept."""
    kept: dict[str, Any] = json.loads(request.model_dump_json(include=_PARAMETERS, exclude_unset=True))
    return kept


def query_for(
    parameters: dict[str, Any], given: Translated, changes: tuple[Change, ...], settings: Settings
) -> PlanQuery:
    """The query with these parameters for a network and its announced changes."""
    asked = PlanParameters.model_validate_json(json.dumps(parameters))
    query = asked.query_of(given, settings, stored=True)
    return replace(query, schedule=Schedule(given.network, changes))


def settled(query: PlanQuery, step: int) -> PlanQuery:
    """The query without the conditions of steps up to `step`: the network is that of the next one."""
    later = tuple(change for change in query.schedule.changes if change.step > step + 1)
    return replace(query, schedule=Schedule(query.schedule.at(step + 1), later))


def packed(kept: Kept) -> bytes:
    """All of it."""
    query, schedule = kept.query, kept.query.schedule
    devices = schedule.network.devices
    arrays: Arrays = {name: getattr(devices, name) for name in DEVICE_COLUMNS}
    if devices.label_counts is not None:
        arrays["label_counts"] = devices.label_counts
    arrays |= _links("links", schedule.network.links)
    changes = schedule.whole_changes()
    for place, change in enumerate(changes):
        arrays |= {f"{place}.{name}": np.asarray(values, np.float64) for name, values in change.columns.items()}
        arrays |= {} if change.links is None else _links(f"{place}.links", change.links)
    if query.energy is not None:
        arrays |= {f"energy.{name}": getattr(query.energy, name) for name in _ENERGY}
    told = {
        "parameters": kept.parameters,
        "policy": kept.policy.to_json(),
        "steps": [change.step for change in changes],
        "label_epsilon": devices.label_epsilon,
        "ids": None if query.ids is None else list(query.ids.names),
        "unwilling": [] if query.ids is None else sorted(query.ids.unwilling),
        "fleet": None if query.fleet is None else query.fleet.model_dump(mode="json", exclude_none=True),
    }
    if kept.fleet is not None:
        arrays["fleet"] = np.frombuffer(pack_fleet(kept.fleet), np.uint8)
    arrays["told"] = np.frombuffer(json.dumps(told).encode(), np.uint8)
    body = io.BytesIO()
    np.savez(body, allow_pickle=False, **arrays)
    return body.getvalue()


def _links(prefix: str, links: Links) -> Arrays:
    ends = {f"{prefix}.{name}": getattr(links, name).astype(np.int32) for name in LINK_COLUMNS[:2]}
    return ends | {f"{prefix}.{name}": getattr(links, name) for name in LINK_COLUMNS[2:]}


@dataclass(frozen=True)
class _Unpacked:
    arrays: Arrays
    told: dict[str, Any]

    def links(self, prefix: str) -> Links:
        return Links(**{name: self.arrays[f"{prefix}.{name}"] for name in LINK_COLUMNS})

    def network(self) -> Network:
        columns = {name: self.arrays[name] for name in DEVICE_COLUMNS}
        counts, epsilon = self.arrays.get("label_counts"), self.told["label_epsilon"]
        return Network(Devices(**columns, label_counts=counts, label_epsilon=epsilon), self.links("links"))

    def change(self, place: int, step: int) -> Change:
        own = [name for name in self.arrays if name.startswith(f"{place}.")]
        columns = {name.split(".")[1]: self.arrays[name] for name in own if ".links." not in name}
        return Change(step, columns, self.links(f"{place}.links") if f"{place}.links.source" in own else None)

    def fleet(self) -> FleetIn | None:
        found = None if "fleet" not in self.arrays else unpack(self.arrays["fleet"].tobytes())
        return found if isinstance(found, FleetIn) else None

    def energy(self) -> Energy | None:
        columns = [self.arrays.get(f"energy.{name}") for name in _ENERGY]
        return Energy(*(one for one in columns if one is not None)) if columns[0] is not None else None


def conditions_of(body: bytes, settings: Settings) -> Kept:
    """What `packed` made, as it was."""
    charge(2 * len(body), "the network of a run")
    with np.load(io.BytesIO(body), allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    told = json.loads(arrays.pop("told").tobytes())
    found = _Unpacked(arrays, told)
    network = found.network()
    charge(network_memory(len(network), len(network.links)), f"a network of {len(network)} devices")
    ids = None if told["ids"] is None else DeviceIds(tuple(told["ids"]), frozenset(told["unwilling"]))
    fleet = None if told["fleet"] is None else Translation(**told["fleet"])
    changes = tuple(found.change(place, step) for place, step in enumerate(told["steps"]))
    query = query_for(told["parameters"], Translated(network, ids, fleet, found.energy()), changes, settings)
    return Kept(query, told["parameters"], Policy.from_json(told["policy"]), found.fleet())
