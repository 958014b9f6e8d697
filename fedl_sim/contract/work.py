"""What a validation trains: `Work` is what all its parts share, a `Part` adds one scheme, one seed and one draw.

The service stores a validation's work as JSON, and later releases must read it: a field keeps its name and meaning,
and a new one needs a default. Here is all of it for a drawn network; `network` and `plan` are in files of their own.

    {"data_set": "digits", "model": null, "generator": {"n_devices": 30, "topology": "erdos-renyi",
     "link_probability": 0.1, "budget": "loose"}, "labels_per_device": 3, "sample_size": 3, "aggregations": 5,
     "aggregation_period": 5, "learning_rate": 0.01, "batch_size": 10, "target": 0.85, "tolerance": 0.1}
"""

from dataclasses import dataclass

from fedl_sim.contract.errors import ContractError
from fedl_sim.contract.names import DATA_SETS, GIVEN_PLAN, MODELS, TRANSFERS
from fedl_sim.contract.network import GeneratorSettings, GivenNetwork
from fedl_sim.contract.plan import GivenPlan
from fedl_sim.contract.reading import Fields, Json, require

__all__ = ["Outline", "Part", "Work"]

_PLAIN = (
    "data_set",
    "model",
    "learning_rate",
    "batch_size",
    "labels_per_device",
    "target",
    "tolerance",
    "sample_size",
    "aggregations",
    "aggregation_period",
)
_FIELDS = (*_PLAIN, "generator", "network", "plan", "transfer")
_OF_PART = ("scheme", "seed", "draw")


@dataclass(frozen=True)
class Work:
    """What all parts of a validation share.

    Attributes:
        source: the network, given or to be drawn for each seed.
        data_set: one of `DATA_SETS`.
        model: one of `MODELS`; None takes softmax for digits, else the CNN.
        labels_per_device: labels a device draws its data from, if the network has no label counts.
        sample_size: S.
        aggregations: K.
        aggregation_period: τ.
        learning_rate: η.
        batch_size: datapoints of a mini-batch.
        target: accuracy whose reaching is timed; results need it, training does not.
        tolerance: how far, relatively, data received may be off the prediction; likewise.
        plan: what the scheme `plan` carries out.
        transfer: how all other schemes send; work that an earlier release stored does not say it, and redraws.
    """

    source: GeneratorSettings | GivenNetwork
    data_set: str
    model: str | None
    labels_per_device: int
    sample_size: int
    aggregations: int
    aggregation_period: int
    learning_rate: float
    batch_size: int
    target: float
    tolerance: float
    plan: GivenPlan | None = None
    transfer: str = "redraw"

    def __post_init__(self) -> None:
        require(self.data_set in DATA_SETS, "data_set", f"must be one of {', '.join(DATA_SETS)}")
        require(self.model in (None, *MODELS), "model", f"must be one of {', '.join(MODELS)}")
        for name in ("labels_per_device", "sample_size", "aggregations", "aggregation_period", "batch_size"):
            require(getattr(self, name) >= 1, name, "must be at least 1")
        require(self.learning_rate > 0, "learning_rate", "must be positive")
        require(0 < self.target <= 1, "target", "must lie in (0, 1]")
        require(self.tolerance >= 0, "tolerance", "must not be negative")
        require(self.transfer in TRANSFERS, "transfer", f"must be one of {', '.join(TRANSFERS)}")

    def to_json(self) -> Json:
        """As it is stored."""
        found: Json = {name: getattr(self, name) for name in _PLAIN}
        drawn = isinstance(self.source, GeneratorSettings)
        found["generator" if drawn else "network"] = self.source.to_json()
        if self.plan is not None:
            found["plan"] = self.plan.to_json()
        return found if self.transfer == "redraw" else found | {"transfer": self.transfer}

    @classmethod
    def from_json(cls, value: object) -> "Work":
        """Read what `to_json` wrote."""
        return cls._read(Fields(value, _FIELDS))

    @classmethod
    def _read(cls, fields: Fields) -> "Work":
        return cls(
            source=_source(fields),
            data_set=fields.text("data_set"),
            model=fields.text("model") if fields.has("model") else None,
            labels_per_device=fields.integer("labels_per_device"),
            sample_size=fields.integer("sample_size"),
            aggregations=fields.integer("aggregations"),
            aggregation_period=fields.integer("aggregation_period"),
            learning_rate=fields.number("learning_rate"),
            batch_size=fields.integer("batch_size"),
            target=fields.number("target"),
            tolerance=fields.number("tolerance"),
            plan=fields.child("plan", GivenPlan.from_json) if fields.has("plan") else None,
            transfer=fields.text("transfer") if fields.has("transfer") else "redraw",
        )


@dataclass(frozen=True)
class Part:
    """One run: the work, with one scheme, one seed and one draw."""

    work: Work
    scheme: str
    seed: int
    draw: int

    def __post_init__(self) -> None:
        require(self.seed >= 0, "seed", "must not be negative")
        require(self.draw >= 0, "draw", "must not be negative")
        if self.scheme == GIVEN_PLAN and self.work.plan is None:
            raise ContractError("plan", f"is missing, and the scheme `{GIVEN_PLAN}` carries it out")

    def to_json(self) -> Json:
        """All fields side by side."""
        return self.work.to_json() | {"scheme": self.scheme, "seed": self.seed, "draw": self.draw}

    @classmethod
    def from_json(cls, value: object) -> "Part":
        """Read what `to_json` wrote."""
        fields = Fields(value, (*_FIELDS, *_OF_PART))
        return cls(Work._read(fields), fields.text("scheme"), fields.integer("seed"), fields.integer("draw"))


@dataclass(frozen=True)
class Outline:
    """What results need of the work; it is readable although the rest may be damaged."""

    data_set: str
    sample_size: int
    aggregations: int
    aggregation_period: int
    target: float
    tolerance: float

    @classmethod
    def from_json(cls, value: object) -> "Outline":
        """Read it from the JSON of a `Work`."""
        fields = Fields(value, value if isinstance(value, dict) else ())
        return cls(
            data_set=fields.text("data_set"),
            sample_size=fields.integer("sample_size"),
            aggregations=fields.integer("aggregations"),
            aggregation_period=fields.integer("aggregation_period"),
            target=fields.number("target"),
            tolerance=fields.number("tolerance"),
        )


def _source(fields: Fields) -> GeneratorSettings | GivenNetwork:
    if fields.has("generator") == fields.has("network"):
        raise ContractError("network", "either a network or a generator must be there, and not both")
    if fields.has("generator"):
        return fields.child("generator", GeneratorSettings.from_json)
    return fields.child("network", GivenNetwork.from_json)
