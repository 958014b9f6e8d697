"""Presolve for a whole horizon: which fractions are variables, and which rows can bind."""

from typing import NamedTuple

import numpy as np

from solver.arrays import BoolArray, FloatArray, IntArray
from solver.kernels.compile import compiled
from solver.kernels.joint import Joint

__all__ = ["Rows", "find_rows"]


class Rows(NamedTuple):
    """Which constraints of a whole horizon can bind.

    `most` is the largest share that a pair can send in a step on its own (0: its fraction is no variable). `kinds` says
    of a sender in a step whether it needs the row of its share and the row of its budget, d = ψ/B has the
    coefficients of the second. `theta` and `room` have the right sides of receiving and holding (0: the row cannot
    bind), `once` whether a pair could send more than everything, and `ends` the last step of each segment.
    """

    most: FloatArray
    kinds: BoolArray
    d: FloatArray
    theta: FloatArray
    room: FloatArray
    once: BoolArray
    ends: IntArray


@compiled
def _sender_rows(joint: Joint, most: FloatArray, kinds: BoolArray, d: FloatArray) -> None:
    """Write what each pair can send at once as far as its sender is concerned, and which rows the sender needs."""
    for t in range(joint.segment.size):
        g = joint.segment[t]
        a, psi = joint.a[g], joint.psi[g]
        for k in range(joint.B.shape[1]):
            B = joint.B[g, k]
            for l in range(joint.offsets[k], joint.offsets[k + 1]):
                d[g, l] = psi[l] / B if psi[l] > 0.0 and B > 0.0 else 0.0
                most[t, l] = 0.0
                if a[l] > 0.0 and joint.limit[l] > 0.0:
                    most[t, l] = 1.0 if psi[l] <= B else B / psi[l]
                if most[t, l] > 0.0:
                    kinds[0, t, k] |= psi[l] < B
                    kinds[1, t, k] |= psi[l] > B
            kinds[0, t, k] |= not kinds[1, t, k]


@compiled
def find_rows(joint: Joint) -> Rows:
    """Presolve: find the variables, and the rows that can bind."""
    (G, P), T, S = joint.a.shape, joint.segment.size, joint.theta.shape[1]
    most, d = np.empty((T, P)), np.zeros((G, P))
    kinds = np.zeros((2, T, joint.B.shape[1]), np.bool_)
    _sender_rows(joint, most, kinds, d)
    theta, room, once, ends = np.zeros((T, S)), np.zeros((G, S)), np.zeros(P, np.bool_), np.zeros(G, np.int64)
    for l in range(P):
        i = joint.receiver[l]
        for t in range(T):
            g = joint.segment[t]
            if joint.theta[g, i] <= 0.0 or joint.room[g, i] <= 0.0:
                most[t, l] = 0.0
        once[l] = most[:, l].sum() > joint.limit[l]
    total = np.zeros(S)
    arriving = np.empty(S)
    for t in range(T):
        g = joint.segment[t]
        ends[g] = t
        arriving[:] = 0.0
        for l in range(P):
            most[t, l] = min(most[t, l], joint.limit[l])
            arriving[joint.receiver[l]] += joint.a[g, l] * most[t, l]
        for i in range(S):
            if arriving[i] > joint.theta[g, i]:
                theta[t, i] = joint.theta[g, i]
                arriving[i] = theta[t, i]
            total[i] += arriving[i]
            room[g, i] = joint.room[g, i] if total[i] > joint.room[g, i] else 0.0
        for l in range(P):
            i = joint.receiver[l]
            if most[t, l] > 0.0:
                most[t, l] = min(most[t, l], min(joint.theta[g, i], joint.room[g, i]) / joint.a[g, l])
    # Only the last of equal ceilings can bind.
    for g in range(G - 1):
        for i in range(S):
            if joint.room[g, i] >= joint.room[g + 1, i]:
                room[g, i] = 0.0
    return Rows(most, kinds, d, theta, room, once, ends)
