"""Labelled images: stored pixels, and the affine map from pixels to features."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Images"]


@dataclass(frozen=True)
class Images:
    """Datapoints of one split. Devices hold indices into these rows, not copies.

    Attributes:
        pixels: (n, side²), stored compactly (uint8 for the data sets here).
        labels: (n,) class of each row.
        side: images are side×side.
        classes: number of classes.
        scale: with `shift`, features are x = pixels · scale + shift.
        shift: see `scale`.
    """

    pixels: NDArray[np.generic]
    labels: NDArray[np.int64]
    side: int
    classes: int
    scale: float = 1.0
    shift: float = 0.0

    def __post_init__(self) -> None:
        if self.pixels.ndim != 2 or self.pixels.shape[1] != self.side**2:
            raise ValueError(f"pixels must have shape (n, {self.side**2}), not {self.pixels.shape}")
        if self.labels.shape != (len(self.pixels),):
            raise ValueError(f"{len(self.pixels)} images need as many labels, not {self.labels.shape}")
        if len(self.labels) and not 0 <= self.labels.min() <= self.labels.max() < self.classes:
            raise ValueError(f"labels must lie in 0..{self.classes - 1}")

    def __len__(self) -> int:
        return len(self.labels)

    def features(self, indices: NDArray[np.int64], dtype: type[np.floating] = np.float32) -> NDArray[np.floating]:
        """Return x of these rows, shape (len(indices), side²)."""
        x: NDArray[np.floating] = self.pixels[indices].astype(dtype) * dtype(self.scale) + dtype(self.shift)
        return x
