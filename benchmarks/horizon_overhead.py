"""Processor time of a plan beyond the compiled code that solves its steps; `benchmarks.solver_speed` prints it."""

from statistics import median
from time import thread_time

import numpy as np

from solver import plan_offloading, start
from solver.horizon.packing import new_course, pack, part_of
from solver.instances import BUDGETS, random_network
from solver.kernels.horizon import solve_packed
from solver.network.eligibility import data_ceiling
from solver.network.schedule import Schedule
from solver.network.subgraph import Subgraph
from solver.step.fast import TOLERANCE, effort_for

__all__ = ["horizon_overhead"]

# N, S and the probability of a link.
CASES = [(10, 5, 0.5), (30, 3, 0.3), (100, 5, 0.1), (800, 6, 0.1), (800, 20, 0.1)]
STEPS = 75
REPEATS = 75


def horizon_overhead(seed: int, *, smoke: bool) -> list[dict[str, object]]:
    """The processor time of whole plans, scarce budgets, beside that of the one compiled call in each."""
    rows: list[dict[str, object]] = []
    receive, transmit = BUDGETS["scarce"]
    for n, s, probability in CASES[: 1 if smoke else None]:
        network = random_network(
            np.random.default_rng(seed), n, link_probability=probability, receive=receive, transmit=transmit
        )
        schedule, sampled = Schedule.of(network), np.arange(s)
        subgraph = Subgraph.of(network, sampled)
        ceiling = data_ceiling(schedule, sampled, 1, STEPS)
        whole, kernel = [], []
        for _ in range(REPEATS + 1):
            begin = thread_time()
            plan_offloading(schedule, sampled, horizon=STEPS)
            whole.append(thread_time() - begin)
            part = part_of(subgraph, start(schedule, sampled).data, ceiling, 1.0, np.ones(subgraph.source.size))
            packed, moving = pack([part], np.ones((STEPS, 1)), once=True)
            course, done = new_course(packed), np.zeros(1, np.int64)
            effort = effort_for(TOLERANCE)
            begin = thread_time()
            solve_packed(packed, moving, effort, course, done)
            kernel.append(thread_time() - begin)
        plan_ms, kernel_ms = median(whole[1:]) * 1e3, median(kernel[1:]) * 1e3
        rows.append(
            {
                "n_devices": n,
                "sample_size": s,
                "links": subgraph.source.size,
                "steps": STEPS,
                "plan_ms": plan_ms,
                "kernel_ms": kernel_ms,
                # Of each pair, since both were timed at the same clock rate.
                "ratio": median(plan / call for plan, call in zip(whole[1:], kernel[1:], strict=True)),
            }
        )
    return rows
