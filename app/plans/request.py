"""Plans as they are asked for."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal, cast

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict, Field

from app.http.problems import InvalidRequestError
from app.networks.archived import ArchiveParameters
from app.networks.course import Announced, check_course, fleet_changes, speaks_fleet
from app.networks.patch import PatchIn
from app.plans.planning import PlanQuery
from app.settings import Settings
from app.wire.base import Indices, Measure, Optional, RequestModel
from app.wire.budget import charge
from app.wire.estimate import changed_networks, transfers
from app.wire.fleet import FleetIn, Translated
from app.wire.ids import DeviceId, DeviceIds
from app.wire.naming import NamedRequest
from app.wire.network import DeviceChanges, NetworkIn, Topology, charge_network, indices
from app.wire.pointers import located
from sampler import DEFAULT_SAMPLER
from solver import DEFAULT_TRANSFER, Change, GradientModel, Network, Schedule, Weights
from solver.network.energy import Energy
from solver.network.patch import NetworkPatch
from solver.step import reference

__all__ = [
    "EXAMPLE",
    "BinaryParameters",
    "ChangeIn",
    "FindNetwork",
    "GivenNetwork",
    "GradientIn",
    "HorizonParameters",
    "NetworkRequest",
    "PlanParameters",
    "PlanRequest",
    "StoredNetworkId",
    "StoredNetworkVersion",
    "WeightsIn",
    "named_devices",
    "scheduled",
]

EXAMPLE: dict[str, Any] = {
    "network": {
        "devices": {
            "data": [600, 580, 610],
            "processing_capacity": [2000, 900, 1200],
            "processing_cost": [0.8, 1.0, 0.9],
            "receive_capacity": [200, 100, 150],
            "transmit_budget": [80, 60, 70],
        },
        "topology": {
            "kind": "links",
            "source": [1, 2],
            "target": [0, 0],
            "similarity": [0.4, 0.1],
            "transmit_cost": [0.5, 0.7],
        },
    },
    "sample_size": 1,
    "horizon": 10,
    "aggregation_period": 5,
    "schedule": [{"step": 6, "devices": {"transmit_budget": [40, 60, 70]}}],
    "gradient": {"norm": 1.0, "decay": 1.0},
    "gradient_noise": 1.0,
    "sampler": "greedy",
    "solver": "fast",
    "transfer": "send_once",
    "weights": {"transmit": 0.0, "processing": 0.0},
    "planning": "step",
    "seed": 0,
    "output": "links",
    "orders": False,
}


class GradientIn(RequestModel):
    """‖∇F̄(t)‖ = norm / decay^t."""

    norm: Annotated[Measure, Field(description="‖∇F̄(0)‖. A run takes it for an observation only if it is given.")] = 1.0
    decay: Annotated[
        float, Field(ge=1, le=1e6, description="α. A run keeps it until two norms are known, then measures it.")
    ] = 1.0

    def to_domain(self) -> GradientModel:
        """The model; a norm that was left out is not known."""
        return GradientModel(self.norm if "norm" in self.model_fields_set else None, self.decay)


class WeightsIn(RequestModel):
    """What transmit cost, processing cost and energy add to the objective of a step; 0 of each is the paper's."""

    transmit: Annotated[
        Measure, Field(description="Per unit of transmit cost, Σ ψ_ki·D_k·Φ_ki; per second in a fleet.")
    ] = 0.0
    processing: Annotated[
        Measure, Field(description="Per unit of processing cost, Σ p_i·D_i(t); per second in a fleet.")
    ] = 0.0
    energy: Annotated[
        Measure, Field(description="Per joule of sending and processing, in a fleet that tells joules.")
    ] = 0.0

    def to_domain(self, joules: Energy | None) -> Weights:
        """The weights."""
        if self.energy > 0 and joules is None:
            reason = "needs a fleet with joules_per_sample or joules_per_megabyte"
            raise InvalidRequestError.at("/weights/energy", reason)
        return Weights(self.transmit, self.processing, self.energy, joules)


