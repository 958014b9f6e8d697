"""Training data, options and results of the networks, without torch."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from solver.errors import InvalidInputError
from solver.network import Network

__all__ = ["Example", "RankStates", "Trained", "TrainingOptions"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Example:
    """A network's features π (N, U), its links, and the target distribution over devices (N,), which sums to 1."""

    network: Network
    features: FloatArray
    target: FloatArray


@dataclass(frozen=True, eq=False)
class RankStates:
    """States of a search on networks of one size, to train the ranking network.

    Attributes:
        features: (B, N, U).
        propagation: (B, N, N) D̃^(−1/2) Ã D̃^(−1/2).
        target: (B, N) the distribution over the device to pick next.
        free: (B, N) which devices can be picked.
    """

    features: FloatArray
    propagation: FloatArray
    target: FloatArray
    free: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.features)


@dataclass(frozen=True)
class TrainingOptions:
    """How to train.

    Attributes:
        hidden: O, and further hidden widths.
        epochs: passes over the examples.
        learning_rate: of Adam.
        weight_decay: of Adam.
        batch_size: examples of a step; None takes all at once.
        validation_share: the share of the examples for validation, the last ones; the best epoch's weights are kept.
        seed: for the initial weights and the batches.
    """

    hidden: tuple[int, ...] = (16,)
    epochs: int = 400
    learning_rate: float = 0.02
    weight_decay: float = 1e-5
    batch_size: int | None = None
    validation_share: float = 0.15
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.hidden or min(self.hidden) < 1:
            raise InvalidInputError("hidden", "must be widths of at least 1")
        if self.epochs < 1:
            raise InvalidInputError("epochs", "must be at least 1")
        if self.learning_rate <= 0:
            raise InvalidInputError("learning_rate", "must be positive")
        if not 0 < self.validation_share < 1:
            raise InvalidInputError("validation_share", "must lie in (0, 1)")

    def held(self, examples: int) -> int:
        """Return how many of the examples are for validation.

        Raises:
            InvalidInputError: there are fewer than two examples.
        """
        held = max(1, round(self.validation_share * examples))
        if examples - held < 1:
            raise InvalidInputError("examples", f"training needs at least two examples, there are {examples}")
        return held


@dataclass(frozen=True, eq=False)
class Trained:
    """The weights of every layer, their epoch, and the validation losses before training and at that epoch."""

    layers: tuple[FloatArray, ...]
    epoch: int
    first_loss: float
    validation_loss: float
