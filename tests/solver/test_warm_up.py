import numpy as np

from solver import TRANSFERS, Change, Schedule, Weights, plan_offloading, plan_sets
from solver.instances import random_network
from solver.kernels.horizon import solve_packed
from solver.kernels.horizon_certificate import certify
from solver.kernels.subgraph import group_by_sender
from solver.warm_up import warm_up

KERNELS = (certify, group_by_sender, solve_packed)


def compiled() -> list[int]:
    return [len(getattr(kernel, "signatures")) for kernel in KERNELS]  # noqa: B009 - numba's own


def test_no_plan_compiles_anything_after_the_warm_up() -> None:
    warm_up()
    assert compiled() == [1] * len(KERNELS)
    network = random_network(np.random.default_rng(3), 12, link_probability=0.5)
    change = Change(3, {"transmit_budget": network.devices.transmit_budget / 2}, network.links)
    for transfer in TRANSFERS:
        plan = plan_offloading(Schedule(network, (change,)), [0, 1], horizon=4, transfer=transfer, time_limit=60.0)
        plan_offloading(network, [0, 1], horizon=2, transfer=transfer, weights=Weights(1e-4, 1e-4))
        plan_sets(network, [[0, 1], [2, 3]], horizon=2, transfer=transfer)
        assert len(plan.steps) == 4
    assert compiled() == [1] * len(KERNELS)
