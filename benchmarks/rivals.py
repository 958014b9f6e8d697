"""The step problem as other solvers take it: Clarabel directly, and CVXPY with the problem built once.

Both get what the reference solver gets: closed links left out, data counted in the sampled devices' mean.
"""

from dataclasses import dataclass
from typing import Any

import clarabel
import cvxpy as cp
import numpy as np
from scipy import sparse

from solver.arrays import FloatArray, IntArray
from solver.step.problem import StepProblem

__all__ = ["ClarabelStep", "ReusedStep"]


def _open_links(problem: StepProblem) -> IntArray:
    payable = (problem.cost == 0) | (problem.budget[problem.sender] > 0)
    return np.flatnonzero(payable & (problem.useful > 0) & (problem.capacity[problem.receiver] > 0))


@dataclass(frozen=True, eq=False)
class ClarabelStep:
    """The step in Clarabel's own form, min qᵀx with s = b − Ax in cones, built before any clock runs.

    x = (Φ, t_0, t_1..t_S): t_0 ≥ D_N(0)/D_N as a second-order cone, t_i ≥ (D_i + R_i)^(−1/2) as power cones.
    """

    q: FloatArray
    A: sparse.csc_array
    b: FloatArray
    cones: list[Any]

    @classmethod
    def of(cls, problem: StepProblem) -> "ClarabelStep":
        """Write the step down."""
        unit = float(problem.data.mean())
        links = _open_links(problem)
        n, n_receivers, n_senders = links.size, problem.n_receivers, problem.n_senders
        columns = np.arange(n)
        receiver, sender = problem.receiver[links], problem.sender[links]
        useful = problem.useful[links] / unit
        received = sparse.csr_array((useful, (receiver, columns)), shape=(n_receivers, n))
        share = sparse.csr_array((np.ones(n), (sender, columns)), shape=(n_senders, n))
        scale = np.divide(1.0, problem.budget, out=np.ones(n_senders), where=problem.budget > 0)
        spend = sparse.csr_array((problem.cost[links] * scale[sender], (sender, columns)), shape=(n_senders, n))
        width = n + 1 + n_receivers
        rows = sparse.vstack([-sparse.eye_array(n), share, spend, received])
        linear = sparse.hstack([rows, sparse.csr_array((rows.shape[0], 1 + n_receivers))])
        limits = np.concatenate(
            [
                np.zeros(n),
                np.ones(n_senders),
                np.where(problem.budget > 0, 1.0, 0.0),
                problem.capacity / unit,
            ]
        )
        total = (problem.unsampled_data + problem.data.sum()) / unit
        # t_0 ≥ D_N(0)/D_N as ‖(2, t_0 − D_N/D_N(0))‖ ≤ t_0 + D_N/D_N(0): numbers around one.
        gains: FloatArray = np.asarray(received.sum(axis=0), dtype=np.float64).ravel() / total
        cone = sparse.lil_array((3, width))
        cone[0, :n], cone[0, n] = -gains, -1.0
        cone[2, :n], cone[2, n] = gains, -1.0
        rank = np.arange(n_receivers)
        powers = sparse.csr_array((-np.ones(n_receivers), (3 * rank, n + 1 + rank)), shape=(3 * n_receivers, width))
        shift = sparse.csr_array(
            (-useful, (3 * receiver + 1, columns)),
            shape=(3 * n_receivers, width),
        )
        held = np.zeros(3 * n_receivers)
        held[1::3] = problem.data / unit
        held[2::3] = 1.0
        cost = np.zeros(width)
        cost[n] = problem.gradient_norm * problem.unsampled_data / unit / total
        cost[n + 1 :] = problem.gradient_noise / np.sqrt(unit) / n_receivers
        cones = [clarabel.NonnegativeConeT(linear.shape[0]), clarabel.SecondOrderConeT(3)]
        cones += [clarabel.PowerConeT(2 / 3) for _ in range(n_receivers)]
        return cls(
            q=cost,
            A=sparse.csc_array(sparse.vstack([linear, cone.tocsr(), powers + shift])),
            b=np.concatenate([limits, [1.0, 2.0, -1.0], held]),
            cones=cones,
        )

    def solve(self) -> tuple[float, str]:
        """Solve with Clarabel's own defaults and return objective and status."""
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        quadratic = sparse.csc_matrix((self.q.size, self.q.size))
        solver = clarabel.DefaultSolver(quadratic, self.q, sparse.csc_matrix(self.A), self.b, self.cones, settings)
        answer = solver.solve()
        return float(answer.obj_val), str(answer.status)


class ReusedStep:
    """CVXPY with the problem built once and new numbers put into its parameters for each solve (DPP)."""

    def __init__(self, problem: StepProblem) -> None:
        self._links = _open_links(problem)
        n, n_receivers, n_senders = self._links.size, problem.n_receivers, problem.n_senders
        columns = np.arange(n)
        receiver, sender = problem.receiver[self._links], problem.sender[self._links]
        to_receiver = sparse.csr_array((np.ones(n), (receiver, columns)), shape=(n_receivers, n))
        of_sender = sparse.csr_array((np.ones(n), (sender, columns)), shape=(n_senders, n))
        scale = np.divide(1.0, problem.budget, out=np.ones(n_senders), where=problem.budget > 0)
        spend = sparse.csr_array((problem.cost[self._links] * scale[sender], (sender, columns)), shape=(n_senders, n))
        phi = cp.Variable(n, nonneg=True)
        # The terms as variables of their own: a parameter times an expression with parameters would not be DPP, and
        # CVXPY would build the problem anew at every solve.
        whole, roots = cp.Variable(), cp.Variable(n_receivers)
        self._useful = cp.Parameter(n, nonneg=True)
        self._capacity = cp.Parameter(n_receivers, nonneg=True)
        self._data = cp.Parameter(n_receivers, nonneg=True)
        self._unsampled = cp.Parameter(nonneg=True)
        self._sampling = cp.Parameter(nonneg=True)
        self._noise = cp.Parameter(nonneg=True)
        received = to_receiver @ cp.multiply(self._useful, phi)
        data = self._data + received
        objective = self._sampling * whole + self._noise * cp.sum(roots)
        constraints = [
            whole >= cp.inv_pos(self._unsampled + cp.sum(data)),
            roots >= cp.power(data, -0.5),
            received <= self._capacity,
            spend @ phi <= np.where(problem.budget > 0, 1.0, 0.0),
            of_sender @ phi <= 1,
        ]
        self._problem = cp.Problem(cp.Minimize(objective), constraints)
        if not self._problem.is_dcp(dpp=True):
            raise AssertionError("the reused problem must follow CVXPY's rules for parameters")

    def solve(self, problem: StepProblem) -> float:
        """Put the numbers in, solve with Clarabel and return the objective."""
        unit = float(problem.data.mean())
        self._useful.value = problem.useful[self._links] / unit
        self._capacity.value = problem.capacity / unit
        self._data.value = problem.data / unit
        self._unsampled.value = problem.unsampled_data / unit
        self._sampling.value = problem.gradient_norm * problem.unsampled_data / unit
        self._noise.value = problem.gradient_noise / np.sqrt(unit) / problem.n_receivers
        self._problem.solve(solver=cp.CLARABEL)
        return float(self._problem.value)
