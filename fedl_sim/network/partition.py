"""Which datapoints each device starts with (Sec. V-A): three labels each, drawn with replacement."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fedl_sim.data.images import Images
from fedl_sim.errors import InvalidSettingError

__all__ = ["Partition", "partition_by_dirichlet", "partition_by_labels"]


@dataclass(frozen=True)
class Partition:
    """Every device's datapoints as indices into one training split.

    All indices are in one array, device after device: one integer for each datapoint held.

    Attributes:
        indices: rows of the training split.
        starts: (N + 1,) device i holds indices[starts[i]:starts[i + 1]].
    """

    indices: NDArray[np.int64]
    starts: NDArray[np.int64]

    def __post_init__(self) -> None:
        ordered = len(self.starts) >= 2 and self.starts[0] == 0 and bool(np.all(np.diff(self.starts) >= 0))
        if not ordered or self.starts[-1] != len(self.indices):
            raise ValueError("starts must rise from 0 to the number of indices")

    @classmethod
    def from_lists(cls, devices: Sequence[NDArray[np.int64]]) -> "Partition":
        """Join per-device index arrays."""
        starts = np.concatenate([[0], np.cumsum([len(d) for d in devices])]).astype(np.int64)
        return cls(np.concatenate(devices).astype(np.int64), starts)

    @property
    def n_devices(self) -> int:
        """N."""
        return len(self.starts) - 1

    @property
    def sizes(self) -> NDArray[np.int64]:
        """D_i(0) of every device."""
        return np.diff(self.starts)

    def of(self, device: int) -> NDArray[np.int64]:
        """Return the rows that this device holds."""
        return self.indices[self.starts[device] : self.starts[device + 1]]

    def label_counts(self, images: Images) -> NDArray[np.int64]:
        """Count each device's datapoints by class: shape (N, classes)."""
        counts = np.zeros((self.n_devices, images.classes), np.int64)
        owner = np.repeat(np.arange(self.n_devices), self.sizes)
        np.add.at(counts, (owner, images.labels[self.indices]), 1)
        return counts


def partition_by_labels(
    images: Images,
    n_devices: int,
    generator: np.random.Generator,
    *,
    mean_datapoints: float | None = None,
    labels_per_device: int = 3,
) -> Partition:
    """Draw every device's datapoints as in Sec. V-A.

    D_i(0) ~ Normal(μ, variance 0.2 μ), rounded and held at ≥ 1, with μ = D_N/N over the whole split unless
    `mean_datapoints` says otherwise. Each device draws its labels without repetition, then its
    datapoints uniformly *with* replacement among all images of these labels: local data sets overlap.
    """
    present = np.unique(images.labels)
    if not 1 <= labels_per_device <= len(present):
        raise InvalidSettingError(f"labels_per_device must lie in 1..{len(present)}, the labels present")
    mean = _mean(images, n_devices, mean_datapoints)
    sizes = _sizes(mean, n_devices, generator)
    by_label = {label: np.flatnonzero(images.labels == label) for label in present}
    devices = []
    for size in sizes:
        chosen = generator.choice(present, labels_per_device, replace=False)
        pool = np.concatenate([by_label[label] for label in chosen])
        devices.append(pool[generator.integers(len(pool), size=size)])
    return Partition.from_lists(devices)


def partition_by_dirichlet(
    images: Images,
    n_devices: int,
    generator: np.random.Generator,
    *,
    concentration: float,
    mean_datapoints: float | None = None,
) -> Partition:
    """Draw every device's datapoints with label shares from a symmetric Dirichlet distribution.

    Below 1 the concentration gives devices few labels, far above 1 equal shares of all. Sizes, and draws with
    replacement, are as in `partition_by_labels`.
    """
    if not concentration > 0:
        raise InvalidSettingError(f"the concentration must be positive, not {concentration}")
    present = np.unique(images.labels)
    sizes = _sizes(_mean(images, n_devices, mean_datapoints), n_devices, generator)
    by_label = [np.flatnonzero(images.labels == label) for label in present]
    devices = []
    for size in sizes:
        counts = generator.multinomial(size, generator.dirichlet(np.full(len(present), concentration)))
        drawn = [pool[generator.integers(len(pool), size=n)] for pool, n in zip(by_label, counts, strict=True)]
        devices.append(np.concatenate(drawn))
    return Partition.from_lists(devices)


def _mean(images: Images, n_devices: int, mean_datapoints: float | None) -> float:
    mean = len(images) / max(n_devices, 1) if mean_datapoints is None else mean_datapoints
    if n_devices < 1 or mean <= 0:
        raise InvalidSettingError("at least one device and a positive mean number of datapoints are needed")
    return mean


def _sizes(mean: float, n_devices: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """D_i(0) ~ Normal(μ, variance 0.2 μ), rounded and held at ≥ 1."""
    drawn = generator.normal(mean, np.sqrt(0.2 * mean), n_devices)
    return np.maximum(1, np.rint(drawn)).astype(np.int64)
