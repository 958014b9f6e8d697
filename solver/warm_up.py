"""`python -m solver.warm_up`: compile every kernel ahead of time, so that the first request need not wait.

The compiled code is cached on disk (`solver.kernels.compile`). Later runs take about a second.
"""

import sys
from time import perf_counter

import numpy as np

from solver.horizon.sequence import METHODS, plan_offloading, step_problem
from solver.horizon.state import start
from solver.instances import BUDGETS, random_network
from solver.step.fast import solve_fast, solve_many

__all__ = ["warm_up"]


def warm_up() -> float:
    """Run every kernel on a small network; returns the seconds it took."""
    begin = perf_counter()
    receive, transmit = BUDGETS["scarce"]
    generator = np.random.default_rng(0)
    network = random_network(generator, 30, link_probability=0.5, receive=receive, transmit=transmit)
    for method in METHODS:
        # CVXPY uses none of these kernels and takes a second to load.
        if method != "cvxpy":
            plan_offloading(network, [0, 1, 2], horizon=1, method=method, generator=generator)
    # Under loose budgets the steps one by one are not the best plan, so that the whole horizon is searched too.
    loose = random_network(np.random.default_rng(4), 30, link_probability=0.2)
    plan_offloading(loose, range(5), horizon=10, transfer="send_once", planning="horizon")
    problem = step_problem(network, start(network, [0, 1, 2]))
    solve_fast(problem, time_limit=60.0)
    solve_many([problem])
    return perf_counter() - begin


if __name__ == "__main__":
    sys.stdout.write("compiling the solver's kernels (once) ...\n")
    sys.stdout.write(f"ready in {warm_up():.1f} s\n")
