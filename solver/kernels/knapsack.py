"""What a sender can earn at most in a step if its links have limits: a fractional knapsack with two rows.

    e = max Σ_l earned_l·y_l   subject to   Σ_l y_l ≤ 1,  Σ_l ψ_l·y_l ≤ B,  0 ≤ y_l ≤ limit_l

By duality e = min_{z ≥ 0} h(z) with h(z) = B·z + max { Σ_l (earned_l − ψ_l z)₊ y_l : Σ_l y_l ≤ 1, 0 ≤ y_l ≤ limit_l }.
Every z ≥ 0 bounds e from above, so rounding in the search for the best z does no harm.
"""

import numpy as np

from solver.arrays import FloatArray, IntArray
from solver.kernels.compile import compiled, inlined, lean

__all__ = ["all_earnings", "best_first", "limited_earnings"]

# h has at most as many kinks as pairs of links; fewer moves give a bound as well.
_MOVES = 60


@lean
def _response(
    first: int, last: int, earned: FloatArray, psi: FloatArray, B: float, limit: FloatArray, z: float, worth: FloatArray
) -> tuple[float, float]:
    """h(z) and its slope to the right, B − Σ ψ y: links are taken by what they are worth at z, the best first."""
    for l in range(first, last):
        worth[l] = earned[l] - psi[l] * z if limit[l] > 0.0 else 0.0
    value = B * z if z > 0.0 else 0.0
    slope = B
    share = 1.0
    while share > 0.0:
        best = -1
        for l in range(first, last):
            # Of links of the same worth the one with the smaller cost, whose worth falls more slowly.
            if worth[l] > 0.0 and (
                best < 0 or worth[l] > worth[best] or (worth[l] == worth[best] and psi[l] < psi[best])
            ):
                best = l
        if best < 0:
            break
        taken = min(share, limit[best])
        value += worth[best] * taken
        slope -= psi[best] * taken
        share -= taken
        worth[best] = 0.0
    return value, slope


@lean
def limited_earnings(
    first: int, last: int, earned: FloatArray, psi: FloatArray, B: float, limit: FloatArray, worth: FloatArray
) -> float:
    """Return e of the sender with the links first..last − 1; `worth` is scratch space as long as `earned`.

    h is convex and piecewise linear. Two tangents, one that falls and one that rises, meet at its minimum, or at a
    point where a tangent to h replaces one of the two.
    """
    left = 0.0
    low, falling = _response(first, last, earned, psi, B, limit, left, worth)
    if not falling < 0.0:
        return low
    right = 0.0
    for l in range(first, last):
        if earned[l] > 0.0 and psi[l] > 0.0:
            right = max(right, earned[l] / psi[l])
    high, rising = _response(first, last, earned, psi, B, limit, right, worth)
    best = min(low, high)
    for _ in range(_MOVES):
        if not rising > 0.0:
            break
        span = right - left
        z = left + (low - high + rising * span) / (rising - falling)
        if not (left < z < right):
            break
        value, slope = _response(first, last, earned, psi, B, limit, z, worth)
        best = min(best, value)
        if value <= low + falling * (z - left):
            break
        if slope < 0.0:
            left, low, falling = z, value, slope
        else:
            right, high, rising = z, value, slope
    return best


@inlined
def best_first(
    first: int,
    last: int,
    value: FloatArray,
    psi: FloatArray,
    B: float,
    limit: FloatArray,
    y: FloatArray,
    left: FloatArray,
) -> tuple[float, bool]:
    """Write what a sender would about send: the links that pay best for what is scarce come first.

    Returns what it earns, and whether that is certainly e. It is if only one row can bind: where all ψ ≤ B, Σ ψ y ≤
    B·Σ y, and where all ψ ≥ B, B·Σ y ≤ Σ ψ y. `left` is scratch space.
    """
    share = 1.0
    budget = B
    cheap = True
    dear = True
    for l in range(first, last):
        y[l] = 0.0
        left[l] = value[l] if limit[l] > 0.0 else 0.0
        if left[l] > 0.0:
            cheap = cheap and psi[l] <= B
            dear = dear and psi[l] >= B
            # What it pays for the scarcer of data and budget.
            if psi[l] > B:
                left[l] *= B / psi[l]
    earned = 0.0
    while share > 0.0:
        best = -1
        pay = 0.0
        for l in range(first, last):
            if left[l] > pay:
                best = l
                pay = left[l]
        if best < 0:
            break
        taken = min(share, limit[best])
        if psi[best] * taken > budget:
            taken = max(budget, 0.0) / psi[best]
        y[best] = taken
        earned += value[best] * taken
        share -= taken
        budget -= psi[best] * taken
        left[best] = 0.0
    return earned, cheap or dear


@compiled
def all_earnings(offsets: IntArray, earned: FloatArray, psi: FloatArray, B: FloatArray, limit: FloatArray) -> float:
    """Σ_k e_k over all senders."""
    worth = np.empty(earned.size)
    total = 0.0
    for k in range(B.size):
        total += limited_earnings(offsets[k], offsets[k + 1], earned, psi, B[k], limit, worth)
    return total
