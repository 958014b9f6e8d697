"""A realisation of a network that a caller describes: only the devices' datapoints are drawn here.

The planner uses the similarity and the budgets that the caller gives. So a run shows the accuracy that a plan for this
network leads to, including errors in the caller's estimates of similarity.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fedl_sim.contract import OwnData
from fedl_sim.data.datasets import DataSet
from fedl_sim.data.images import Images
from fedl_sim.errors import InvalidSettingError
from fedl_sim.network.partition import Partition
from fedl_sim.network.realisation import Realisation
from fedl_sim.network.similarity import similar_radius
from fedl_sim.randomness import stream
from sampler.label_counts.histograms import class_counts
from solver.network import Network
from solver.network.schedule import Change, Schedule

__all__ = ["realise_given", "with_own_data"]


def realise_given(
    network: Network,
    changes: tuple[Change, ...],
    data: DataSet,
    seed: int,
    *,
    labels_per_device: int = 3,
    similarity_quantile: float = 0.05,
) -> Realisation:
    """Draw D_i(0) datapoints, rounded, for every device of a network; at least one if D_i(0) is positive.

    If the network has label counts with a column for each class, a device draws labels in these proportions. Otherwise
    it draws `labels_per_device` labels, as in Sec. V-A.
    """
    sizes = _whole(network.devices.data)
    generator = stream(seed, "partition")
    shares = _label_shares(network, data.train, labels_per_device, generator)
    partition = _deal(data.train, sizes, shares, generator)
    rounded = Network(replace(network.devices, data=sizes.astype(np.float64)), network.links)
    radius = similar_radius(data.train, stream(seed, "radius"), quantile=similarity_quantile)
    return Realisation(rounded, partition, None, radius, Schedule(rounded, changes))


def _label_shares(
    network: Network, images: Images, labels_per_device: int, generator: np.random.Generator
) -> NDArray[np.float64]:
    """Return the share of each class in each device's data: shape (N, classes)."""
    counts = class_counts(network.devices)
    n = len(network)
    present = np.unique(images.labels)
    shares = np.zeros((n, images.classes))
    if not 1 <= labels_per_device <= len(present):
        raise InvalidSettingError(f"labels_per_device must lie in 1..{len(present)}, the labels present")
    for device in range(n):
        chosen = generator.choice(present, labels_per_device, replace=False)
        shares[device, chosen] = 1
    if counts is not None and counts.shape[1] == images.classes:
        known = counts.sum(axis=1) > 0
        shares[known] = counts[known]
    mixtures: NDArray[np.float64] = shares / shares.sum(axis=1, keepdims=True)
    return mixtures


def with_own_data(partition: Partition, images: Images, change: OwnData, *, seed: int, period: int) -> Partition:
    """What devices have of their own after a change.

    A device of other label counts draws all of its data anew, in their proportions. Otherwise it keeps its first
    datapoints, or draws more of the labels that it has; one without data draws of all labels.
    """
    pools, devices = _pools(images), [partition.of(device) for device in range(partition.n_devices)]
    for row, device in enumerate(change.device):
        generator = stream(seed, "own-data", device, period)
        own, size = devices[device], int(_whole(np.array(change.datapoints[row])))
        if change.label_counts is not None and sum(change.label_counts[row]) > 0:
            own, share = own[:0], np.array(change.label_counts[row], np.float64)
        else:
            known = own if len(own) else np.arange(len(images.labels))
            share = np.bincount(images.labels[known], minlength=images.classes).astype(np.float64)
        more = _drawn(pools, max(0, size - len(own)), share / share.sum(), generator)
        devices[device] = np.concatenate([own[:size], more])
    return Partition.from_lists(devices)


def _whole(data: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.where(data > 0, np.maximum(1, np.rint(data)), 0).astype(np.int64)


def _deal(
    images: Images, sizes: NDArray[np.int64], shares: NDArray[np.float64], generator: np.random.Generator
) -> Partition:
    pools = _pools(images)
    return Partition.from_lists(
        [_drawn(pools, size, share, generator) for size, share in zip(sizes.tolist(), shares, strict=True)]
    )


def _pools(images: Images) -> list[NDArray[np.int64]]:
    return [np.flatnonzero(images.labels == label) for label in range(images.classes)]


def _drawn(
    pools: Sequence[NDArray[np.int64]], size: int, share: NDArray[np.float64], generator: np.random.Generator
) -> NDArray[np.int64]:
    """So many datapoints, of labels in these proportions."""
    counts = generator.multinomial(size, share)
    drawn = [pool[generator.integers(len(pool), size=c)] for pool, c in zip(pools, counts, strict=True) if c]
    return np.concatenate([np.empty(0, np.int64), *drawn])
