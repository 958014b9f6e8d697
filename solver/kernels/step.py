"""One step from start to finish: presolve, interior point, clean-up, certificate, less sending."""

import numpy as np

from solver.arrays import ByteArray, FloatArray, IntArray
from solver.kernels.certificate import measure, paid
from solver.kernels.clock import is_over
from solver.kernels.compile import compiled
from solver.kernels.finish import finish, finish_clean
from solver.kernels.hasty import send_hastily
from solver.kernels.interior_point import iterate
from solver.kernels.layout import Answer, Effort, Reduced, Step
from solver.kernels.least_sending import send_less
from solver.kernels.objective import terms
from solver.kernels.prepare import prepare
from solver.kernels.starting_point import starting_point

__all__ = ["attempt_full", "solve_alone", "solve_step", "target_gap"]


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
def _take_better(step: Step, gap: float, mu: FloatArray, phi: FloatArray, R: FloatArray) -> float:
    """Replace an answer that was not iterated to its end by a hasty one, if that is better; returns its gap."""
    other_mu, other_phi, other_R = np.empty(mu.size), np.empty(phi.size), np.empty(R.size)
    other_gap = send_hastily(step, other_mu, other_phi, other_R)
    sampling, statistical = terms(step.data + R, step.D_hat, step.G, step.gamma)
    other_sampling, other_statistical = terms(step.data + other_R, step.D_hat, step.G, step.gamma)
    if other_sampling + other_statistical + paid(step, other_phi) >= sampling + statistical + paid(step, phi):
        return gap
    mu[:], phi[:], R[:] = other_mu, other_phi, other_R
    return other_gap


@compiled
def solve_step(
    step: Step,
    theta: FloatArray,
    ceiling: FloatArray,
    effort: Effort,
    answer: Answer,
) -> None:
    """Solve one step as far as the effort goes, measure the answer and write it."""
    phi, R, mu = answer.phi, answer.R, answer.mu
    mu[:] = 0.0
    found, reduced = prepare(step)
    n_links = reduced.u.size
    s = np.empty(n_links)
    iterations = 0
    in_time = True
    # With prices, a receiver may be better off with less than it could take.
    if n_links == 0 or (step.price.size == 0 and attempt_full(reduced, s)):
        gap = finish(step, found, reduced, s, mu, phi, R)
    elif is_over(effort):
        in_time = False
        gap = send_hastily(step, mu, phi, R)
    else:
        point = starting_point(step, reduced)
        target = target_gap(step, reduced, effort.tolerance)
        iterations, in_time = iterate(step, reduced, point, target, effort, s, mu)
        if in_time:
            gap = finish_clean(step, found, reduced, point, s, target, mu, phi, R)
        else:
            gap = finish(step, found, reduced, s, mu, phi, R)
            gap = _take_better(step, gap, mu, phi, R)
    # With prices, another way to the same data costs something else.
    if in_time and step.load.size > 0 and step.price.size == 0:
        send_less(step, R, phi)
    sampling, statistical, violation = measure(step, theta, ceiling, phi, R)
    figures = answer.figures
    figures[0] = iterations
    figures[1] = sampling
    figures[2] = statistical
    figures[3] = paid(step, phi)
    figures[4] = gap
    figures[5] = violation
    figures[6] = 1.0 if in_time else 0.0


@compiled
def solve_alone(
    offsets: IntArray,
    receiver: IntArray,
    a: FloatArray,
    psi: FloatArray,
    B: FloatArray,
    cap: FloatArray,
    data: FloatArray,
    D_hat: float,
    G: float,
    gamma: float,
    limit: FloatArray,
    price: FloatArray,
    load: FloatArray,
    theta: FloatArray,
    ceiling: FloatArray,
    tolerance: float,
    max_iterations: int,
    proof: float,
    deadline: float,
    cancel: ByteArray,
    phi: FloatArray,
    R: FloatArray,
    mu: FloatArray,
    figures: FloatArray,
) -> None:
    """`solve_step` for a caller in the interpreter: numba takes plain arguments in half the time of named tuples."""
    step = Step(offsets, receiver, a, psi, B, cap, data, D_hat, G, gamma, limit, price, load)
    effort = Effort(tolerance, max_iterations, proof, deadline, cancel)
    solve_step(step, theta, ceiling, effort, Answer(phi, R, mu, figures))
