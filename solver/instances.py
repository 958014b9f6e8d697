"""Seeded random networks and horizons: for compiling the kernels ahead of time, for tests and for benchmarks."""

import numpy as np

from solver.arrays import FloatArray, IntArray
from solver.network import Devices, Links, Network
from solver.network.schedule import Change, Schedule

__all__ = ["BUDGETS", "random_horizon", "random_network"]

# Ranges of θ_i and Ψ_i as shares of D_i: from budgets that hardly bind to budgets that bind everywhere.
BUDGETS = {
    "loose": ((0.05, 0.5), (0.02, 0.3)),
    "tight": ((0.005, 0.05), (0.0004, 0.006)),
    "scarce": ((0.005, 0.05), (0.00004, 0.0006)),
}


def random_network(
    generator: np.random.Generator,
    n_devices: int,
    *,
    link_probability: float = 0.1,
    receive: tuple[float, float] = BUDGETS["loose"][0],
    transmit: tuple[float, float] = BUDGETS["loose"][1],
    cost_spread: float = 0.5,
    only_into: int | None = None,
) -> Network:
    """Devices of about 600 datapoints on a directed Erdős–Rényi graph.

    `receive` and `transmit` are ranges of θ_i and Ψ_i as shares of D_i; costs are log-normal around 1 with the
    given spread (2.3 is about six orders of magnitude from end to end). `only_into` keeps only the links into that
    many first devices, for networks too large to hold the others.
    """
    data = np.maximum(generator.normal(600, np.sqrt(0.2 * 600), n_devices).round(), 1.0)
    source, target = _random_links(
        generator, n_devices, link_probability, n_devices if only_into is None else only_into
    )
    devices = Devices(
        data=data,
        processing_capacity=data * generator.uniform(1.0, 6.0, n_devices),
        processing_cost=generator.uniform(0.3, 1.0, n_devices),
        receive_capacity=data * generator.uniform(*receive, n_devices),
        transmit_budget=data * generator.uniform(*transmit, n_devices),
    )
    links = Links(
        source,
        target,
        similarity=generator.uniform(0.0, 0.9, source.size),
        transmit_cost=np.exp(generator.normal(0.0, cost_spread, source.size)),
    )
    return Network(devices, links)


def random_horizon(generator: np.random.Generator) -> tuple[Schedule, IntArray, FloatArray, float]:
    """A small horizon of any shape: a schedule with announced changes, the sampled devices, gradient norms and γ.

    Links vanish and come back, budgets rise and fall, and devices are closed, empty, unlimited or near their ceiling.
    """
    n_devices, steps = int(generator.integers(3, 13)), int(generator.integers(1, 9))
    receive, transmit = list(BUDGETS.values())[generator.integers(3)]
    if generator.random() < 0.25:
        receive, transmit = (0.2, 20.0), (0.1, 2.0)
    network = random_network(
        generator,
        n_devices,
        link_probability=float(generator.choice([0.15, 0.4, 1.0])),
        receive=receive,
        transmit=transmit,
        cost_spread=float(generator.choice([0.0, 0.5, 2.3])),
    )
    size = int(generator.integers(1, min(n_devices, 5)))
    sampled = generator.permutation(n_devices)[:size]
    data = network.devices.data.copy()
    data[generator.random(n_devices) < 0.1] = 0.0
    data[sampled] = network.devices.data[sampled]
    devices = network.devices
    network = Network(
        Devices(
            data=data,
            processing_capacity=data * generator.choice([1.01, 2.0, 1e6]) + 1.0,
            processing_cost=np.ones(n_devices),
            receive_capacity=np.where(generator.random(n_devices) < 0.1, 0.0, devices.receive_capacity),
            transmit_budget=np.where(generator.random(n_devices) < 0.1, 0.0, devices.transmit_budget),
        ),
        network.links,
    )
    changes = [_change(generator, network, step) for step in range(2, steps + 1) if generator.random() < 0.3]
    norms = generator.exponential(1.0) * (1.0 + generator.random() / 5) ** -np.arange(1.0, steps + 1)
    noise = 0.0 if generator.random() < 0.1 else float(generator.exponential(3.0))
    return Schedule(network, tuple(changes)), sampled, norms, noise


def _change(generator: np.random.Generator, network: Network, step: int) -> Change:
    links = network.links
    kept = np.flatnonzero(generator.random(links.source.size) < generator.choice([0.3, 0.7, 1.0]))
    some = Links(links.source[kept], links.target[kept], links.similarity[kept], links.transmit_cost[kept])
    budget = network.devices.transmit_budget * generator.choice([0.0, 0.2, 1.0, 5.0])
    receive = network.devices.receive_capacity * generator.choice([0.1, 1.0])
    return Change(step, {"transmit_budget": budget, "receive_capacity": receive}, some)


def _random_links(
    generator: np.random.Generator, n_devices: int, probability: float, n_targets: int
) -> tuple[np.ndarray[tuple[int], np.dtype[np.int64]], np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """Draw each ordered pair into the first targets with this probability, by geometric skips: O(links)."""
    pairs = n_targets * (n_devices - 1)
    if probability <= 0 or pairs == 0:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    if probability >= 1:
        chosen = np.arange(pairs)
    else:
        expected = int(pairs * probability + 6 * np.sqrt(pairs * probability) + 20)
        chosen = np.cumsum(generator.geometric(probability, expected)) - 1
        chosen = chosen[chosen < pairs]
    target, source = np.divmod(chosen, max(n_devices - 1, 1))
    return source + (source >= target), target
