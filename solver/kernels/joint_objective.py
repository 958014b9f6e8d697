"""The objective of a whole horizon and its derivatives, from what arrives at each step."""

import numpy as np

from solver.arrays import FloatArray
from solver.kernels.compile import compiled
from solver.kernels.joint import Joint
from solver.kernels.objective import curvature, gradient, terms

__all__ = ["differentiate", "follow_gradient"]


@compiled
def differentiate(
    joint: Joint,
    data: FloatArray,
    R: FloatArray,
    D_hat: float,
    G: FloatArray,
    gamma: float,
    V: FloatArray,
    curve: FloatArray,
    rank_one: FloatArray,
) -> float:
    """Return Σ_t f_t without the price of sending; writes V_i(t) = −Σ_{s≥t} ∂f_s/∂q_i and the Hessian of each step.

    The Hessian of step t in the data held is diag(curve[t]) + rank_one[t]·11ᵀ.
    """
    T, S = R.shape
    held = data.copy()
    total = 0.0
    for t in range(T):
        held += R[t]
        sampling, statistical = terms(held, D_hat, G[t], gamma)
        total += sampling + statistical
        gradient(held, D_hat, G[t], gamma, V[t])
        rank_one[t] = curvature(held, D_hat, G[t], gamma, curve[t])
        for i in range(S):
            total += joint.hold[joint.segment[t], i] * held[i]
            V[t, i] += joint.hold[joint.segment[t], i]
    for t in range(T - 1, -1, -1):
        for i in range(S):
            V[t, i] = -V[t, i] + (V[t + 1, i] if t + 1 < T else 0.0)
    return total


@compiled
def follow_gradient(
    data: FloatArray,
    R: FloatArray,
    dR: FloatArray,
    V: FloatArray,
    curve: FloatArray,
    rank_one: FloatArray,
    primal: float,
    dual: float,
) -> tuple[float, float]:
    """Shorten a step where the gradient will not follow its linear model, as in `solver.kernels.interior_point`."""
    T, S = R.shape
    bend = 0.0
    held = data.copy()
    change = np.zeros(S)
    for t in range(T):
        total = 0.0
        for i in range(S):
            held[i] += R[t, i]
            change[i] += dR[t, i]
            total += change[i]
        for i in range(S):
            if change[i] < 0.0:
                primal = min(primal, 0.7 * held[i] / -change[i])
            slope = V[t, i] - (V[t + 1, i] if t + 1 < T else 0.0)
            if slope != 0.0:
                bend = max(bend, abs(curve[t, i] * change[i] + rank_one[t] * total) / abs(slope))
    if bend * max(primal, dual) > 0.1:
        primal = min(primal, dual)
        dual = primal
    return primal, dual
