"""What a step sends when there is no time to iterate: each sender's best links, sender after sender.

A sender fills its links in the order of what they gain for the part of its rows that they use. A link carries as much
as its limit, the rows and the receiver's room have left. With prices it carries nothing if the last datapoint would
cost more than it gains. So every move lowers the objective, and few links are used.
"""

import math

import numpy as np

from solver.arrays import FloatArray
from solver.kernels.compile import compiled, inlined
from solver.kernels.finish import best_gap
from solver.kernels.layout import Step
from solver.kernels.objective import gradient, terms

__all__ = ["send_hastily"]

# A sender uses at most so many links, so that this takes O(links).
_MOST_LINKS = 64


@inlined
def _gain(step: Step, x: float, total: float) -> float:
    """−∂f/∂R_i of a receiver that holds x, if all devices together hold `total`."""
    common = step.G * (step.D_hat / total) / total if step.D_hat > 0.0 else 0.0
    return float(common + 0.5 * step.gamma / step.cap.size / (x * math.sqrt(x)))


@inlined
def _most(step: Step, l: int, share: float, budget: float, room: float) -> float:
    """The largest Φ_l that all rows allow."""
    most = min(share, room / step.a[l])
    if step.limit.size > 0:
        most = min(most, step.limit[l])
    if step.psi[l] > 0.0:
        most = min(most, budget / step.psi[l])
    return float(most)


@compiled
def _fill(step: Step, phi: FloatArray, R: FloatArray) -> None:
    """Write Φ and R, sender after sender."""
    phi[:] = 0.0
    R[:] = 0.0
    value = np.empty(phi.size)
    total = step.D_hat + step.data.sum()
    for k in range(step.B.size):
        first, last = step.offsets[k], step.offsets[k + 1]
        if first == last:
            continue
        for l in range(first, last):
            i = step.receiver[l]
            gain = step.a[l] * _gain(step, step.data[i] + R[i], total) if R[i] < step.cap[i] else 0.0
            if step.price.size > 0:
                gain -= step.price[l]
            value[l] = gain * step.B[k] / step.psi[l] if step.psi[l] > step.B[k] else gain
        share, budget = 1.0, step.B[k]
        for _ in range(_MOST_LINKS):
            l = first + np.argmax(value[first:last])
            if share <= 0.0 or value[l] <= 0.0:
                break
            value[l] = 0.0
            i = step.receiver[l]
            fraction = _most(step, l, share, budget, step.cap[i] - R[i])
            more = fraction * step.a[l]
            at_last = step.a[l] * _gain(step, step.data[i] + R[i] + more, total + more)
            if fraction <= 0.0 or (step.price.size > 0 and at_last < step.price[l]):
                continue
            phi[l] = fraction
            share -= fraction
            budget = max(budget - step.psi[l] * fraction, 0.0)
            R[i] = min(R[i] + more, step.cap[i])
            total += more


@compiled
def send_hastily(step: Step, mu: FloatArray, phi: FloatArray, R: FloatArray) -> float:
    """Write Φ, R and the prices μ of a certificate; returns how far the objective can lie above the optimum."""
    _fill(step, phi, R)
    x = step.data + R
    g = np.empty(R.size)
    gradient(x, step.D_hat, step.G, step.gamma, g)
    sampling, statistical = terms(x, step.D_hat, step.G, step.gamma)
    mu[:] = 0.0
    return best_gap(step, np.zeros(R.size, np.bool_), phi, R, g, mu, 1e-10 * (sampling + statistical) / R.size)
