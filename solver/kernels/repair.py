"""Fractions that keep the constraints: scaled down, or handed out link by link."""

import numpy as np

from solver.arrays import FloatArray, IntArray
from solver.kernels.compile import compiled, inlined, lean
from solver.kernels.layout import Step

__all__ = ["hand_out", "shrink_to_fit", "spent"]


@inlined
def spent(first: int, last: int, phi: FloatArray, psi: FloatArray) -> tuple[float, float]:
    """What a sender uses: Σ Φ and Σ ψΦ over its links."""
    share = 0.0
    budget = 0.0
    for l in range(first, last):
        share += phi[l]
        budget += psi[l] * phi[l]
    return share, budget


@lean
def shrink_to_fit(step: Step, phi: FloatArray, R: FloatArray) -> None:
    """Scale fractions down, sender by sender and then receiver by receiver, until all constraints hold.

    Scaling receivers down cannot break a sender's constraint again. Writes phi and R.
    """
    offsets, receiver, cap = step.offsets, step.receiver, step.cap
    R[:] = 0.0
    for k in range(step.B.size):
        for l in range(offsets[k], offsets[k + 1]):
            phi[l] = max(phi[l], 0.0)
            if step.limit.size > 0:
                phi[l] = min(phi[l], step.limit[l])
        share, budget = spent(offsets[k], offsets[k + 1], phi, step.psi)
        scale = 1.0 / share if share > 1.0 else 1.0
        if budget * scale > step.B[k]:
            scale = step.B[k] / budget
        for l in range(offsets[k], offsets[k + 1]):
            phi[l] *= scale
            R[receiver[l]] += step.a[l] * phi[l]
    for l in range(phi.size):
        i = receiver[l]
        if R[i] > cap[i]:
            phi[l] *= cap[i] / R[i]
    for i in range(cap.size):
        R[i] = min(R[i], cap[i])


@compiled
def hand_out(step: Step, sender: IntArray, order: IntArray, limit: FloatArray, phi: FloatArray) -> None:
    """Give each link in `order` all that its limit, its sender and its receiver have left; writes phi."""
    share = np.ones(step.B.size)
    budget = step.B.copy()
    room = step.cap.copy()
    phi[:] = 0.0
    for l in order:
        k = sender[l]
        i = step.receiver[l]
        a, psi = step.a[l], step.psi[l]
        if a > 0.0:
            fraction = min(share[k], limit[l], room[i] / a)
            if psi > 0.0:
                fraction = min(fraction, budget[k] / psi)
            phi[l] = fraction
            share[k] = max(share[k] - fraction, 0.0)
            budget[k] = max(budget[k] - psi * fraction, 0.0)
            room[i] = max(room[i] - a * fraction, 0.0)
