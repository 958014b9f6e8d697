"""The torch engine for any `nn.Module`; tests compare the compiled engine with it.

This is the only module of the package that imports torch. Other modules get it from `fedl_sim.engines.factory`.
"""

from collections.abc import Callable
from threading import Lock
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from fedl_sim.data.images import Images
from fedl_sim.engines.base import Evaluation, GradientMoments, Indices
from fedl_sim.engines.dropout import keep_mask
from fedl_sim.engines.models import Cnn, FloatArray, Mlp, Model, initial_parameters

__all__ = ["TorchCnn", "TorchEngine", "torch_engine", "torch_module"]


class TorchCnn(nn.Module):
    """`fedl_sim.engines.models.Cnn`, line by line. `keep` holds the channel mask of the current batch, if any."""

    def __init__(self, model: Cnn) -> None:
        super().__init__()
        self.model = model
        self.conv1 = nn.Conv2d(1, model.first_channels, model.first_kernel)
        self.conv2 = nn.Conv2d(model.first_channels, model.second_channels, model.second_kernel)
        self.dense1 = nn.Linear(model.flat, model.hidden)
        self.dense2 = nn.Linear(model.hidden, model.classes)
        self.keep: torch.Tensor | None = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return logits for images of shape (batch, 1, side, side)."""
        x = functional.relu(functional.max_pool2d(self.conv1(x), 2))
        x = self.conv2(x)
        if self.keep is not None:
            x = x * self.keep[:, :, None, None] / (1 - self.model.dropout)
        x = functional.relu(functional.max_pool2d(x, 2))
        x = functional.relu(self.dense1(x.flatten(1)))
        logits: torch.Tensor = self.dense2(x)
        return logits


def torch_module(model: Model) -> nn.Module:
    """Return the built-in model as a torch module with the same parameter order."""
    if isinstance(model, Cnn):
        return TorchCnn(model)
    if isinstance(model, Mlp):
        hidden = nn.Linear(model.features, model.hidden)
        return nn.Sequential(nn.Flatten(), hidden, nn.ReLU(), nn.Linear(model.hidden, model.classes))
    return nn.Sequential(nn.Flatten(), nn.Linear(model.features, model.classes))


class TorchEngine:
    """Train and measure any module that maps images (batch, 1, side, side) to logits.

    One module receives the parameters in place, under a lock, since torch has threads of its own. Modules with buffers
    (batch normalisation) are refused: eq. (3) averages parameters only, not running statistics.
    """

    def __init__(
        self,
        module: nn.Module,
        train: Images,
        test: Images,
        *,
        initial: Callable[[np.random.Generator], FloatArray] | None = None,
    ) -> None:
        if any(True for _ in module.buffers()):
            raise ValueError("the module has buffers, which weighted aggregation (eq. 3) does not define")
        parameters = list(module.parameters())
        if not parameters or len({p.dtype for p in parameters}) != 1:
            raise ValueError("the module needs parameters, all of one dtype")
        self.module = module
        self.train = train
        self.test = test
        self._parameters = parameters
        self._initial = initial
        self._dtype = parameters[0].dtype
        self._lock = Lock()
        self._numpy_dtype = np.float64 if self._dtype == torch.float64 else np.float32

    @property
    def parameter_count(self) -> int:
        """Length p of the parameter vector."""
        return sum(p.numel() for p in self._parameters)

    def initial_parameters(self, generator: np.random.Generator) -> FloatArray:
        """Draw w(0): as given at construction, else by the module's own `reset_parameters`."""
        if self._initial is not None:
            return self._initial(generator)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(generator.integers(2**62)))
            self.module.apply(_reset)
        return self._vector(p.detach() for p in self._parameters)

    def train_epoch(
        self, parameters: FloatArray, order: Indices, *, batch_size: int, learning_rate: float, key: int
    ) -> FloatArray:
        """Return w after mini-batch gradient descent (eq. 2) through `order` once."""
        with self._lock:
            return self._train_epoch(parameters, order, batch_size, learning_rate, key)

    def _train_epoch(
        self, parameters: FloatArray, order: Indices, batch_size: int, learning_rate: float, key: int
    ) -> FloatArray:
        self._load(parameters)
        self.module.train()
        with torch.random.fork_rng(devices=[]):
            # Any module's own dropout draws from torch's generator; the built-in CNN's from the key.
            torch.manual_seed(key % 2**63)
            for start in range(0, len(order), batch_size):
                batch = order[start : start + batch_size]
                self._set_mask(key, np.arange(start, start + len(batch)))
                gradients = torch.autograd.grad(self._loss(self.train, batch), self._parameters)
                with torch.no_grad():
                    for p, g in zip(self._parameters, gradients, strict=True):
                        p.sub_(g, alpha=learning_rate)
        self._set_mask(None, None)
        return self._vector(p.detach() for p in self._parameters)

    def gradient(self, parameters: FloatArray, indices: Indices) -> GradientMoments:
        """Measure F, ∇F and the mean ‖∇f‖² on these training datapoints, one datapoint at a time."""
        with self._lock:
            return self._gradient(parameters, indices)

    def _gradient(self, parameters: FloatArray, indices: Indices) -> GradientMoments:
        self._load(parameters)
        self.module.eval()
        total = np.zeros(self.parameter_count)
        loss = squares = 0.0
        for i in range(len(indices)):
            value = self._loss(self.train, indices[i : i + 1])
            g = self._vector(torch.autograd.grad(value, self._parameters)).astype(np.float64)
            total += g
            squares += float(g @ g)
            loss += float(value.detach())
        n = len(indices)
        return GradientMoments(loss / n, total / n, squares / n)

    def evaluate(self, parameters: FloatArray) -> Evaluation:
        """Measure loss and accuracy on the test split."""
        with self._lock:
            return self._evaluate(parameters)

    def _evaluate(self, parameters: FloatArray) -> Evaluation:
        self._load(parameters)
        self.module.eval()
        loss = 0.0
        correct = 0
        with torch.no_grad():
            for start in range(0, len(self.test), 1000):
                batch = np.arange(start, min(start + 1000, len(self.test)))
                logits = self.module(self._features(self.test, batch))
                labels = torch.from_numpy(self.test.labels[batch])
                loss += float(functional.cross_entropy(logits, labels, reduction="sum"))
                correct += int((logits.argmax(1) == labels).sum())
        return Evaluation(loss / len(self.test), correct / len(self.test))

    def _set_mask(self, key: int | None, positions: Any) -> None:
        if isinstance(self.module, TorchCnn):
            model = self.module.model
            mask = None if key is None else keep_mask(key, positions, model.second_channels, model.dropout)
            self.module.keep = None if mask is None else torch.from_numpy(mask).to(self._dtype)

    def _features(self, images: Images, batch: Indices) -> torch.Tensor:
        x = images.features(batch, self._numpy_dtype)
        return torch.from_numpy(x).reshape(-1, 1, images.side, images.side)

    def _loss(self, images: Images, batch: Indices) -> torch.Tensor:
        logits = self.module(self._features(images, batch))
        return functional.cross_entropy(logits, torch.from_numpy(images.labels[batch]))

    def _load(self, parameters: FloatArray) -> None:
        if parameters.shape != (self.parameter_count,):
            raise ValueError(f"expected {self.parameter_count} parameters, not shape {parameters.shape}")
        with torch.no_grad():
            nn.utils.vector_to_parameters(torch.from_numpy(parameters).to(self._dtype).clone(), self._parameters)

    def _vector(self, tensors: Any) -> FloatArray:
        vector: FloatArray = torch.cat([t.reshape(-1) for t in tensors]).numpy().copy()
        return vector


def _reset(module: nn.Module) -> None:
    reset = getattr(module, "reset_parameters", None)
    if callable(reset):
        reset()


def torch_engine(model: Model, train: Images, test: Images, dtype: type[np.floating] = np.float32) -> TorchEngine:
    """Return the reference engine for a built-in model, starting from the same w(0) as the compiled one."""
    module = torch_module(model).to(torch.float64 if dtype is np.float64 else torch.float32)
    return TorchEngine(module, train, test, initial=lambda g: initial_parameters(model, g, dtype))
