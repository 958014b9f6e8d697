"""A lower bound on the step optimum from receiver prices alone, in O(links).

f is convex, so for every feasible R: f(R) ≥ f(R̂) + gᵀ(R − R̂) with g = ∇f(R̂). Minimising the right side
over the constraints is a linear program, and any dual-feasible point of it bounds it from below. Given prices
μ ≥ 0 of the receivers' caps, a datapoint arriving at i is still worth v_i = (−g_i − μ_i)₊, and the rest
separates by sender: sender k with data share 1 and budget B_k can earn at most

    e_k = min_{z2 ≥ 0}  B_k z2 + max_l (v_l a_l − ψ_l z2)₊ .

Then f(R̂) − gᵀR̂ − μᵀcap − Σ_k e_k is a lower bound for every choice of μ ≥ 0.

If links have prices, the objective has Σ_l price_l Φ_l too, and link l is worth v_l a_l − price_l. If they have limits,
e_k is smaller (`solver.kernels.knapsack`).
"""

import math

import numpy as np

from solver.arrays import FloatArray
from solver.kernels.compile import compiled, inlined, lean
from solver.kernels.knapsack import all_earnings
from solver.kernels.layout import Step
from solver.kernels.objective import gradient, terms

__all__ = ["certify", "lower_bound_gap", "measure", "paid", "sender_earnings"]


@inlined
def sender_earnings(first: int, last: int, value: FloatArray, psi: FloatArray, B: float) -> float:
    """Minimise B·z + max_l (value_l − ψ_l z)₊ over z ≥ 0, exactly.

    The maximum is an upper envelope of lines. We follow it from z = 0 while it falls faster than B·z rises. Each move
    goes to a line with a smaller ψ, so there are at most n_k moves of n_k comparisons.
    """
    best = 0.0
    slope = 0.0
    for l in range(first, last):
        if value[l] > best or (value[l] == best and psi[l] < slope and best > 0.0):
            best = value[l]
            slope = psi[l]
    z = 0.0
    while best > 0.0 and slope > B:
        # Where does the current line meet the next flatter one, or zero?
        z_next = z + best / slope
        next_best = 0.0
        next_slope = 0.0
        for l in range(first, last):
            if psi[l] < slope:
                here = value[l] - psi[l] * z
                meet = z + (best - here) / (slope - psi[l])
                if meet < z_next or (meet == z_next and psi[l] < next_slope):
                    z_next = meet
                    next_best = value[l] - psi[l] * z_next
                    next_slope = psi[l]
        z = z_next
        best = next_best
        slope = next_slope
    # B may be huge where budgets hardly matter: then z = 0.
    return max(best, 0.0) + (B * z if z > 0.0 else 0.0)


@compiled
def lower_bound_gap(step: Step, phi: FloatArray, R: FloatArray, g: FloatArray, mu: FloatArray) -> float:
    """How far the objective can lie above the optimum: gᵀR̂ + priceᵀΦ̂ + μᵀcap + Σ_k e_k.

    It is never negative for a feasible Φ̂.
    """
    cap = step.cap
    v = np.empty(cap.size)
    gap = 0.0
    for i in range(cap.size):
        # A price above −g_i does not lower v_i any more and costs μ_i·cap_i, so it is never better.
        price = min(max(mu[i], 0.0), -g[i])
        v[i] = -g[i] - price
        gap += g[i] * R[i] + price * cap[i]
    value = np.empty(step.a.size)
    for l in range(value.size):
        value[l] = v[step.receiver[l]] * step.a[l]
    if step.price.size > 0:
        gap += paid(step, phi)
        value -= step.price
    if step.limit.size > 0:
        return gap + all_earnings(step.offsets, value, step.psi, step.B, step.limit)
    for k in range(step.B.size):
        gap += sender_earnings(step.offsets[k], step.offsets[k + 1], value, step.psi, step.B[k])
    return gap


@lean
def paid(step: Step, phi: FloatArray) -> float:
    """The prices of all links together; 0 if they have none."""
    total = 0.0
    for l in range(step.price.size):
        total += step.price[l] * phi[l]
    return total


@compiled
def measure(
    step: Step, theta: FloatArray, ceiling: FloatArray, phi: FloatArray, R: FloatArray
) -> tuple[float, float, float]:
    """Recompute R, the objective's terms (a) and (b) and the worst violation from the step's own constraints.

    The violation is the worst relative breach of eqs. (9)–(12) and (17). Each is measured against its own right-hand
    side; where that is zero, against the largest cost (budgets) or the data held (receive capacity). That of a limit is
    a share of the sender's data.
    """
    B, data = step.B, step.data
    worst = 0.0
    R[:] = 0.0
    for k in range(B.size):
        share = 0.0
        spent = 0.0
        dearest = 0.0
        for l in range(step.offsets[k], step.offsets[k + 1]):
            worst = max(worst, -phi[l])
            if step.limit.size > 0:
                worst = max(worst, phi[l] - step.limit[l])
            share += phi[l]
            spent += step.psi[l] * phi[l]
            dearest = max(dearest, step.psi[l])
            R[step.receiver[l]] += step.a[l] * phi[l]
        worst = max(worst, share - 1.0)
        if spent > B[k]:
            worst = max(worst, (spent - B[k]) / (B[k] if B[k] > 0.0 else dearest))
        if math.isnan(share) or math.isnan(spent):
            worst = math.inf
    x = np.empty(data.size)
    for i in range(data.size):
        x[i] = data[i] + R[i]
        if R[i] > theta[i]:
            worst = max(worst, (R[i] - theta[i]) / (theta[i] if theta[i] > 0.0 else data[i]))
        if x[i] > ceiling[i]:
            worst = max(worst, (x[i] - ceiling[i]) / max(ceiling[i], data[i]))
    sampling, statistical = terms(x, step.D_hat, step.G, step.gamma)
    return sampling, statistical, worst


@compiled
def certify(
    step: Step, theta: FloatArray, ceiling: FloatArray, phi: FloatArray, mu: FloatArray, R: FloatArray
) -> tuple[float, float, float, float]:
    """Certify fractions phi with prices mu: returns (a, b, gap, violation) and writes R."""
    sampling, statistical, worst = measure(step, theta, ceiling, phi, R)
    g = np.empty(R.size)
    gradient(step.data + R, step.D_hat, step.G, step.gamma, g)
    gap = lower_bound_gap(step, phi, R, g, mu)
    # An answer that breaks a constraint, or a gap that is not a number, proves nothing: then the gap is infinite.
    return sampling, statistical, max(gap, 0.0) if gap < math.inf and worst <= 1e-8 else math.inf, worst