class ChangeIn(RequestModel):
    """From `step` on, these device columns and this topology hold, and then what `patch` changes."""

    step: Annotated[int, Field(ge=1, lt=2**31)]
    devices: Optional[DeviceChanges] = None
    topology: Optional[Topology] = None
    patch: Optional[PatchIn] = Field(
        None,
        description="Changes to some devices and links, in the fields of `network`, or of `fleet` for one. Devices "
        "cannot come or go, and their data cannot change.",
    )

    def to_domain(self, pointer: str, network: Network, ids: DeviceIds | None) -> Change:
        """The change, checked against the network."""
        n = len(network)
        columns = {} if self.devices is None else self.devices.to_domain(f"{pointer}/devices", n)
        links = None if self.topology is None else self.topology.to_domain(f"{pointer}/topology", n)
        if links is not None:
            if self.topology is not None and self.topology.similarity is None:
                raise InvalidRequestError.at(f"{pointer}/topology/similarity", "is missing: only `network` may lack it")
            with located({"links": f"{pointer}/topology"}):
                Network(network.devices, links)
        return Change(self.step, columns, links, self._patch(f"{pointer}/patch", network, ids))

    def _patch(self, pointer: str, network: Network, ids: DeviceIds | None) -> NetworkPatch | None:
        if self.patch is None:
            return None
        check_course(self.patch, pointer)
        n_links = len(network.links) if self.patch.links or self.patch.remove_links else 0
        charge_network(len(network), n_links + len(self.patch.links))
        return self.patch.to_domain(pointer, network, ids)


def scheduled(changes: Sequence[ChangeIn], given: Translated, pointer: str) -> Schedule:
    """The network and its changes; those of a fleet are in its own fields, or all in the network's quantities.

    Raises:
        InvalidRequestError: changes do not fit, or two are for one step; `pointer` is the place of the list.
    """
    first: dict[int, int] = {}
    for i, change in enumerate(changes):
        if first.setdefault(change.step, i) != i:
            raise InvalidRequestError.at(f"{pointer}/{i}/step", f"is the step of change {first[change.step]} too")
    charge(changed_networks(len(given.network), len(changes)), f"a schedule of {len(changes)} changes")
    if given.source is not None and any(one.patch is not None and speaks_fleet(one.patch) for one in changes):
        made = fleet_changes(given.source, given.network, _announced(changes, pointer))
    else:
        made = [one.to_domain(f"{pointer}/{i}", given.network, given.ids) for i, one in enumerate(changes)]
    with located(dict.fromkeys(("schedule", "devices", "links"), pointer)):
        return Schedule(given.network, tuple(made))


def _announced(changes: Sequence[ChangeIn], pointer: str) -> list[Announced]:
    for i, one in enumerate(changes):
        for name in ("devices", "topology"):
            if getattr(one, name) is not None:
                rule = "is in the network's quantities, and other changes in the fleet's fields: choose one of the two"
                raise InvalidRequestError.at(f"{pointer}/{i}/{name}", rule)
    return [
        Announced(one.step, one.patch, f"{pointer}/{i}/patch") for i, one in enumerate(changes) if one.patch is not None
    ]


StoredNetworkId = Annotated[str, Field(pattern="^net_[0-9a-f]{32}$")]
StoredNetworkVersion = Annotated[int, Field(ge=1, lt=2**31)]
FindNetwork = Callable[[str, int | None], Translated]


def _find_none(_: str, __: int | None) -> Translated:
    raise InvalidRequestError.at("/network_id", "is known to a service only: give `network` or `fleet`")


_ONE_OF = "give one of `network`, `fleet` and `network_id`"

# The most gains, devices × picks, that an answer tells: some megabytes of text, and a value of the objective for each.
_MOST_GAINS = 100_000


class HorizonParameters(RequestModel):
    """What holds for any choice of devices: the steps, the conditions, and how to plan."""

    horizon: Annotated[int, Field(ge=1, lt=2**31, description="Steps to plan.")]
    aggregation_period: Annotated[int, Field(ge=1, lt=2**31, description="Steps between aggregations.")] = 5
    schedule: Annotated[list[ChangeIn], Field(max_length=1000, default_factory=list)]
    gradient: GradientIn = GradientIn()
    gradient_noise: Measure = 1.0
    eligible: Optional[Indices] = Field(None, description="Limits who may be sampled.")
    eligible_ids: Optional[list[DeviceId]] = Field(None, description="`eligible` by ids.")
    transfer: Annotated[
        Literal["send_once", "redraw"],
        Field(description="`send_once`: a device sends nothing over a link twice. `redraw`: as in the paper, eq. (8)."),
    ] = DEFAULT_TRANSFER.value
    weights: WeightsIn = WeightsIn()
    planning: Annotated[
        Literal["step", "horizon"],
        Field(
            description="`step`: one step after another. `horizon`: all steps of the answer as one problem, which pays "
            "where changes are announced; it needs solver `fast` and transfer `send_once`."
        ),
    ] = "step"
    time_limit: Optional[Annotated[float, Field(gt=0, le=1e6)]] = Field(
        None, description="Seconds to read the request, sample and solve in."
    )


