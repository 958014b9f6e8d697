"""The reference solver: the step problem transcribed into CVXPY, as the paper solves it (Sec. III-C).

Slow and obvious. It is the truth that the fast solver is held to.
"""

import contextlib
import warnings
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import cvxpy as cp
import numpy as np
from scipy import sparse

from solver.arrays import FloatArray, IntArray
from solver.kernels.repair import shrink_to_fit
from solver.problem import StepProblem
from solver.solution import StepSolution, certified

__all__ = ["Transcription", "solve_reference", "transcribe"]


@dataclass(frozen=True, eq=False)
class Transcription:
    """A CVXPY problem, its variable Φ over the open links, its constraint R ≤ cap and the unit data is counted in."""

    problem: cp.Problem
    fractions: cp.Variable
    open_links: IntArray
    receive: Any
    unit: float


def transcribe(problem: StepProblem) -> Transcription:
    """Write the step problem down in CVXPY.

    Data is counted in units of the sampled devices' mean: in datapoints, Clarabel reports inaccurate solutions. Links
    that can carry nothing are left out: an inequality without an interior defeats any interior-point solver.
    """
    unit = float(problem.data.mean())
    n_senders, n_receivers = problem.n_senders, problem.n_receivers
    payable = (problem.cost == 0) | (problem.budget[problem.sender] > 0)
    open_links = np.flatnonzero(payable & (problem.useful > 0) & (problem.capacity[problem.receiver] > 0))
    n_open = open_links.size
    links = np.arange(n_open)
    receiver, sender = problem.receiver[open_links], problem.sender[open_links]
    useful = problem.useful[open_links] / unit
    to_receiver = sparse.csr_array((useful, (receiver, links)), shape=(n_receivers, n_open))
    of_sender = sparse.csr_array((np.ones(n_open), (sender, links)), shape=(n_senders, n_open))
    spend = sparse.csr_array((problem.cost[open_links], (sender, links)), shape=(n_senders, n_open))

    phi = cp.Variable(n_open, nonneg=True)
    received = to_receiver @ phi
    data = problem.data / unit + received
    unsampled = problem.unsampled_data / unit
    # Term (a) of eq. (26), with D_N = D_Ŝ + D_S.
    sampling = problem.gradient_norm * unsampled * cp.inv_pos(unsampled + cp.sum(data))
    # Term (b) of eq. (26); γ is per datapoint, hence √unit.
    noise = problem.gradient_noise / np.sqrt(unit)
    statistical = noise / n_receivers * cp.sum(cp.power(data, -0.5))

    # Eqs. (9) and (10). A cap far beyond all that could arrive would only cost digits.
    receive = received <= np.minimum(problem.capacity / unit, 2 * to_receiver.sum(axis=1) + 1e-300)
    constraints = [
        receive,
        # Eq. (11), each row divided by its budget so that rows of any unit weigh alike.
        sparse.diags_array(_inverse(problem.budget)) @ spend @ phi <= np.where(problem.budget > 0, 1.0, 0.0),
        of_sender @ phi <= 1,  # eq. (12)
    ]
    objective = cp.Minimize(sampling + statistical)
    return Transcription(cp.Problem(objective, constraints), phi, open_links, receive, unit)


def solve_reference(problem: StepProblem, *, time_limit: float | None = None) -> StepSolution:
    """Solve the step with CVXPY and Clarabel, and certify the answer.

    Clarabel's answer may lie outside a constraint by its tolerance; it is scaled back in before it is certified.
    """
    start = perf_counter()
    fractions = np.zeros(problem.n_links)
    prices = np.zeros(problem.n_receivers)
    iterations = 0
    model = transcribe(problem)
    limit = {} if time_limit is None else {"time_limit": time_limit}
    # With no time left there is nothing to ask Clarabel for: moving nothing is feasible.
    if model.open_links.size and (time_limit is None or time_limit > 0):
        with warnings.catch_warnings():
            # "Solution may be inaccurate": the certificate says how accurate it is.
            warnings.simplefilter("ignore", UserWarning)
            # A solver that gives up leaves no value: zero fractions are feasible, and their certificate is honest.
            with contextlib.suppress(cp.SolverError):
                model.problem.solve(
                    solver=cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12, max_iter=400, **limit
                )
        if model.fractions.value is not None:
            fractions[model.open_links] = model.fractions.value
            prices = np.asarray(model.receive.dual_value, dtype=np.float64) / model.unit
            reach = np.bincount(problem.receiver, weights=problem.useful, minlength=problem.n_receivers)
            prices = np.where(problem.capacity > 2 * reach, 0.0, prices)
            iterations = int(model.problem.solver_stats.num_iters or 0)
    # A receiver without room may charge any price.
    prices = np.where(problem.capacity == 0, np.inf, prices)
    shrink_to_fit(problem.arrays, fractions, np.empty(problem.n_receivers))
    seconds = perf_counter() - start
    out_of_time = time_limit is not None and seconds >= time_limit
    return certified(problem, fractions, prices, iterations=iterations, seconds=seconds, out_of_time=out_of_time)


def _inverse(budget: FloatArray) -> FloatArray:
    return np.divide(1.0, budget, out=np.ones_like(budget), where=budget > 0)
