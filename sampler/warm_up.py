"""`python -m sampler.warm_up`: compile every kernel that serving needs, so that the first request does not wait."""

import sys
from time import perf_counter

import numpy as np

from sampler.base import SamplingProblem
from sampler.registry import find_sampler
from sampler.set_bound import set_bound
from solver.instances import random_network
from solver.network.schedule import Schedule
from solver.warm_up import warm_up as warm_up_solver

__all__ = ["warm_up"]


def warm_up() -> float:
    """Run the kernels of solver and samplers once on a small network; return the seconds it took."""
    begin = perf_counter()
    warm_up_solver()
    network = random_network(np.random.default_rng(0), 12)
    problem = SamplingProblem.of(Schedule.of(network), 2)
    for name in ("greedy", "exhaustive", "greedy:surrogate", "exhaustive:coverage"):
        find_sampler(name)(problem, np.random.default_rng(0))
    labelled = SamplingProblem.of(Schedule.of(network.with_columns({"label_counts": np.eye(12, 3)})), 2)
    for name in ("greedy", "gcn_rank"):
        find_sampler(name)(labelled, np.random.default_rng(0))
    set_bound(problem, 1)
    return perf_counter() - begin


if __name__ == "__main__":
    sys.stdout.write("compiling the kernels (once) ...\n")
    sys.stdout.write(f"ready in {warm_up():.1f} s\n")
