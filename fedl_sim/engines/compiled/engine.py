"""The compiled engine: the built-in models on numba kernels."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from fedl_sim.data.images import Images
from fedl_sim.engines.base import Evaluation, GradientMoments, Indices
from fedl_sim.engines.compiled.cnn import cnn_epoch, cnn_evaluate, cnn_gradient
from fedl_sim.engines.compiled.feedforward import feedforward_epoch, feedforward_evaluate, feedforward_gradient
from fedl_sim.engines.compiled.rounds import feedforward_rounds
from fedl_sim.engines.models import Cnn, FloatArray, Mlp, Model, initial_parameters, parameter_count

__all__ = ["CompiledEngine"]


@dataclass(frozen=True)
class CompiledEngine:
    """Train and measure a built-in model. Kernels release the GIL, so threads train devices in parallel.

    Attributes:
        model: which built-in model.
        train: the split that devices hold indices into.
        test: the split that `evaluate` uses.
        dtype: float32 for speed, float64 for comparisons with torch.
    """

    model: Model
    train: Images
    test: Images
    dtype: DTypeLike = np.float32

    def __post_init__(self) -> None:
        for images in (self.train, self.test):
            features = self.model.features
            if images.pixels.shape[1] != features or images.classes != self.model.classes:
                raise ValueError(f"the model takes {features} pixels and {self.model.classes} classes")

    @property
    def parameter_count(self) -> int:
        """Length p of the parameter vector."""
        return parameter_count(self.model)

    def initial_parameters(self, generator: np.random.Generator) -> FloatArray:
        """Draw w(0)."""
        return initial_parameters(self.model, generator, self.dtype)

    def train_epoch(
        self, parameters: FloatArray, order: Indices, *, batch_size: int, learning_rate: float, key: int
    ) -> FloatArray:
        """Return w after mini-batch gradient descent (eq. 2) through `order` once."""
        w = self._checked(parameters, order, self.train)
        if batch_size < 1:
            raise ValueError("batch_size must be at least 1")
        data = self._data(self.train, order)
        trained: FloatArray
        if isinstance(self.model, Cnn):
            rate = self.model.dropout
            trained = cnn_epoch(w, *data, batch_size, rate, learning_rate, np.uint64(key))
        else:
            trained = feedforward_epoch(w, *data, batch_size, learning_rate)
        return trained

    def train_rounds(
        self,
        parameters: FloatArray,
        indices: Indices,
        slots: Indices,
        held: Indices,
        priority: NDArray[np.float64],
        *,
        period: int,
        batch_size: int,
        learning_rate: float,
    ) -> FloatArray:
        """Return w after a whole small run (eqs. 2 and 3) of a model without dropout; see `feedforward_rounds`."""
        if isinstance(self.model, Cnn):
            raise TypeError("a CNN trains epoch by epoch: its dropout needs keys")
        w = self._checked(parameters, indices, self.train)
        dims, pixels, scale, shift, labels, _ = self._data(self.train, indices)
        trained: FloatArray = feedforward_rounds(
            w, dims, pixels, scale, shift, labels, indices, slots, held, priority, period, batch_size, learning_rate
        )
        return trained

    def gradient(self, parameters: FloatArray, indices: Indices) -> GradientMoments:
        """Measure F, ∇F and the mean ‖∇f‖² on these training datapoints, without dropout."""
        if len(indices) == 0:
            raise ValueError("a gradient needs at least one datapoint")
        w = self._checked(parameters, indices, self.train)
        kernel = cnn_gradient if isinstance(self.model, Cnn) else feedforward_gradient
        loss, total, squares = kernel(w, *self._data(self.train, indices))
        n = len(indices)
        return GradientMoments(loss / n, total / n, squares / n)

    def evaluate(self, parameters: FloatArray) -> Evaluation:
        """Measure loss and accuracy on the test split."""
        order = np.arange(len(self.test))
        w = self._checked(parameters, order, self.test)
        kernel = cnn_evaluate if isinstance(self.model, Cnn) else feedforward_evaluate
        loss, correct = kernel(w, *self._data(self.test, order))
        return Evaluation(loss / len(order), correct / len(order))

    def _dims(self) -> tuple[int, ...]:
        m = self.model
        if isinstance(m, Cnn):
            return (
                m.side,
                m.first_channels,
                m.first_kernel,
                m.second_channels,
                m.second_kernel,
                m.hidden,
                m.classes,
            )
        return (m.features, m.hidden if isinstance(m, Mlp) else 0, m.classes)

    def _data(self, images: Images, order: Indices) -> tuple[Any, ...]:
        real: Any = np.dtype(self.dtype).type
        return self._dims(), images.pixels, real(images.scale), real(images.shift), images.labels, order

    def _checked(self, parameters: FloatArray, order: Indices, images: Images) -> FloatArray:
        # The kernels index without bounds checks.
        if parameters.shape != (self.parameter_count,):
            raise ValueError(f"expected {self.parameter_count} parameters, not shape {parameters.shape}")
        if len(order) and not 0 <= order.min() <= order.max() < len(images):
            raise ValueError(f"datapoint indices must lie in 0..{len(images) - 1}")
        return np.ascontiguousarray(parameters, self.dtype)
