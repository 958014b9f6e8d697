"""The reference solver: the step problem transcribed into CVXPY and solved by Clarabel, as in the paper (Sec. III-C).

It is slow and easy to read. Tests compare the fast solver with it. CVXPY and Clarabel are the optional extra
`reference`, and CVXPY takes a second to load, so they are imported only when a problem is to be solved. One thread at a
time solves with them.
"""

import contextlib
import threading
import warnings
from dataclasses import dataclass
from importlib.util import find_spec
from time import perf_counter
from typing import Any

import numpy as np

from solver.arrays import FloatArray, IntArray
from solver.errors import MissingExtraError
from solver.kernels.repair import shrink_to_fit
from solver.step.problem import StepProblem
from solver.step.solution import StepSolution, certified

__all__ = ["MISSING", "Transcription", "is_installed", "require_installed", "solve_reference", "transcribe"]

MISSING = "the reference solver needs CVXPY with Clarabel: install fedsift[reference]"

# CVXPY numbers its variables by a plain counter and changes the warning filters of the whole process while it solves.
# Neither is safe in two threads at once.
_ONE_AT_A_TIME = threading.Lock()


def is_installed() -> bool:
    """Whether CVXPY and Clarabel are installed; imports neither."""
    return all(find_spec(name) is not None for name in ("cvxpy", "clarabel"))


def require_installed() -> None:
    """Raise a `MissingExtraError` unless CVXPY and Clarabel are installed."""
    if not is_installed():
        raise MissingExtraError(MISSING)


@dataclass(frozen=True, eq=False)
class Transcription:
    """The step problem in CVXPY.

    Attributes:
        problem: the CVXPY problem.
        fractions: its variable, Φ of each open link.
        open_links: the links of the step that can carry something.
        receive: the constraint R ≤ cap, in units of `unit` datapoints.
        unit: how many datapoints make one unit of data in the CVXPY problem.
    """

    problem: Any
    fractions: Any
    open_links: IntArray
    receive: Any
    unit: float


def transcribe(problem: StepProblem) -> Transcription:
    """Write the step problem down in CVXPY.

    Data is counted in units of the sampled devices' mean, because Clarabel reports inaccurate solutions if it is
    counted in datapoints. Links that can carry nothing are left out, because an interior-point solver needs constraints
    with an interior.

    Raises:
        MissingExtraError: CVXPY or Clarabel is not installed.
    """
    require_installed()
    import cvxpy as cp  # noqa: PLC0415 - optional, and slow to load
    from scipy import sparse  # noqa: PLC0415 - slow to load

    unit = float(problem.data.mean())
    n_senders, n_receivers = problem.n_senders, problem.n_receivers
    payable = (problem.cost == 0) | (problem.budget[problem.sender] > 0)
    wanted = (problem.useful > 0) & (problem.link_limit > 0)
    open_links = np.flatnonzero(payable & wanted & (problem.capacity[problem.receiver] > 0))
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

    # Eqs. (9) and (10). A cap far above everything that could arrive would only cost digits, so it is cut down.
    receive = received <= np.minimum(problem.capacity / unit, 2 * to_receiver.sum(axis=1) + 1e-300)
    constraints = [
        receive,
        # Eq. (11), each row divided by its budget, so that the rows have coefficients of like size.
        sparse.diags_array(_inverse(problem.budget)) @ spend @ phi <= np.where(problem.budget > 0, 1.0, 0.0),
        of_sender @ phi <= 1,  # eq. (12)
    ]
    if problem.limit is not None:
        constraints.append(phi <= problem.limit[open_links])
    objective = cp.Minimize(sampling + statistical + problem.link_price[open_links] @ phi)
    return Transcription(cp.Problem(objective, constraints), phi, open_links, receive, unit)


def solve_reference(problem: StepProblem, *, time_limit: float | None = None) -> StepSolution:
    """Solve the step with CVXPY and Clarabel, and certify the answer.

    Clarabel's answer may break a constraint by its tolerance. It is scaled back into the constraints before it is
    certified. Any thread may call this; the others wait meanwhile.

    Raises:
        MissingExtraError: CVXPY or Clarabel is not installed.
    """
    start = perf_counter()
    with _ONE_AT_A_TIME:
        left = None if time_limit is None else time_limit - (perf_counter() - start)
        fractions, prices, iterations = _solved(problem, left)
    # A receiver without room may charge any price.
    prices = np.where(problem.capacity == 0, np.inf, prices)
    fractions = np.minimum(fractions, problem.link_limit)
    shrink_to_fit(problem.arrays, fractions, np.empty(problem.n_receivers))
    seconds = perf_counter() - start
    out_of_time = time_limit is not None and seconds >= time_limit
    return certified(problem, fractions, prices, iterations=iterations, seconds=seconds, out_of_time=out_of_time)


def _solved(problem: StepProblem, time_limit: float | None) -> tuple[FloatArray, FloatArray, int]:
    """Clarabel's fractions, receiver prices and iterations; zeros if it is not asked or gives up."""
    fractions = np.zeros(problem.n_links)
    prices = np.zeros(problem.n_receivers)
    model = transcribe(problem)
    import cvxpy as cp  # noqa: PLC0415 - optional, and slow to load

    # With no time left Clarabel is not asked: zero fractions are feasible.
    if not model.open_links.size or (time_limit is not None and time_limit <= 0):
        return fractions, prices, 0
    limit = {} if time_limit is None else {"time_limit": time_limit}
    with warnings.catch_warnings():
        # CVXPY warns "Solution may be inaccurate"; the certificate tells how accurate it is.
        warnings.simplefilter("ignore", UserWarning)
        # If Clarabel gives up there is no value. Then the answer is zero fractions, with their certificate.
        with contextlib.suppress(cp.SolverError):
            model.problem.solve(
                solver=cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12, max_iter=400, **limit
            )
    if model.fractions.value is None:
        return fractions, prices, 0
    fractions[model.open_links] = model.fractions.value
    prices = np.asarray(model.receive.dual_value, dtype=np.float64) / model.unit
    # Where the cap was cut down to what could arrive over open links, it has no price.
    open_useful = problem.useful[model.open_links]
    reach = np.bincount(problem.receiver[model.open_links], weights=open_useful, minlength=problem.n_receivers)
    prices = np.where(problem.capacity > 2 * reach, 0.0, prices)
    return fractions, prices, int(model.problem.solver_stats.num_iters or 0)


def _inverse(budget: FloatArray) -> FloatArray:
    return np.divide(1.0, budget, out=np.ones_like(budget), where=budget > 0)
