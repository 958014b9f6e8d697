"""The interface of the two engines, which train and evaluate a model.

An engine belongs to one model and one data set and has no other state: parameters are arguments and results, as flat
vectors. `fedl_sim.engines.compiled.engine` serves the built-in models without torch;
`fedl_sim.engines.torch` serves any `nn.Module`; tests compare the compiled engine with it.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fedl_sim.engines.models import FloatArray

__all__ = ["Engine", "Evaluation", "GradientMoments"]

Indices = NDArray[np.int64]


@dataclass(frozen=True)
class GradientMoments:
    """F(w|D), ∇F(w|D) and the mean of ‖∇f‖² over the datapoints of D (eq. 1)."""

    loss: float
    gradient: NDArray[np.float64]
    mean_square_norm: float

    @property
    def spread(self) -> float:
        """√(mean ‖∇f − ∇F‖²): what the central limit theorem divides by √D in term (b) of the objective."""
        variance = self.mean_square_norm - float(self.gradient @ self.gradient)
        return float(np.sqrt(max(variance, 0.0)))


@dataclass(frozen=True)
class Evaluation:
    """Loss and accuracy on a set of datapoints."""

    loss: float
    accuracy: float


class Engine(Protocol):
    """Training and measuring on one data set with one model."""

    @property
    def parameter_count(self) -> int:
        """Length p of the parameter vector."""

    def initial_parameters(self, generator: np.random.Generator) -> FloatArray:
        """Draw w(0)."""

    def train_epoch(
        self, parameters: FloatArray, order: Indices, *, batch_size: int, learning_rate: float, key: int
    ) -> FloatArray:
        """Return w after mini-batch gradient descent through `order` once; `key` decides the dropout."""

    def gradient(self, parameters: FloatArray, indices: Indices) -> GradientMoments:
        """Measure loss and gradient on these training datapoints, without dropout."""

    def evaluate(self, parameters: FloatArray) -> Evaluation:
        """Measure loss and accuracy on the test split, without dropout."""
