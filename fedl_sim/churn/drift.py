"""Drifting data: devices replace their datapoints by ones of other labels, so that their label mixture changes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fedl_sim.data.images import Images
from fedl_sim.network.partition import Partition
from fedl_sim.randomness import stream

__all__ = ["Drift"]


@dataclass(frozen=True, eq=False)
class Drift:
    """What every datapoint of a partition becomes, and when.

    A device draws as many new labels as it has, and for each of its datapoints an image of one of these. Every
    datapoint is replaced in a period with the same chance, independently of the others.

    Attributes:
        partition: the data at the start.
        becomes: the row of the training split that replaces each index of the partition.
        after: the period after which it does; counted from 1.
    """

    partition: Partition
    becomes: NDArray[np.int64]
    after: NDArray[np.int64]

    @classmethod
    def of(cls, images: Images, partition: Partition, rate: float, *, seed: int) -> "Drift":
        """Draw the drift of every device; `rate` is the chance that a datapoint is replaced in a period."""
        labels = np.unique(images.labels)
        rows = {int(label): np.flatnonzero(images.labels == label) for label in labels}
        becomes = partition.indices.copy()
        after = np.full(len(becomes), np.iinfo(np.int64).max)
        for device in range(partition.n_devices) if rate > 0 else ():
            own = slice(partition.starts[device], partition.starts[device + 1])
            size = own.stop - own.start
            if size == 0:
                continue
            generator = stream(seed, "drift", device)
            count = len(np.unique(images.labels[partition.indices[own]]))
            chosen = generator.choice(labels, count, replace=False)
            pool = np.concatenate([rows[int(label)] for label in chosen])
            becomes[own] = pool[generator.integers(len(pool), size=size)]
            after[own] = generator.geometric(rate, size)
        return cls(partition, becomes, after)

    def at(self, period: int) -> Partition:
        """Return what devices hold of their own in a period; in the first one nothing has changed yet."""
        indices = np.where(self.after < period, self.becomes, self.partition.indices)
        return Partition(indices, self.partition.starts)
