"""The network of a validation: settings to draw one for each seed, or one that is given, with its changes in time."""

from dataclasses import dataclass

from fedl_sim.contract.names import BUDGETS, TOPOLOGIES
from fedl_sim.contract.reading import Fields, Json, require

__all__ = ["Column", "DeviceColumns", "GeneratorSettings", "GivenNetwork", "LinkColumns", "NetworkChange"]

Column = tuple[float, ...]

_REQUIRED = ("data", "processing_capacity", "processing_cost", "receive_capacity", "transmit_budget")


@dataclass(frozen=True)
class GeneratorSettings:
    """How to draw a network (Sec. V-A).

    Attributes:
        n_devices: N.
        topology: one of `TOPOLOGIES`.
        link_probability: density of the graph.
        mean_datapoints: μ per device; None shares the training split out.
        budget: one of `BUDGETS`.
    """

    n_devices: int
    topology: str = "erdos-renyi"
    link_probability: float = 0.1
    mean_datapoints: float | None = None
    budget: str = "loose"

    def __post_init__(self) -> None:
        require(self.n_devices >= 1, "n_devices", "must be at least 1")
        require(self.topology in TOPOLOGIES, "topology", f"must be one of {', '.join(TOPOLOGIES)}")
        require(0 < self.link_probability <= 1, "link_probability", "must lie in (0, 1]")
        require(self.mean_datapoints is None or self.mean_datapoints > 0, "mean_datapoints", "must be positive")
        require(self.budget in BUDGETS, "budget", f"must be one of {', '.join(BUDGETS)}")

    def to_json(self) -> Json:
        """As it is stored; a mean that is left to the simulator is left out."""
        found: Json = dict(vars(self))
        if self.mean_datapoints is None:
            del found["mean_datapoints"]
        return found

    @classmethod
    def from_json(cls, value: object) -> "GeneratorSettings":
        """Read what `to_json` wrote; all but the number of devices has a default."""
        fields = Fields(value, cls.__dataclass_fields__)
        return cls(
            n_devices=fields.integer("n_devices"),
            topology=fields.text("topology") if fields.has("topology") else cls.topology,
            link_probability=fields.number("link_probability")
            if fields.has("link_probability")
            else cls.link_probability,
            mean_datapoints=fields.number("mean_datapoints") if fields.has("mean_datapoints") else None,
            budget=fields.text("budget") if fields.has("budget") else cls.budget,
        )


@dataclass(frozen=True)
class DeviceColumns:
    """Columns of N devices (Sec. II-A): D_i(0), P_i, p_i, θ_i, Ψ_i, and optionally N×C counts of classes."""

    data: Column
    processing_capacity: Column
    processing_cost: Column
    receive_capacity: Column
    transmit_budget: Column
    label_counts: tuple[Column, ...] | None = None

    def __post_init__(self) -> None:
        for name in _REQUIRED:
            require(len(getattr(self, name)) == len(self.data), name, f"must have {len(self.data)} values")
        counts = self.label_counts
        require(counts is None or len(counts) == len(self.data), "label_counts", f"must have {len(self.data)} rows")

    def to_json(self) -> Json:
        """As it is stored."""
        return dict(vars(self))

    @classmethod
    def from_json(cls, value: object) -> "DeviceColumns":
        """Read what `to_json` wrote."""
        fields = Fields(value, cls.__dataclass_fields__)
        return cls(
            data=fields.numbers("data"),
            processing_capacity=fields.numbers("processing_capacity"),
            processing_cost=fields.numbers("processing_cost"),
            receive_capacity=fields.numbers("receive_capacity"),
            transmit_budget=fields.numbers("transmit_budget"),
            label_counts=fields.rows("label_counts") if fields.has("label_counts") else None,
        )


@dataclass(frozen=True)
class LinkColumns:
    """Directed links (Sec. II-B): who sends, who receives, λ(0) and ψ of each."""

    source: tuple[int, ...]
    target: tuple[int, ...]
    similarity: Column
    transmit_cost: Column

    def __post_init__(self) -> None:
        for name in ("target", "similarity", "transmit_cost"):
            require(len(getattr(self, name)) == len(self.source), name, f"must have {len(self.source)} values")

    def to_json(self) -> Json:
        """As it is stored."""
        return dict(vars(self))

    @classmethod
    def from_json(cls, value: object) -> "LinkColumns":
        """Read what `to_json` wrote."""
        fields = Fields(value, cls.__dataclass_fields__)
        return cls(
            source=fields.integers("source"),
            target=fields.integers("target"),
            similarity=fields.numbers("similarity"),
            transmit_cost=fields.numbers("transmit_cost"),
        )


@dataclass(frozen=True)
class NetworkChange:
    """From `step` on, these device columns (by name) and, if given, these links hold."""

    step: int
    devices: tuple[tuple[str, Column], ...] = ()
    links: LinkColumns | None = None

    def __post_init__(self) -> None:
        require(self.step >= 1, "step", "must be at least 1")

    def to_json(self) -> Json:
        """As it is stored."""
        links = None if self.links is None else self.links.to_json()
        return {"step": self.step, "devices": dict(self.devices), "links": links}

    @classmethod
    def from_json(cls, value: object) -> "NetworkChange":
        """Read what `to_json` wrote."""
        fields = Fields(value, cls.__dataclass_fields__)
        links = fields.child("links", LinkColumns.from_json) if fields.has("links") else None
        return cls(fields.integer("step"), fields.child("devices", _changed_columns), links)


def _changed_columns(value: object) -> tuple[tuple[str, Column], ...]:
    # Data is not among them: it changes by offloading alone, eq. (6).
    fields = Fields(value, _REQUIRED[1:])
    return tuple((name, fields.numbers(name)) for name in _REQUIRED[1:] if fields.has(name))


@dataclass(frozen=True)
class GivenNetwork:
    """A network as its owner described it, and its changes in time."""

    devices: DeviceColumns
    links: LinkColumns
    changes: tuple[NetworkChange, ...] = ()

    def to_json(self) -> Json:
        """As it is stored."""
        changes = [change.to_json() for change in self.changes]
        return {"devices": self.devices.to_json(), "links": self.links.to_json(), "changes": changes}

    @classmethod
    def from_json(cls, value: object) -> "GivenNetwork":
        """Read what `to_json` wrote."""
        fields = Fields(value, cls.__dataclass_fields__)
        return cls(
            devices=fields.child("devices", DeviceColumns.from_json),
            links=fields.child("links", LinkColumns.from_json),
            changes=fields.children("changes", NetworkChange.from_json),
        )
