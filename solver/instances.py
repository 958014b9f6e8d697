"""Seeded random networks: for compiling the kernels ahead of time, for tests and for benchmarks."""

import numpy as np

from solver.network import Devices, Links, Network

__all__ = ["BUDGETS", "random_network"]

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
