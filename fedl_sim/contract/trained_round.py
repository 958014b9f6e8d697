"""What a trained round leaves behind."""

from dataclasses import asdict, dataclass

from fedl_sim.contract.reading import Fields, Json

__all__ = ["AggregationRecord", "Facts"]

_COUNTS = ("aggregation", "processed", "moved", "useful")


@dataclass(frozen=True)
class AggregationRecord:
    """The state after aggregation k; counts are totals since the start.

    Attributes:
        aggregation: k, 0 being the untrained model.
        accuracy: on the test split.
        loss: on the test split.
        gradient_norm: ‖∇F̄(kτ)‖ as measured on sampled devices.
        gradient_noise: γ as measured on sampled devices.
        processed: Σ_t Σ_i D_i(t), datapoints that went through training.
        moved: datapoints sent over links.
        useful: of these, what receivers kept.
        predicted_useful: what the plan expected them to keep.
        cost: energy-like cost Σ p_i·D_i + Σ ψ_ki·moved.
    """

    aggregation: int
    accuracy: float
    loss: float
    gradient_norm: float
    gradient_noise: float
    processed: int
    moved: int
    useful: int
    predicted_useful: float
    cost: float

    def to_json(self) -> Json:
        """As it is stored."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: object) -> "AggregationRecord":
        """Read what `to_json` wrote; a run that diverges has a loss of NaN or infinity."""
        names = cls.__dataclass_fields__
        fields = Fields(value, names)
        return cls(**{name: fields.integer(name) if name in _COUNTS else fields.number(name) for name in names})  # type: ignore[arg-type]


@dataclass(frozen=True)
class Facts:
    """What is known of a run besides its records: the largest certified gap of any step planned so far."""

    worst_relative_gap: float = 0.0

    def to_json(self) -> Json:
        """As it is stored."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: object) -> "Facts":
        """Read what `to_json` wrote; before the first round nothing is known."""
        fields = Fields(value, cls.__dataclass_fields__)
        return cls(fields.number("worst_relative_gap")) if fields.has("worst_relative_gap") else cls()
