"""The end of planning a whole horizon: from the best iterate to a certified plan."""

import math
from typing import NamedTuple

import numpy as np

from solver.arrays import FloatArray
from solver.kernels.compile import compiled
from solver.kernels.copying import copy_into
from solver.kernels.joint import Joint
from solver.kernels.joint_interior_point import certified_gap, paid
from solver.kernels.joint_objective import differentiate
from solver.kernels.joint_point import Iterate, arrivals, as_iterate
from solver.kernels.joint_rows import Rows
from solver.kernels.price_search import net_worths

__all__ = ["JointAnswer", "finish_jointly"]


class JointAnswer(NamedTuple):
    """Fractions of each step and pair, what arrives, and the receivers' prices.

    `figures` are (iterations, the objective of all steps, gap, violation, whether it was in time).
    """

    y: FloatArray
    R: FloatArray
    mu: FloatArray
    figures: FloatArray


@compiled
def finish_jointly(
    joint: Joint,
    rows: Rows,
    data: FloatArray,
    D_hat: float,
    G: FloatArray,
    gamma: float,
    tolerance: float,
    x: FloatArray,
    z: FloatArray,
    answer: JointAnswer,
) -> None:
    """From the best iterate of `iterate_jointly` to a certified plan; writes the answer but for what it iterated."""
    point, prices = as_iterate(x, rows), as_iterate(z, rows)
    shape = answer.R.shape
    V, curve, rank_one = np.empty(shape), np.empty(shape), np.empty(shape[0])
    # Small fractions that are zero at the optimum are dropped, unless that costs too much.
    gap = math.inf
    objective = 0.0
    for attempt in range(3):
        enough = max(tolerance * objective, 2.0 * gap)
        copy_into(answer.y.ravel(), point.s.ravel())
        if attempt == 1:
            _drop_nonbasic(joint, rows, point, prices, answer.y)
        _shrink_to_fit(joint, answer.y, answer.R)
        objective = differentiate(joint, data, answer.R, D_hat, G, gamma, V, curve, rank_one) + paid(joint, answer.y)
        gap = max(certified_gap(joint, V, answer.y, answer.R, prices), 0.0)
        if attempt == 1 and gap <= enough:
            break
    net_worths(joint, V, prices.q.copy().ravel(), prices.h.copy().ravel(), answer.mu)
    for t in range(shape[0]):
        for i in range(shape[1]):
            answer.mu[t, i] = max(V[t, i] - answer.mu[t, i], 0.0)
    answer.figures[1] = objective
    answer.figures[2] = gap
    answer.figures[3] = _violation(joint, answer.y, answer.R)


@compiled
def _drop_nonbasic(joint: Joint, rows: Rows, point: Iterate, prices: Iterate, y: FloatArray) -> None:
    """Set small fractions to zero whose multipliers say that they are zero at the optimum."""
    for t in range(y.shape[0]):
        d = rows.d[joint.segment[t]]
        for k in range(rows.kinds.shape[2]):
            for l in range(joint.offsets[k], joint.offsets[k + 1]):
                if rows.most[t, l] > 0.0:
                    charge = prices.w[0, t, k] + d[l] * prices.w[1, t, k] + prices.p[l]
                    share = point.s[t, l] / rows.most[t, l]
                    if share < 1e-3 and prices.s[t, l] > share * charge:
                        y[t, l] = 0.0


@compiled
def _shrink_to_fit(joint: Joint, y: FloatArray, R: FloatArray) -> None:
    """Scale fractions down until all constraints hold: by sender, by pair, then by receiver; writes R."""
    T, S = R.shape
    for t in range(T):
        g = joint.segment[t]
        for k in range(joint.B.shape[1]):
            share = 0.0
            spent = 0.0
            for l in range(joint.offsets[k], joint.offsets[k + 1]):
                y[t, l] = max(y[t, l], 0.0)
                share += y[t, l]
                spent += joint.psi[g, l] * y[t, l]
            scale = 1.0 / max(share, 1.0)
            if spent * scale > joint.B[g, k]:
                scale = joint.B[g, k] / spent
            for l in range(joint.offsets[k], joint.offsets[k + 1]):
                y[t, l] *= scale
    for l in range(y.shape[1]):
        total = y[:, l].sum()
        if total > joint.limit[l]:
            for t in range(T):
                y[t, l] *= joint.limit[l] / total
    arrivals(joint, y, R)
    scale_of = np.ones((T, S))
    for i in range(S):
        total = 0.0
        held = 1.0
        for t in range(T):
            g = joint.segment[t]
            if R[t, i] > joint.theta[g, i]:
                scale_of[t, i] = joint.theta[g, i] / R[t, i]
            total += R[t, i] * scale_of[t, i]
            if total > joint.room[g, i]:
                held = min(held, joint.room[g, i] / total)
        for t in range(T):
            scale_of[t, i] *= held
    for t in range(T):
        for l in range(y.shape[1]):
            y[t, l] *= scale_of[t, joint.receiver[l]]
    arrivals(joint, y, R)


@compiled
def _violation(joint: Joint, y: FloatArray, R: FloatArray) -> float:
    """The worst breach of a constraint, relative to its right side (or to the largest cost, where that is zero)."""
    worst = 0.0
    for t in range(R.shape[0]):
        g = joint.segment[t]
        for k in range(joint.B.shape[1]):
            share = 0.0
            spent = 0.0
            dearest = 0.0
            for l in range(joint.offsets[k], joint.offsets[k + 1]):
                worst = max(worst, -y[t, l])
                share += y[t, l]
                spent += joint.psi[g, l] * y[t, l]
                dearest = max(dearest, joint.psi[g, l])
            worst = max(worst, share - 1.0)
            if spent > joint.B[g, k]:
                worst = max(worst, (spent - joint.B[g, k]) / (joint.B[g, k] if joint.B[g, k] > 0.0 else dearest))
    for l in range(y.shape[1]):
        worst = max(worst, y[:, l].sum() - joint.limit[l])
    for i in range(R.shape[1]):
        total = 0.0
        for t in range(R.shape[0]):
            g = joint.segment[t]
            total += R[t, i]
            worst = max(worst, _excess(R[t, i], joint.theta[g, i]), _excess(total, joint.room[g, i]))
    return worst


@compiled
def _excess(value: float, limit: float) -> float:
    """How far a value exceeds its limit, relative to it; absolute where it is below one datapoint."""
    return (value - limit) / max(limit, 1.0) if value > limit else 0.0
