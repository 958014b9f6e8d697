"""Random networks of any size, down to one device, with links as dense as asked."""

import numpy as np

from solver.network import Devices, Links, Network


def random_devices(n: int, density: float, seed: int) -> Network:
    generator = np.random.default_rng(seed)
    devices = Devices(
        data=generator.integers(20, 60, n).astype(float),
        processing_capacity=generator.uniform(200, 900, n),
        processing_cost=generator.uniform(0.5, 2, n),
        receive_capacity=generator.uniform(2, 20, n),
        transmit_budget=generator.uniform(2, 20, n),
    )
    adjacent = generator.random((n, n)) < density
    np.fill_diagonal(adjacent, val=False)
    source, target = np.nonzero(adjacent)
    links = Links(source, target, generator.random(len(source)), generator.uniform(1, 5, len(source)))
    return Network(devices, links)
