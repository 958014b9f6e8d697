"""One network realisation (Sec. V-A): who holds what, who is linked to whom, and what everybody can do."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from fedl_sim.data.datasets import DataSet
from fedl_sim.errors import InvalidSettingError, TopologyError
from fedl_sim.network.node_link import load_node_link
from fedl_sim.network.partition import Partition, partition_by_dirichlet, partition_by_labels
from fedl_sim.network.profiles import BUDGETS, PROFILES, DeviceColumns, device_columns, link_cost
from fedl_sim.network.similarity import estimate_similarity, similar_radius
from fedl_sim.network.topology import RANDOM_TOPOLOGIES, Topology, load_graphml, random_topology
from fedl_sim.randomness import stream
from sampler.label_counts.derived_similarity import complete_similarity
from solver.network import Devices, Links, Network
from solver.network.schedule import Schedule

__all__ = ["Realisation", "RealisationSettings", "realise"]


@dataclass(frozen=True)
class RealisationSettings:
    """How to draw a network. Settings, seed and data set together determine the realisation.

    Attributes:
        n_devices: N; None takes it from a topology file.
        topology: a kind of random graph, or a path to a GraphML or node-link JSON file.
        link_probability: density of random graphs.
        mean_datapoints: μ; None divides the training split among the devices.
        labels_per_device: labels each device draws its data from.
        budget: name of the step budgets, see `fedl_sim.network.profiles.BUDGETS`.
        similarity_quantile: rule for ε₀, see `fedl_sim.network.similarity.similar_radius`.
        broadcast_size: datapoints in a device's broadcast sample.
        reveal_labels: give samplers the devices' label counts.
        label_epsilon: ε of the Laplace noise that devices add to their label counts; None adds none.
        capacity_spread: how much boards differ: the exponent applied to the profiles' speed and power (0: not at all,
            1: as listed).
        dirichlet: draw label shares with this concentration instead of `labels_per_device` labels.
        derive_similarity: nobody measures λ; planners derive it from label counts
            (`sampler.label_counts.derived_similarity`).
    """

    n_devices: int | None = 100
    topology: str = "erdos-renyi"
    link_probability: float = 0.1
    mean_datapoints: float | None = None
    labels_per_device: int = 3
    budget: str = "loose"
    similarity_quantile: float = 0.05
    broadcast_size: int = 50
    reveal_labels: bool = True
    capacity_spread: float = 1.0
    label_epsilon: float | None = None
    dirichlet: float | None = None
    derive_similarity: bool = False

    def __post_init__(self) -> None:
        if self.budget not in BUDGETS:
            raise InvalidSettingError(f"unknown budget {self.budget!r}; known: {', '.join(BUDGETS)}")
        if self.topology in RANDOM_TOPOLOGIES and self.n_devices is None:
            raise InvalidSettingError("a random topology needs n_devices")
        if self.label_epsilon is not None and not (self.reveal_labels and self.label_epsilon > 0):
            raise InvalidSettingError("label_epsilon must be positive, and needs reveal_labels")
        if self.dirichlet is not None and not self.dirichlet > 0:
            raise InvalidSettingError(f"dirichlet must be positive, not {self.dirichlet}")
        if self.derive_similarity and not self.reveal_labels:
            raise InvalidSettingError("derive_similarity needs reveal_labels")


@dataclass(frozen=True, eq=False)
class Realisation:
    """A drawn network with the data behind it.

    Attributes:
        network: what planners and samplers see.
        partition: D_i(0) of every device.
        columns: the profiles and loads behind P, p, θ and Ψ; None if a caller gave these.
        radius: ε₀.
        schedule: how the network changes in time; None if it does not.
    """

    network: Network
    partition: Partition
    columns: DeviceColumns | None
    radius: float
    schedule: Schedule | None = None

    @property
    def conditions(self) -> Schedule:
        """The network and its changes."""
        return Schedule.of(self.network) if self.schedule is None else self.schedule


def realise(settings: RealisationSettings, data: DataSet, seed: int) -> Realisation:
    """Draw a realisation. Each part has a random stream of its own: another budget does not change the data."""
    topology = _topology(settings, seed)
    n = topology.n_devices
    partition = _partition(settings, data, n, seed)
    mean = float(partition.sizes.mean())
    profiles = tuple(profile.spread(settings.capacity_spread) for profile in PROFILES)
    columns = device_columns(n, mean, BUDGETS[settings.budget], stream(seed, "profiles"), profiles)
    radius = similar_radius(data.train, stream(seed, "radius"), quantile=settings.similarity_quantile)
    similarity = estimate_similarity(
        data.train,
        partition,
        topology,
        radius,
        stream(seed, "broadcast"),
        sample_size=settings.broadcast_size,
    )
    counts = partition.label_counts(data.train).astype(np.float64) if settings.reveal_labels else None
    if counts is not None and settings.label_epsilon is not None:
        counts += stream(seed, "label noise").laplace(0.0, 1.0 / settings.label_epsilon, counts.shape)
    devices = Devices(
        data=partition.sizes.astype(np.float64),
        processing_capacity=columns.processing_capacity,
        processing_cost=columns.processing_cost,
        receive_capacity=columns.receive_capacity,
        transmit_budget=columns.transmit_budget,
        label_counts=counts,
        label_epsilon=settings.label_epsilon,
    )
    cost = link_cost(topology.quality, stream(seed, "links"))
    links = Links(topology.source, topology.target, similarity, cost)
    if settings.derive_similarity:
        unknown = np.full(len(similarity), np.nan)
        links = replace(links, similarity=complete_similarity(devices, links.source, links.target, unknown).similarity)
    return Realisation(Network(devices, links), partition, columns, radius)


def _partition(settings: RealisationSettings, data: DataSet, n_devices: int, seed: int) -> Partition:
    generator, mean = stream(seed, "partition"), settings.mean_datapoints
    if settings.dirichlet is not None:
        skew = settings.dirichlet
        return partition_by_dirichlet(data.train, n_devices, generator, concentration=skew, mean_datapoints=mean)
    labels = settings.labels_per_device
    return partition_by_labels(data.train, n_devices, generator, mean_datapoints=mean, labels_per_device=labels)


def _topology(settings: RealisationSettings, seed: int) -> Topology:
    if settings.topology in RANDOM_TOPOLOGIES and settings.n_devices is not None:
        return random_topology(
            settings.topology,
            settings.n_devices,
            stream(seed, "topology"),
            link_probability=settings.link_probability,
        )
    path = Path(settings.topology)
    known = f"{', '.join(RANDOM_TOPOLOGIES)}, or a .graphml or .json file"
    if path.suffix not in {".graphml", ".json"}:
        raise TopologyError(f"unknown topology {settings.topology!r}; known: {known}")
    if not path.is_file():
        raise TopologyError(f"there is no file {path}")
    topology = load_graphml(path) if path.suffix == ".graphml" else load_node_link(path)
    if settings.n_devices not in {None, topology.n_devices}:
        raise TopologyError(f"{path} has {topology.n_devices} devices, {settings.n_devices} were asked for")
    return topology
