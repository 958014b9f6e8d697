"""What a run leaves behind: one row per aggregation, and who did what."""

from dataclasses import dataclass

__all__ = ["AggregationRecord", "DeviceRecord", "SchemeRun"]


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


@dataclass(frozen=True)
class DeviceRecord:
    """A device that trained: D_i(0), what it received and kept, and what it processed in total."""

    device: int
    data: int
    received: int
    processed: int


@dataclass(frozen=True)
class SchemeRun:
    """One scheme on one realisation; `draw` numbers the repetitions of schemes that draw their devices."""

    scheme: str
    seed: int
    draw: int
    sampled: tuple[int, ...]
    devices: tuple[DeviceRecord, ...]
    aggregations: tuple[AggregationRecord, ...]
    worst_relative_gap: float
