"""A device's part of a period: local gradient descent (eq. 2), one epoch of mini-batches per time step.

Full-batch steps at the paper's η = 0.01 learn too slowly for ten aggregations. So a step of eq. (2) is one pass over
D_i(t) in mini-batches here. A step then processes D_i(t) datapoints, and Δ_i of eq. (3) is exactly what the device
processed in the period.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fedl_sim.engines.base import Engine, Indices
from fedl_sim.engines.models import FloatArray
from fedl_sim.errors import InvalidSettingError
from fedl_sim.randomness import stream

__all__ = ["LocalUpdate", "TrainingSettings", "local_steps"]


@dataclass(frozen=True)
class TrainingSettings:
    """How devices train: η, the batch size, and τ (Sec. V-A gives η = 0.01 and τ = 5)."""

    learning_rate: float = 0.01
    batch_size: int = 10
    aggregation_period: int = 5

    def __post_init__(self) -> None:
        if self.learning_rate <= 0 or self.batch_size < 1 or self.aggregation_period < 1:
            raise InvalidSettingError("learning rate, batch size and aggregation period must be positive")


@dataclass(frozen=True)
class LocalUpdate:
    """w_i(kτ) and Δ_i(kτ) = Σ_t D_i(t) over the period."""

    device: int
    parameters: FloatArray
    datapoints: int


def local_steps(
    engine: Engine,
    parameters: FloatArray,
    device: int,
    data_by_step: Sequence[tuple[int, Indices]],
    settings: TrainingSettings,
    *,
    seed: int,
    scheme: str,
) -> Iterator[LocalUpdate]:
    """Train from the global parameters through one period, yielding after every step.

    Args:
        engine: trains the model.
        parameters: w_S((k−1)τ).
        device: i.
        data_by_step: (t, D_i(t)) for each t of the period.
        settings: η and the batch size.
        seed: with `scheme`, device and t, decides batch order and dropout.
        scheme: see `seed`.
    """
    w = parameters
    processed = 0
    for t, indices in data_by_step:
        generator = stream(seed, "train", scheme, device, t)
        order = generator.permutation(indices)
        key = int(generator.integers(2**63))
        w = engine.train_epoch(w, order, batch_size=settings.batch_size, learning_rate=settings.learning_rate, key=key)
        processed += len(indices)
        yield LocalUpdate(device, w, processed)
