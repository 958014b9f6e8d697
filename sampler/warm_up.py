"""`python -m sampler.warm_up [first]`: compile the kernels that serving needs, so that no request waits for them.

`first` is what a plan with the default sampler needs. Numba compiles one function at a time in a process, so two
processes share it. Without an argument the rest follows, in this process.
"""

import subprocess
import sys
from time import perf_counter

import numpy as np

from sampler.base import SamplingProblem
from sampler.registry import find_sampler
from sampler.set_bound import set_bound
from solver import warm_up as solver_warm_up
from solver.instances import random_network
from solver.kernels.compile import count_missing
from solver.network.schedule import Schedule

__all__ = ["warm_up", "warm_up_first", "warm_up_rest"]


def _problem(*, labelled: bool = False) -> SamplingProblem:
    network = random_network(np.random.default_rng(0), 12)
    if labelled:
        network = network.with_columns({"label_counts": np.eye(12, 3)})
    return SamplingProblem.of(Schedule.of(network), 2)


def _choose(name: str, problem: SamplingProblem) -> None:
    find_sampler(name)(problem, np.random.default_rng(0))


def _choose_by_default() -> None:
    _choose("greedy", _problem())


def _bound_set() -> None:
    set_bound(_problem(), 1)


def warm_up_first() -> None:
    """Run the kernels that a plan with the default sampler needs."""
    _choose_by_default()
    _bound_set()
    solver_warm_up.warm_up_first()


def warm_up_rest() -> None:
    """Run the kernels that only some requests need."""
    problem, labelled = _problem(), _problem(labelled=True)
    for name in ("exhaustive", "greedy:surrogate", "exhaustive:coverage"):
        _choose(name, problem)
    for name in ("greedy", "gcn_rank"):
        _choose(name, labelled)
    solver_warm_up.warm_up_rest()


def warm_up() -> float:
    """Run all kernels once in this process; return the seconds it took."""
    begin = perf_counter()
    warm_up_first()
    warm_up_rest()
    return perf_counter() - begin


# About half of the time each. What both need is compiled by one of them, well before the other comes to it.
_HALVES = {
    "iterations": (solver_warm_up.compile_iterations,),
    "ends": (_choose_by_default, solver_warm_up.compile_ends, _bound_set, solver_warm_up.compile_bound),
}


def _compile_first() -> None:
    """Have two processes compile what `warm_up_first` runs; what is compiled already is loaded."""
    command = [sys.executable, "-P", "-m", "sampler.warm_up"]
    halves = [subprocess.Popen([*command, half]) for half in _HALVES]  # noqa: S603 - this interpreter, this module
    codes = [half.wait() for half in halves]
    if any(codes):
        sys.exit(1)


def _main(wanted: str) -> None:
    if wanted in _HALVES:
        for work in _HALVES[wanted]:
            work()
        return
    begin = perf_counter()
    if count_missing():
        sys.stdout.write("compiling the kernels (once) ...\n")
        sys.stdout.flush()
        _compile_first()
    if wanted != "first":
        warm_up()
    sys.stdout.write(f"ready in {perf_counter() - begin:.1f} s\n")


if __name__ == "__main__":
    _main(sys.argv[1] if len(sys.argv) > 1 else "all")
