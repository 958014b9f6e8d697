"""The shapes of the built-in models, and their parameters as one vector w ∈ ℝᵖ (Sec. II-C).

A model here is only a description; an engine computes with it. The parameters are one flat array in the order of
torch's `nn.Module.parameters()` for the same layers. So aggregation (eq. 3) is a weighted sum of vectors, and both
engines use the same vectors.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike, NDArray

from fedl_sim.contract import MODELS
from fedl_sim.errors import InvalidSettingError

__all__ = ["Cnn", "Mlp", "Model", "Softmax", "initial_parameters", "model_for", "parameter_count"]

FloatArray = NDArray[np.floating]
Shapes = tuple[tuple[str, tuple[int, ...]], ...]


@dataclass(frozen=True)
class Cnn:
    """Two convolutions, each pooled 2×2 and rectified, then two dense layers (Sec. V-A).

    conv(1→c₁, k₁) – pool – ReLU – conv(c₁→c₂, k₂) – channel dropout – pool – ReLU – hidden – ReLU – classes.
    """

    side: int
    classes: int = 10
    first_channels: int = 10
    first_kernel: int = 5
    second_channels: int = 20
    second_kernel: int = 5
    hidden: int = 50
    dropout: float = 0.5

    def __post_init__(self) -> None:
        if min(self.side, self.first_channels, self.second_channels, self.hidden) < 1 or self.classes < 2:
            raise ValueError("a CNN needs a positive side, channels and hidden width, and at least two classes")
        if not 1 <= self.first_kernel <= 8 or self.second_kernel < 1:
            raise ValueError("the first kernel must be 1 to 8 wide, the second at least 1")
        if not 0 <= self.dropout < 1:
            raise ValueError("dropout must lie in [0, 1)")
        if (self.side - self.first_kernel + 1) % 2 or (self.first_pooled - self.second_kernel + 1) % 2:
            raise ValueError("both convolutions must leave an even side for the 2×2 pooling")
        if self.second_pooled < 1:
            raise ValueError("nothing is left of the image after the second pooling")

    @property
    def features(self) -> int:
        """Pixels of one image."""
        return self.side**2

    @property
    def first_pooled(self) -> int:
        """Side after the first pooling."""
        return (self.side - self.first_kernel + 1) // 2

    @property
    def second_pooled(self) -> int:
        """Side after the second pooling."""
        return (self.first_pooled - self.second_kernel + 1) // 2

    @property
    def flat(self) -> int:
        """Inputs of the first dense layer."""
        return self.second_channels * self.second_pooled**2

    @property
    def parameter_shapes(self) -> Shapes:
        """Weights and biases in torch's order."""
        k1, k2 = self.first_kernel, self.second_kernel
        return (
            ("conv1.weight", (self.first_channels, 1, k1, k1)),
            ("conv1.bias", (self.first_channels,)),
            ("conv2.weight", (self.second_channels, self.first_channels, k2, k2)),
            ("conv2.bias", (self.second_channels,)),
            ("dense1.weight", (self.hidden, self.flat)),
            ("dense1.bias", (self.hidden,)),
            ("dense2.weight", (self.classes, self.hidden)),
            ("dense2.bias", (self.classes,)),
        )


@dataclass(frozen=True)
class Mlp:
    """One hidden layer with ReLU."""

    features: int
    hidden: int = 64
    classes: int = 10

    def __post_init__(self) -> None:
        if min(self.features, self.hidden) < 1 or self.classes < 2:
            raise ValueError("an MLP needs features, a hidden layer and at least two classes")

    @property
    def parameter_shapes(self) -> Shapes:
        """Weights and biases in torch's order."""
        return (
            ("dense1.weight", (self.hidden, self.features)),
            ("dense1.bias", (self.hidden,)),
            ("dense2.weight", (self.classes, self.hidden)),
            ("dense2.bias", (self.classes,)),
        )


@dataclass(frozen=True)
class Softmax:
    """Multinomial logistic regression: convex, so the case that Sec. III's theory is about."""

    features: int
    classes: int = 10

    def __post_init__(self) -> None:
        if self.features < 1 or self.classes < 2:
            raise ValueError("softmax regression needs features and at least two classes")

    @property
    def parameter_shapes(self) -> Shapes:
        """Weights and biases in torch's order."""
        return (("dense1.weight", (self.classes, self.features)), ("dense1.bias", (self.classes,)))


Model = Cnn | Mlp | Softmax


def parameter_count(model: Model) -> int:
    """Return p, the length of w."""
    return sum(math.prod(shape) for _, shape in model.parameter_shapes)


def initial_parameters(model: Model, generator: np.random.Generator, dtype: DTypeLike = np.float32) -> FloatArray:
    """Draw w(0): uniform within ±1/√fan-in per layer; zeros for softmax regression, which is convex."""
    if isinstance(model, Softmax):
        return np.zeros(parameter_count(model), dtype)
    parts = []
    fan_in = 1
    for name, shape in model.parameter_shapes:
        if name.endswith("weight"):
            fan_in = math.prod(shape[1:])
        bound = 1 / math.sqrt(fan_in)
        parts.append(generator.uniform(-bound, bound, math.prod(shape)))
    return np.concatenate(parts).astype(dtype)


def model_for(name: str, side: int, classes: int) -> Model:
    """Return the built-in model of that name for square images: `cnn`, `mlp` or `softmax`.

    The CNN's kernels are 5 wide, as in the public code of the paper's authors. For images smaller than 16×16 they are 3
    and 2 wide.
    """
    if name == "cnn":
        small = side < 16
        kernels = (3, 2) if small else (5, 5)
        return Cnn(side, classes, first_kernel=kernels[0], second_kernel=kernels[1])
    if name == "mlp":
        return Mlp(side**2, classes=classes)
    if name == "softmax":
        return Softmax(side**2, classes=classes)
    raise InvalidSettingError(f"unknown model {name!r}; known: {', '.join(MODELS)}")
