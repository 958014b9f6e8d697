"""One step from start to finish (presolve, interior point, clean-up, certificate), and many steps in one call."""

import math

import numpy as np

from solver.arrays import FloatArray
from solver.kernels.certificate import measure
from solver.kernels.compile import compiled
from solver.kernels.finish import finish, finish_clean
from solver.kernels.interior_point import iterate
from solver.kernels.layout import Answers, Packed, Reduced, Step
from solver.kernels.objective import terms
from solver.kernels.prepare import prepare
from solver.kernels.starting_point import starting_point

__all__ = ["attempt_full", "solve_packed", "solve_step", "target_gap"]


@compiled
def attempt_full(reduced: Reduced, s: FloatArray) -> bool:
    """Try to fill every receiver, sender after sender; writes s and returns True if all are full.

    If R = cap can be reached, it is optimal, since the objective falls in every R_i. Where budgets are loose, no
    iteration is needed. Each sender shares out what it can give in proportion to the room that its receivers have left.
    """
    groups, receiver, room = reduced.groups, reduced.receiver, reduced.room
    u, c, d = reduced.u, reduced.c, reduced.d
    left = np.zeros(room.size)
    for l in range(u.size):
        left[receiver[l]] = room[receiver[l]]
    for t in range(groups.shape[0]):
        _, m, l0, n, _ = groups[t]
        for k in range(m):
            first = 0.0
            second = 0.0
            for j in range(n):
                l = l0 + j * m + k
                s[l] = min(left[receiver[l]] / u[l], 1.0)
                first += c[l] * s[l]
                second += d[l] * s[l]
            scale = 1.0 / max(first, second, 1.0)
            for j in range(n):
                l = l0 + j * m + k
                s[l] *= scale
                left[receiver[l]] = max(left[receiver[l]] - u[l] * s[l], 0.0)
    for i in range(room.size):
        if left[i] > 1e-13 * room[i]:
            return False
    return True


@compiled
def target_gap(step: Step, reduced: Reduced, tolerance: float) -> float:
    """An absolute gap that is at most `tolerance` times the optimum: f is smallest when everything arrives."""
    most = np.zeros(step.cap.size)
    for l in range(reduced.u.size):
        most[reduced.receiver[l]] += reduced.u[l]
    sampling, statistical = terms(reduced.base + np.minimum(most, reduced.room), step.D_hat, step.G, step.gamma)
    return tolerance * (sampling + statistical)


@compiled
def solve_step(
    step: Step,
    theta: FloatArray,
    ceiling: FloatArray,
    tolerance: float,
    max_iterations: int,
    phi: FloatArray,
    R: FloatArray,
    mu: FloatArray,
) -> tuple[int, float, float, float, float]:
    """Solve one step to a relative gap of `tolerance` and measure the answer; writes phi, R and mu.

    Returns (iterations, a, b, gap, violation).
    """
    mu[:] = 0.0
    found, reduced = prepare(step)
    n_links = reduced.u.size
    s = np.empty(n_links)
    iterations = 0
    if n_links == 0 or attempt_full(reduced, s):
        gap = finish(step, found, reduced, s, mu, phi, R)
    else:
        point = starting_point(step, reduced)
        target = target_gap(step, reduced, tolerance)
        iterations, _ = iterate(step, reduced, point, target, max_iterations, np.array([math.inf, 0.0]), s, mu)
        gap = finish_clean(step, found, reduced, point, s, target, mu, phi, R)
    sampling, statistical, violation = measure(step, theta, ceiling, phi, R)
    return iterations, sampling, statistical, gap, violation


@compiled
def solve_packed(packed: Packed, tolerance: float, max_iterations: int, answers: Answers) -> None:
    """Solve many steps laid end to end; writes the answers."""
    columns, theta, ceiling = packed.columns, packed.theta, packed.ceiling
    for j in range(packed.G.size):
        k0, k1 = packed.senders[j], packed.senders[j + 1]
        l0, l1 = packed.links[j], packed.links[j + 1]
        i0, i1 = packed.receivers[j], packed.receivers[j + 1]
        step = Step(
            columns.offsets[k0 + j : k1 + j + 1],
            columns.receiver[l0:l1],
            columns.a[l0:l1],
            columns.psi[l0:l1],
            columns.B[k0:k1],
            columns.cap[i0:i1],
            columns.data[i0:i1],
            packed.D_hat[j],
            packed.G[j],
            packed.gamma[j],
        )
        phi, R, mu = answers.phi[l0:l1], answers.R[i0:i1], answers.mu[i0:i1]
        figures = solve_step(step, theta[i0:i1], ceiling[i0:i1], tolerance, max_iterations, phi, R, mu)
        answers.figures[j, 0] = figures[0]
        answers.figures[j, 1] = figures[1]
        answers.figures[j, 2] = figures[2]
        answers.figures[j, 3] = figures[3]
        answers.figures[j, 4] = figures[4]
