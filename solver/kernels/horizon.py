"""Whole horizons in one call, step after step (Sec. III-C); the interpreter's lock is free meanwhile."""

import math

from solver.arrays import IntArray
from solver.kernels.clock import now
from solver.kernels.compile import compiled, lean
from solver.kernels.layout import Answer, Course, Effort, Moving, Packed, Step
from solver.kernels.step import solve_step

__all__ = ["carry", "set_out", "solve_packed"]

# As `solver.step.solution.FEASIBILITY`.
_FEASIBILITY = 1e-8
# A step without iterations takes about so many seconds a link.
_HASTY_SECONDS = 2e-7


@lean
def set_out(packed: Packed, moving: Moving, j: int) -> None:
    """Write the columns of horizon j's next step: a, cap = min(θ, ceiling − D), and the prices if there are any."""
    for i in range(packed.receivers[j], packed.receivers[j + 1]):
        # Rounding in D_i + R_i may exceed the ceiling by the last digit.
        moving.highest[i] = max(packed.ceiling[i], moving.data[i])
        moving.cap[i] = max(min(packed.theta[i], moving.highest[i] - moving.data[i]), 0.0)
    for l in range(packed.links[j], packed.links[j + 1]):
        moving.a[l] = packed.fresh[l] if packed.once else packed.fresh[l] * moving.unsent[l]
        if packed.sending.size > 0:
            i = packed.receivers[j] + packed.columns.receiver[l]
            moving.price[l] = packed.sending[l] + packed.holding[i] * moving.a[l]


@lean
def carry(packed: Packed, moving: Moving, course: Course, t: int, j: int) -> None:
    """Move horizon j past step t: D_i += R_i, eq. (6), and the share not sent yet falls.

    If senders redraw, eq. (8) multiplies it by 1 − Φ. If they send once, it falls by Φ.
    """
    phi, R = course.steps.phi[t], course.steps.R[t]
    for i in range(packed.receivers[j], packed.receivers[j + 1]):
        moving.data[i] += R[i]
        course.held[t, i] = moving.data[i]
    for l in range(packed.links[j], packed.links[j + 1]):
        course.useful[t, l] = phi[l] * moving.a[l]
        left = moving.unsent[l] - phi[l] if packed.once else moving.unsent[l] * (1.0 - phi[l])
        moving.unsent[l] = max(left, 0.0)


@compiled
def _step(packed: Packed, t: int, j: int) -> Step:
    """Step t of horizon j."""
    columns = packed.columns
    k0, k1 = packed.senders[j], packed.senders[j + 1]
    l0, l1 = packed.links[j], packed.links[j + 1]
    i0, i1 = packed.receivers[j], packed.receivers[j + 1]
    return Step(
        columns.offsets[k0 + j : k1 + j + 1],
        columns.receiver[l0:l1],
        columns.a[l0:l1],
        columns.psi[l0:l1],
        columns.B[k0:k1],
        columns.cap[i0:i1],
        columns.data[i0:i1],
        packed.D_hat[j],
        packed.G[t, j],
        packed.gamma[j],
        # Without limits, prices or loads the column is empty, and so is every part of it.
        columns.limit[l0:l1],
        columns.price[l0:l1],
        columns.load[l0:l1],
    )


@compiled
def _answer(packed: Packed, course: Course, t: int, j: int) -> Answer:
    """The part of the course where the answer to step t of horizon j goes."""
    steps = course.steps
    l0, l1 = packed.links[j], packed.links[j + 1]
    i0, i1 = packed.receivers[j], packed.receivers[j + 1]
    return Answer(steps.phi[t][l0:l1], steps.R[t][i0:i1], steps.mu[t][i0:i1], steps.figures[t][j])


@compiled
def _until(packed: Packed, effort: Effort, t: int, j: int) -> Effort:
    """The effort for step t of horizon j: the steps after it take time too, even without an iteration."""
    if effort.deadline == math.inf:
        return effort
    n_links = packed.links[j + 1] - packed.links[j]
    later = (packed.G.shape[0] - t - 1) * n_links * _HASTY_SECONDS
    left = max(effort.deadline - now(), 0.0)
    deadline = effort.deadline - min(later, 0.5 * left)
    return Effort(effort.tolerance, effort.max_iterations, effort.proof, deadline, effort.cancel)


@compiled
def solve_packed(packed: Packed, moving: Moving, effort: Effort, course: Course, done: IntArray) -> None:
    """Solve horizon j from step done[j] on, for all j; writes the course, and moves `moving` and `done` on.

    A horizon stops at a step without a proof, before that step is carried out. Cancelled work stops at once.
    """
    for j in range(done.size):
        i0, i1 = packed.receivers[j], packed.receivers[j + 1]
        for t in range(done[j], packed.G.shape[0]):
            set_out(packed, moving, j)
            answer = _answer(packed, course, t, j)
            until = _until(packed, effort, t, j)
            solve_step(_step(packed, t, j), packed.theta[i0:i1], packed.highest[i0:i1], until, answer)
            if effort.cancel[0] != 0:
                return
            figures = answer.figures
            objective = figures[1] + figures[2] + figures[3]
            proven = figures[4] <= effort.proof * objective and figures[5] <= _FEASIBILITY
            if effort.proof < math.inf and not proven:
                break
            carry(packed, moving, course, t, j)
            done[j] = t + 1
