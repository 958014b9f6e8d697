"""Offloading of the baselines (Sec. V-B): random, greedy and none. All of them keep every constraint."""

from time import perf_counter

import numpy as np

from solver.arrays import FloatArray
from solver.kernels.objective import gradient
from solver.kernels.repair import hand_out, shrink_to_fit
from solver.step.problem import StepProblem
from solver.step.solution import StepSolution, certified
from solver.validation import frozen

__all__ = ["offload_greedily", "offload_nothing", "offload_randomly"]


def offload_randomly(problem: StepProblem, generator: np.random.Generator) -> StepSolution:
    """Each sender draws a uniform fraction for each of its links; fractions that break a constraint are scaled down."""
    start = perf_counter()
    fractions = np.minimum(generator.random(problem.n_links), problem.link_limit)
    shrink_to_fit(problem.arrays, fractions, np.empty(problem.n_receivers))
    return _certified(problem, fractions, start)


def offload_greedily(problem: StepProblem) -> StepSolution:
    """Links are filled one by one, those that could carry the most useful datapoints first."""
    start = perf_counter()
    budget = problem.budget[problem.sender]
    share = np.divide(budget, problem.cost, out=np.ones(problem.n_links), where=problem.cost > budget)
    carries = np.minimum(problem.useful * np.minimum(share, problem.link_limit), problem.capacity[problem.receiver])
    # Stable, so that ties go to the smaller device numbers.
    order = np.argsort(-carries, kind="stable")
    fractions = np.zeros(problem.n_links)
    hand_out(problem.arrays, problem.sender, order, frozen(problem.link_limit), fractions)
    return _certified(problem, fractions, start)


def offload_nothing(problem: StepProblem) -> StepSolution:
    """No datapoint moves."""
    return _certified(problem, np.zeros(problem.n_links), perf_counter())


def _certified(problem: StepProblem, fractions: FloatArray, start: float) -> StepSolution:
    """Certify with the price −g_i for each full receiver (R_i = cap_i) and zero for the others."""
    received = np.bincount(problem.receiver, weights=problem.useful * fractions, minlength=problem.n_receivers)
    g = np.empty(problem.n_receivers)
    gradient(problem.data + received, problem.unsampled_data, problem.gradient_norm, problem.gradient_noise, g)
    full = received >= problem.capacity * (1 - 1e-9)
    prices = np.where(full, -g, 0.0)
    return certified(problem, fractions, prices, seconds=perf_counter() - start, heuristic=True)
