"""Work on a small network that runs every kernel once, and parts of it for processes that share compiling.

The compiled code is cached on disk (`solver.kernels.compile`). `python -m sampler.warm_up` runs all of this.
"""

import numpy as np

from solver.horizon.sequence import METHODS, plan_offloading, step_problem
from solver.horizon.state import start
from solver.instances import BUDGETS, random_network
from solver.kernels.finish import finish, finish_clean
from solver.kernels.hasty import send_hastily
from solver.kernels.interior_point import iterate
from solver.kernels.least_sending import send_less
from solver.kernels.prepare import prepare
from solver.kernels.starting_point import starting_point
from solver.kernels.step import attempt_full, target_gap
from solver.network.model import Network
from solver.step.fast import effort_for, solve_fast, solve_many
from solver.step.problem import StepProblem

__all__ = ["compile_bound", "compile_ends", "compile_iterations", "warm_up", "warm_up_first", "warm_up_rest"]


def _network() -> Network:
    """Thirty devices that cannot send everything, so that a step has to iterate."""
    receive, transmit = BUDGETS["scarce"]
    return random_network(np.random.default_rng(0), 30, link_probability=0.5, receive=receive, transmit=transmit)


def _problem() -> StepProblem:
    network = _network()
    return step_problem(network, start(network, [0, 1, 2]))


def compile_iterations() -> None:
    """Compile the interior-point method, then steps as a whole: half of what a plan needs.

    The code of a function is copied into its callers. So what takes longest comes first; `compile_ends` runs beside it.
    """
    problem = _problem()
    step = problem.arrays
    _, reduced = prepare(step)
    point = starting_point(step, reduced)
    iterate(step, reduced, point, 0.0, effort_for(1e-8), np.empty(reduced.u.size), np.zeros(problem.n_receivers))
    solve_many([problem])


def compile_ends() -> None:
    """Compile what comes before and after the iterations of a step, or takes their place."""
    problem = _problem()
    step = problem.arrays
    phi, R, mu = np.zeros(problem.n_links), np.zeros(problem.n_receivers), np.zeros(problem.n_receivers)
    send_hastily(step, mu, phi, R)
    send_less(step, R, phi)
    found, reduced = prepare(step)
    s = np.zeros(reduced.u.size)
    attempt_full(reduced, s)
    target_gap(step, reduced, 1e-8)
    finish(step, found, reduced, s, mu, phi, R)
    finish_clean(step, found, reduced, starting_point(step, reduced), s, 0.0, mu, phi, R)


def compile_bound() -> None:
    """Compile the bound on a plan's horizon. A plan that sends nothing has one too, and solves no step."""
    plan_offloading(_network(), [0, 1, 2], horizon=1, method="none")


def warm_up_first() -> None:
    """Run the kernels that every plan needs."""
    plan_offloading(_network(), [0, 1, 2], horizon=1)


def warm_up_rest() -> None:
    """Run the kernels that only some requests need."""
    network, problem = _network(), _problem()
    for method in METHODS:
        # CVXPY uses none of these kernels and takes a second to load.
        if method != "cvxpy":
            plan_offloading(network, [0, 1, 2], horizon=1, method=method, generator=np.random.default_rng(0))
    solve_fast(problem, time_limit=60.0)
    # Under loose budgets the steps one by one are not the best plan, so that the whole horizon is searched too.
    loose = random_network(np.random.default_rng(4), 30, link_probability=0.2)
    plan_offloading(loose, range(5), horizon=10, transfer="send_once", planning="horizon")


def warm_up() -> None:
    """Run all kernels."""
    warm_up_first()
    warm_up_rest()
