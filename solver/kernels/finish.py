"""From a reduced iterate to fractions Φ with a proven gap."""

import math

import numpy as np

from solver.arrays import BoolArray, FloatArray, IntArray
from solver.kernels.certificate import lower_bound_gap
from solver.kernels.compile import compiled
from solver.kernels.copying import copy_into
from solver.kernels.interior_point import drop_nonbasic
from solver.kernels.layout import Point, Presolved, Reduced, Step
from solver.kernels.objective import gradient, terms
from solver.kernels.presolve import POOLED, SHARED
from solver.kernels.repair import shrink_to_fit, spent

__all__ = ["best_gap", "finish", "finish_clean"]

# How much clean-up may cost, relative to the objective: far below any tolerance asked for.
_CLEANUP_COST = 1e-11


@compiled
def _fractions(step: Step, found: Presolved, reduced: Reduced, s: FloatArray, phi: FloatArray) -> float:
    """Write Φ of the pooled links and of the shared ones that matter, and return the objective at s.

    A fraction that improves the objective by a negligible amount becomes an exact zero.
    """
    receiver, a, cap = step.receiver, step.a, step.cap
    links, u, free = found.links, reduced.u, found.free
    for l in range(a.size):
        phi[l] = 0.0
        if found.role[l] == POOLED:
            i = receiver[l]
            scale = 1.0 if free[i] <= cap[i] else cap[i] / free[i]
            phi[l] = found.most[l] / a[l] * scale
    x = reduced.base.copy()
    for m in range(links.size):
        x[receiver[links[m]]] += u[m] * s[m]
    g = np.empty(cap.size)
    gradient(x, step.D_hat, step.G, step.gamma, g)
    sampling, statistical = terms(x, step.D_hat, step.G, step.gamma)
    negligible = _CLEANUP_COST * (sampling + statistical) / max(links.size, 1)
    for m in range(links.size):
        l = links[m]
        if -g[receiver[l]] * u[m] * s[m] > negligible:
            phi[l] = u[m] * s[m] / a[l]
    return sampling + statistical


@compiled
def _use_rest(step: Step, role: IntArray, R: FloatArray, phi: FloatArray) -> None:
    """Raise Φ by what is left of the senders' shares and budgets and of the receivers' room: more data never hurts."""
    offsets, a, psi = step.offsets, step.a, step.psi
    left = step.cap - R
    for k in range(step.B.size):
        share, budget = spent(offsets[k], offsets[k + 1], phi, psi)
        share = 1.0 - share
        budget = step.B[k] - budget
        for l in range(offsets[k], offsets[k + 1]):
            # Only links that carry something already; the others would get small fractions again.
            if role[l] == SHARED and phi[l] > 0.0 and share > 0.0:
                i = step.receiver[l]
                more = min(share, left[i] / a[l])
                if step.limit.size > 0:
                    more = min(more, step.limit[l] - phi[l])
                if psi[l] > 0.0:
                    more = min(more, max(budget, 0.0) / psi[l])
                phi[l] += more
                share -= more
                budget -= psi[l] * more
                left[i] = max(left[i] - more * a[l], 0.0)


@compiled
def finish(
    step: Step, found: Presolved, reduced: Reduced, s: FloatArray, mu: FloatArray, phi: FloatArray, R: FloatArray
) -> float:
    """Turn the reduced iterate into fractions Φ and certify them; writes phi, R and mu.

    Returns how far the objective can lie above the optimum.
    """
    objective = _fractions(step, found, reduced, s, phi)
    # Rounding may have left the iterate a little outside the constraints.
    shrink_to_fit(step, phi, R)
    if step.price.size == 0:
        _use_rest(step, found.role, R, phi)
    R[:] = 0.0
    for l in range(phi.size):
        R[step.receiver[l]] += step.a[l] * phi[l]
    g = np.empty(R.size)
    gradient(step.data + R, step.D_hat, step.G, step.gamma, g)
    for i in range(R.size):
        # Where the room was cut down to what could arrive, the cap itself has no price.
        if not found.full[i] and reduced.room[i] < step.cap[i] - found.free[i]:
            mu[i] = 0.0
    return best_gap(step, found.full, phi, R, g, mu, 1e-10 * objective / R.size)


@compiled
def best_gap(
    step: Step, full: BoolArray, phi: FloatArray, R: FloatArray, g: FloatArray, mu: FloatArray, negligible: float
) -> float:
    """The smaller of the gaps that two choices of prices prove; writes the better prices to mu.

    One choice is mu itself, the other prices full receivers at −g_i: the iterations know their prices only to the
    tolerance. A receiver also counts as full if filling its room would gain a negligible amount.
    """
    full_price = np.empty(R.size)
    all_full = True
    none_differs = True
    for i in range(R.size):
        if full[i]:
            mu[i] = -g[i]
        room = step.cap[i] - R[i]
        is_full = room <= 1e-9 * step.cap[i] or -g[i] * room <= negligible
        full_price[i] = -g[i] if is_full else mu[i]
        all_full = all_full and is_full
        none_differs = none_differs and full_price[i] == mu[i]
    gap = math.inf
    if not all_full or step.price.size > 0:
        gap = lower_bound_gap(step, phi, R, g, mu)
    if not none_differs or all_full:
        other = lower_bound_gap(step, phi, R, g, full_price)
        if other < gap:
            gap = other
            copy_into(mu, full_price)
    return max(gap, 0.0)


@compiled
def finish_clean(
    step: Step,
    found: Presolved,
    reduced: Reduced,
    point: Point,
    s: FloatArray,
    target: float,
    mu: FloatArray,
    phi: FloatArray,
    R: FloatArray,
) -> float:
    """`finish` without the links that carry nothing at the optimum; with them if else the gap exceeds the target."""
    clean = s.copy()
    drop_nonbasic(reduced, point, clean)
    prices = mu.copy()
    gap = finish(step, found, reduced, clean, mu, phi, R)
    if gap > target:
        copy_into(mu, prices)
        gap = finish(step, found, reduced, s, mu, phi, R)
    return gap
