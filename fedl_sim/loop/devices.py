"""A device's part of a period: local gradient descent (eq. 2), one epoch of mini-batches per time step.

Full-batch steps at the paper's η = 0.01 learn too slowly for ten aggregations. So a step of eq. (2) is one pass over
D_i(t) in mini-batches here. A step then processes D_i(t) datapoints, and Δ_i of eq. (3) is exactly what the device
processed in the period.

With epochs, devices that receive data also take more gradient steps than those that do not. With `equal_batches` every
device takes the same number of mini-batches a step, whatever it holds; the weights Δ_i of eq. (3) stay.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fedl_sim.engines.base import Engine, Indices
from fedl_sim.engines.models import FloatArray
from fedl_sim.errors import InvalidSettingError
from fedl_sim.randomness import stream

__all__ = ["SETTINGS_HELP", "LocalUpdate", "TrainingSettings", "is_fair", "local_steps"]

SETTINGS_HELP = "paper: an epoch over the device's data; fair: as many mini-batches for every device"


@dataclass(frozen=True)
class TrainingSettings:
    """How devices train (Sec. V-A gives η = 0.01 and τ = 5).

    Attributes:
        learning_rate: η.
        batch_size: datapoints in a mini-batch.
        aggregation_period: τ.
        equal_batches: a step is the same number of mini-batches for every device, as many as an epoch over the mean
            D_i(0) has; otherwise it is an epoch over D_i(t).
    """

    learning_rate: float = 0.01
    batch_size: int = 10
    aggregation_period: int = 5
    equal_batches: bool = False

    def __post_init__(self) -> None:
        if self.learning_rate <= 0 or self.batch_size < 1 or self.aggregation_period < 1:
            raise InvalidSettingError("learning rate, batch size and aggregation period must be positive")

    def datapoints_in_step(self, sizes: NDArray[np.int64]) -> int | None:
        """Return how many datapoints every device processes in a step, given all D_i(0); None: those it holds."""
        batches = max(1, round(float(sizes.mean()) / self.batch_size))
        return batches * self.batch_size if self.equal_batches else None


def is_fair(setting: str) -> bool:
    """Return whether devices take equal numbers of mini-batches under the setting `paper` or `fair`.

    Raises:
        InvalidSettingError: it is neither.
    """
    if setting not in {"paper", "fair"}:
        raise InvalidSettingError(f"setting must be paper or fair, not {setting!r}")
    return setting == "fair"


@dataclass(frozen=True)
class LocalUpdate:
    """w_i(kτ), Δ_i(kτ) = Σ_t D_i(t) over the period, and how many datapoints were processed in it."""

    device: int
    parameters: FloatArray
    datapoints: int
    processed: int = 0


def local_steps(
    engine: Engine,
    parameters: FloatArray,
    device: int,
    data_by_step: Sequence[tuple[int, Indices]],
    settings: TrainingSettings,
    *,
    seed: int,
    purpose: str = "run",
    each: int | None = None,
) -> Iterator[LocalUpdate]:
    """Train from the global parameters through one period, yielding after every step.

    Args:
        engine: trains the model.
        parameters: w_S((k−1)τ).
        device: i.
        data_by_step: (t, D_i(t)) for each t of the period.
        settings: η and the batch size.
        seed: with `purpose`, device and t, decides batch order and dropout: no scheme's name does.
        purpose: what is trained for.
        each: datapoints to process in a step; None is an epoch over D_i(t).
    """
    w = parameters
    held = processed = 0
    for t, indices in data_by_step:
        generator = stream(seed, "train", purpose, device, t)
        order = _order(indices, len(indices) if each is None else each, generator)
        key = int(generator.integers(2**63))
        w = engine.train_epoch(w, order, batch_size=settings.batch_size, learning_rate=settings.learning_rate, key=key)
        held += len(indices)
        processed += len(order)
        yield LocalUpdate(device, w, held, processed)


def _order(indices: Indices, size: int, generator: np.random.Generator) -> Indices:
    """Return `size` of these datapoints in random order; none returns before all others had their turn."""
    turns = -(-size // len(indices)) if len(indices) else 1
    return np.concatenate([generator.permutation(indices) for _ in range(turns)])[:size]