class PlanParameters(HorizonParameters):
    """All of a request but the network."""

    sample_size: Annotated[int, Field(ge=1, lt=2**31, description="How many devices train.")]
    sampler: Annotated[str, Field(max_length=64, description="A name that GET /v1/samplers lists.")] = DEFAULT_SAMPLER
    sampled: Optional[Indices] = Field(None, description="Fixes the set: offloading only.")
    explain: Optional[Indices] = Field(
        None, description="Devices whose gain each pick of `trace` tells, beside that of the device picked."
    )
    sampled_ids: Optional[list[DeviceId]] = Field(None, description="`sampled` by ids.")
    explain_ids: Optional[list[DeviceId]] = Field(None, description="`explain` by ids.")
    explain_all: Annotated[bool, Field(description="`explain` for every device.")] = False
    solver: Literal["fast", "cvxpy"] = "fast"
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    output: Literal["links", "matrix"] = "links"
    orders: Annotated[
        bool, Field(description="Also tell each device which of its datapoints it sends where, in whole numbers.")
    ] = False

    def query(self, network: Network, settings: Settings) -> PlanQuery:
        """What is to be planned for this network."""
        return self.query_of(Translated(network), settings)

    def query_of(self, given: Translated, settings: Settings, *, stored: bool = False) -> PlanQuery:
        """What is to be planned for this network, whose devices may have ids.

        What is `stored` was accepted before, perhaps with other limits.
        """
        if self.time_limit is not None and self.time_limit > settings.max_time_limit and not stored:
            raise InvalidRequestError.at(
                "/time_limit", f"must be at most {settings.max_time_limit:g} (FEDSIFT_MAX_TIME_LIMIT)"
            )
        network = given.network
        self._keep_limits(len(network), settings)
        sampled = self._devices("sampled", given)
        if sampled is not None and sampled.size != self.sample_size:
            name = "sampled" if self.sampled_ids is None else "sampled_ids"
            raise InvalidRequestError.at(f"/{name}", f"must name sample_size = {self.sample_size} devices")
        return PlanQuery(
            schedule=scheduled(self.schedule, given, "/schedule"),
            sample_size=self.sample_size,
            horizon=self.horizon,
            aggregation_period=self.aggregation_period,
            gradient=self.gradient.to_domain(),
            gradient_noise=self.gradient_noise,
            sampler=self.sampler,
            sampled=sampled,
            eligible=self._devices("eligible", given),
            explained=self._explained(given),
            solver=self.solver,
            transfer=self.transfer,
            weights=self.weights.to_domain(given.energy),
            planning=self.planning,
            seed=self.seed,
            time_limit=min(self.time_limit or settings.time_limit, settings.max_time_limit),
            asked_for_time_limit=self.time_limit is not None,
            dense=self.output == "matrix",
            orders=self.orders,
            max_reference_links=settings.max_reference_links,
            ids=given.ids,
            fleet=given.fleet,
            energy=given.energy,
            stored=given.stored,
            similarity=given.similarity,
        )

    def _devices(self, name: str, given: Translated) -> NDArray[np.int64] | None:
        return named_devices(self, name, len(given.network), given.ids)

    def _explained(self, given: Translated) -> NDArray[np.int64]:
        asked = self._devices("explain", given)
        if self.explain_all and asked is not None:
            raise InvalidRequestError.at(
                "/explain", "names devices, and `explain_all` asks for all: give one of the two"
            )
        if asked is None:
            asked = np.arange(len(given.network) if self.explain_all else 0)
        gains = asked.size * self.sample_size
        if gains > _MOST_GAINS:
            size = f"{asked.size} devices in {self.sample_size} picks are {gains} gains"
            field = "/explain_all" if self.explain_all else "/explain"
            raise InvalidRequestError.at(field, f"{size}; at most {_MOST_GAINS} are told")
        charge(transfers(gains), f"an explanation of {gains} gains")
        return asked

    def _keep_limits(self, n_devices: int, settings: Settings) -> None:
        if self.horizon > settings.max_horizon:
            raise InvalidRequestError.at("/horizon", f"must be at most {settings.max_horizon}")
        if self.sample_size > n_devices:
            raise InvalidRequestError.at("/sample_size", f"must be at most the number of devices, {n_devices}")
        if self.solver == "cvxpy" and not reference.is_installed():
            raise InvalidRequestError.at("/solver", reference.MISSING)
        if self.planning == "horizon" and (self.transfer != "send_once" or self.solver != "fast"):
            raise InvalidRequestError.at("/planning", "horizon needs transfer send_once and solver fast")


