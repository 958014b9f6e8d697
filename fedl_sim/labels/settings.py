"""The settings of labelled realisations; with a seed and a sample size they determine a realisation."""

from dataclasses import asdict, dataclass, fields
from typing import Any

from fedl_sim.data.datasets import DATA_SETS
from fedl_sim.errors import InvalidSettingError
from fedl_sim.network.profiles import BUDGETS
from fedl_sim.network.realisation import RealisationSettings
from fedl_sim.network.topology import RANDOM_TOPOLOGIES
from fedl_sim.randomness import stream

__all__ = ["NO_OFFLOADING", "Family", "Kind", "kind_of"]

NO_OFFLOADING = "none"


@dataclass(frozen=True)
class Family:
    """A distribution of small networks and how FedL is trained on them; each seed draws one network.

    A realisation draws its topology, density, labels per device and budget uniformly from the tuples.
    The data set and the training are small on purpose: one candidate set trains in milliseconds, so all C(10, S) sets
    can be trained. A larger step size compensates: about forty small mini-batches at η = 0.1 learn as much as
    thousands at 0.01 in a full run.

    Attributes:
        n_devices: N.
        data_set, model: what devices learn.
        mean_datapoints: μ.
        topologies, link_probabilities, labels_per_device, budgets: what is drawn from; the budget "none" is a
            network that trains without offloading.
        aggregations, aggregation_period, learning_rate, batch_size: K, τ, η and the mini-batch.
        draws: trainings with different data order and transfers that a set's loss is the mean of.
    """

    n_devices: int = 10
    data_set: str = "digits"
    model: str = "softmax"
    mean_datapoints: float = 25.0
    topologies: tuple[str, ...] = RANDOM_TOPOLOGIES
    link_probabilities: tuple[float, ...] = (0.2, 0.35, 0.5)
    labels_per_device: tuple[int, ...] = (1, 2, 3, 5)
    budgets: tuple[str, ...] = (NO_OFFLOADING, *BUDGETS)
    aggregations: int = 3
    aggregation_period: int = 5
    learning_rate: float = 0.1
    batch_size: int = 10
    draws: int = 1

    def __post_init__(self) -> None:
        for name in ("topologies", "link_probabilities", "labels_per_device", "budgets"):
            values = tuple(getattr(self, name))
            if not values:
                raise InvalidSettingError(f"{name} must name at least one value")
            object.__setattr__(self, name, values)
        if self.data_set not in DATA_SETS:
            raise InvalidSettingError(f"data_set must be one of {', '.join(DATA_SETS)}, is {self.data_set!r}")
        unknown = [b for b in self.budgets if b != NO_OFFLOADING and b not in BUDGETS]
        if unknown:
            raise InvalidSettingError(
                f"budgets must be among {NO_OFFLOADING}, {', '.join(BUDGETS)}; {unknown[0]!r} is not"
            )
        for name in ("n_devices", "aggregations", "aggregation_period", "batch_size", "draws"):
            if getattr(self, name) < 1:
                raise InvalidSettingError(f"{name} must be at least 1")
        if self.learning_rate <= 0 or self.mean_datapoints <= 0:
            raise InvalidSettingError("learning_rate and mean_datapoints must be positive")

    @property
    def horizon(self) -> int:
        """T = K·τ steps."""
        return self.aggregations * self.aggregation_period

    def to_lists(self) -> dict[str, Any]:
        """Plain values, as JSON stores them."""
        return {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(self).items()}

    @classmethod
    def from_lists(cls, values: dict[str, Any]) -> "Family":
        """The family `to_lists` wrote.

        Raises:
            InvalidSettingError: a name is unknown or a value not allowed.
        """
        unknown = set(values) - {f.name for f in fields(cls)}
        if unknown:
            raise InvalidSettingError(f"a family has no {min(unknown)!r}")
        return cls(**values)


@dataclass(frozen=True)
class Kind:
    """The choices that one seed of a family draws."""

    topology: str
    link_probability: float
    labels_per_device: int
    budget: str

    @property
    def offloading(self) -> bool:
        """Whether data moves at all."""
        return self.budget != NO_OFFLOADING

    def realisation(self, family: Family) -> RealisationSettings:
        """How to draw the network; without offloading its budgets are the loose ones, unused."""
        return RealisationSettings(
            n_devices=family.n_devices,
            topology=self.topology,
            link_probability=self.link_probability,
            mean_datapoints=family.mean_datapoints,
            labels_per_device=self.labels_per_device,
            budget=self.budget if self.offloading else "loose",
        )


def kind_of(family: Family, seed: int) -> Kind:
    """Draw a seed's kind of network."""
    generator = stream(seed, "kind")
    pick = [
        int(generator.integers(len(options)))
        for options in (family.topologies, family.link_probabilities, family.labels_per_device, family.budgets)
    ]
    return Kind(
        family.topologies[pick[0]],
        family.link_probabilities[pick[1]],
        family.labels_per_device[pick[2]],
        family.budgets[pick[3]],
    )
