"""λ_ij(0) as the devices themselves can estimate it (Sec. II-B).

Device i broadcasts a random sample of its data. Each neighbour j answers with the share of the sample that is similar
to one of its own datapoints: same label, and features within ε₀. The cost is one sample per device and one comparison
per link.
"""

import numpy as np
from numpy.typing import NDArray

from fedl_sim.data.images import Images
from fedl_sim.errors import InvalidSettingError
from fedl_sim.network.partition import Partition
from fedl_sim.network.topology import Topology

__all__ = ["estimate_similarity", "nearest_same_label", "similar_radius"]

_CHUNK = 512  # rows of distances held at once: memory stays flat as devices grow


def similar_radius(
    images: Images, generator: np.random.Generator, *, quantile: float = 0.05, pairs: int = 4000
) -> float:
    """Choose ε₀ by this rule: the `quantile` of distances between random pairs of datapoints of one label.

    The paper leaves ε₀ to the application. This rule does not depend on the scale of the features, and it needs only a
    small public sample. At the default, a datapoint counts as similar if it is nearer than 95 % of the pairs of its
    class are to each other.
    """
    if not 0 <= quantile <= 1 or pairs < 1:
        raise InvalidSettingError("quantile must lie in [0, 1] and pairs be at least 1")
    order = np.argsort(images.labels, kind="stable")
    starts = np.searchsorted(images.labels[order], np.arange(images.classes + 1))
    one = generator.integers(len(images), size=pairs)
    label = images.labels[one]
    other = order[starts[label] + generator.integers(starts[label + 1] - starts[label])]
    keep = one != other
    if not keep.any():
        return 0.0
    gaps = images.features(one[keep]) - images.features(other[keep])
    return float(np.quantile(np.linalg.norm(gaps, axis=1), quantile))


def nearest_same_label(images: Images, points: NDArray[np.int64], held: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return each point's distance to the nearest held datapoint of its own label; ∞ where there is none."""
    nearest = np.full(len(points), np.inf)
    held = np.unique(held)
    for label in np.unique(images.labels[points]):
        rows = np.flatnonzero(images.labels[points] == label)
        own = held[images.labels[held] == label]
        if len(own) == 0:
            continue
        x = images.features(points[rows])
        x_square = np.einsum("ij,ij->i", x, x)
        best = np.full(len(rows), np.inf)
        for start in range(0, len(own), _CHUNK):
            y = images.features(own[start : start + _CHUNK])
            square = x_square[:, None] + np.einsum("ij,ij->i", y, y) - 2 * (x @ y.T)
            # A point is at distance 0 from itself, which the expanded square misses by rounding.
            square[points[rows][:, None] == own[start : start + _CHUNK]] = 0
            best = np.minimum(best, square.min(axis=1))
        nearest[rows] = np.sqrt(np.maximum(best, 0))
    return nearest


def estimate_similarity(
    images: Images,
    partition: Partition,
    topology: Topology,
    radius: float,
    generator: np.random.Generator,
    *,
    sample_size: int = 50,
) -> NDArray[np.float64]:
    """Estimate λ_ij(0) for every link i → j of the topology, in its order.

    Device i's broadcast is the same for all its neighbours, drawn without replacement (all its data if
    it holds fewer than `sample_size`). The links of a device without data get 1, since it has nothing to send.
    """
    if sample_size < 1 or radius < 0:
        raise InvalidSettingError("sample_size must be at least 1 and radius not negative")
    samples = []
    for device in range(partition.n_devices):
        held = partition.of(device)
        size = min(sample_size, len(held))
        samples.append(generator.choice(held, size, replace=False) if size else held)
    similarity = np.ones(topology.n_links)
    # By receiver: its neighbours' samples are compared with its data together, in one product.
    for receiver in np.unique(topology.target):
        links = np.flatnonzero(topology.target == receiver)
        held = partition.of(receiver)
        sent = [samples[topology.source[link]] for link in links]
        points = np.concatenate(sent)
        if len(points) == 0:
            continue
        near = nearest_same_label(images, points, held) <= radius if len(held) else np.zeros(len(points), bool)
        ends = np.cumsum([len(s) for s in sent])
        for link, start, end in zip(links, np.concatenate([[0], ends[:-1]]), ends, strict=True):
            if end > start:
                similarity[link] = near[start:end].mean()
    return similarity
