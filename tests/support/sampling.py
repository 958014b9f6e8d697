"""Small networks for the samplers' tests."""

import numpy as np

from sampler import SamplingProblem
from solver.network import Devices, Links, Network
from solver.network.schedule import Schedule

__all__ = ["labelled", "network", "planted", "problem"]


def network(n: int = 12, seed: int = 0, **columns: object) -> Network:
    """Devices of 20 to 59 datapoints; each ordered pair is linked with probability 0.3."""
    generator = np.random.default_rng(seed)
    values: dict[str, object] = {
        "data": generator.integers(20, 60, n).astype(float),
        "processing_capacity": generator.uniform(200, 900, n),
        "processing_cost": np.ones(n),
        "receive_capacity": generator.uniform(2, 20, n),
        "transmit_budget": generator.uniform(2, 20, n),
    }
    values |= columns
    adjacent = generator.random((n, n)) < 0.3
    np.fill_diagonal(adjacent, val=False)
    source, target = np.nonzero(adjacent)
    links = Links(source, target, generator.random(len(source)), generator.uniform(1, 5, len(source)))
    return Network(Devices(**values), links)  # type: ignore[arg-type]


def labelled(n: int = 12, seed: int = 0, classes: int = 5) -> Network:
    """The same with counts of classes that add up to the data."""
    counts = np.random.default_rng([seed, 1]).integers(0, 15, (n, classes)).astype(float) + 1.0
    return network(n, seed, data=counts.sum(axis=1), label_counts=counts)


def planted(n: int, probability: float) -> tuple[Network, np.ndarray]:
    """Devices of one of four kinds: similarity 0.6 within a kind, 0.1 across, both with noise."""
    generator = np.random.default_rng(0)
    kind = np.arange(n) % 4
    truth = np.where(kind[:, None] == kind, 0.6, 0.1)
    adjacent = np.triu(generator.random((n, n)) < probability, 1)
    source, target = np.nonzero(adjacent | adjacent.T)
    similarity = np.clip(truth[source, target] + generator.normal(0, 0.05, len(source)), 0, 1)
    devices = Devices(*(np.full(n, value) for value in (50.0, 1e4, 1.0, 50.0, 50.0)))  # type: ignore[arg-type]
    return Network(devices, Links(source, target, similarity, np.ones(len(source)))), truth


def problem(net: Network, size: int = 4, **options: object) -> SamplingProblem:
    """Choose `size` of all devices that can be sampled."""
    return SamplingProblem.of(Schedule.of(net), size, **options)  # type: ignore[arg-type]