def named_devices(request: RequestModel, name: str, n_devices: int, ids: DeviceIds | None) -> NDArray[np.int64] | None:
    """The devices that the field `name` of a request has as numbers, or the field `name`_ids as ids."""
    numbers, names = getattr(request, name), getattr(request, f"{name}_ids")
    if numbers is not None and names is not None:
        raise InvalidRequestError.at(f"/{name}_ids", f"`{name}` names devices too: give one of the two")
    if names is None:
        return None if numbers is None else _distinct(indices(numbers, f"/{name}", n_devices), f"/{name}")
    if ids is None:
        raise InvalidRequestError.at(f"/{name}_ids", "needs devices with ids: a fleet, or `devices.id`")
    return _distinct(ids.numbered(names, f"/{name}_ids"), f"/{name}_ids")


def _distinct(devices: NDArray[np.int64], pointer: str) -> NDArray[np.int64]:
    if len(np.unique(devices)) != devices.size:
        raise InvalidRequestError.at(pointer, "names a device twice")
    return devices


class GivenNetwork(RequestModel):
    """A network in one of its three forms."""

    network: Optional[NetworkIn] = Field(None, description="In the paper's quantities. This, `fleet` or `network_id`.")
    fleet: Optional[FleetIn] = Field(None, description="In physical units. This, `network` or `network_id`.")
    network_id: Optional[StoredNetworkId] = Field(None, description="A stored one. This, `network` or `fleet`.")
    network_version: Optional[StoredNetworkVersion] = Field(
        None, description="The version of the stored network; the newest if left out."
    )

    def given(self, find: FindNetwork = _find_none) -> Translated:
        """The network; `find` finds a stored one, by its id and perhaps its version."""
        named = [name for name in ("network", "fleet", "network_id") if getattr(self, name) is not None]
        if len(named) > 1:
            raise InvalidRequestError.at(f"/{named[1]}", f"`{named[0]}` is given too: {_ONE_OF}")
        if not named:
            raise InvalidRequestError.at("/network", f"is missing: {_ONE_OF}")
        if self.network_version is not None and self.network_id is None:
            raise InvalidRequestError.at("/network_version", "needs `network_id`")
        if self.network_id is not None:
            return find(self.network_id, self.network_version)
        if self.fleet is not None:
            return self.fleet.to_domain()
        return Translated.of(cast("NetworkIn", self.network))


class NetworkRequest(GivenNetwork, NamedRequest, PlanParameters):
    """A network, and how to plan for it."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE]})

    def to_domain(self, settings: Settings, find: FindNetwork = _find_none, *, stored: bool = False) -> PlanQuery:
        """What is to be planned; `find` finds a stored network, by its id and perhaps its version."""
        return self.query_of(self.given(find), settings, stored=stored)


class PlanRequest(NetworkRequest):
    """A network, and what to plan for it."""

    dry_run: Annotated[bool, Field(description="Only diagnose the network; nothing is solved.")] = False
    keep: Annotated[bool, Field(description="Keep the plan, to be shown and validated later by its id.")] = False


class BinaryParameters(NamedRequest, ArchiveParameters, PlanParameters):
    """The parameters in a binary request: its answer has arrays of transfers, never matrices."""

    output: Literal["links"] = "links"
    dry_run: bool = False
    keep: bool = False
