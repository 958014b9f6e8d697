"""A primal–dual interior-point method for a whole horizon as one problem.

It is Mehrotra's predictor–corrector (SIAM J. Optim. 2(4), 1992), as in `solver.kernels.interior_point`, on the
fractions of all steps. `solver.whole.horizon_bound` states the problem and `joint_newton` derives a step. Steps are
relative: for a pair x·z of a number and its multiplier, ρ = dx/x, and `own` is the product aimed at over the present
one, so that dz/z = own − 1 − ρ. Fractions stay feasible except for rounding, so the best ones can be used whenever
the loop ends. The gap of an iterate is that of `price_search`, with the iterate's own prices.
"""

import math

import numpy as np

from solver.arrays import FloatArray
from solver.kernels.clock import is_over
from solver.kernels.compile import compiled
from solver.kernels.copying import copy_into
from solver.kernels.joint import Joint
from solver.kernels.joint_newton import Factors, direction, factorise, new_factors
from solver.kernels.joint_objective import differentiate, follow_gradient
from solver.kernels.joint_point import (
    Iterate,
    arrivals,
    as_iterate,
    changes,
    first_prices,
    right_side,
    slacks,
    start_inside,
)
from solver.kernels.joint_rows import Rows
from solver.kernels.layout import Effort
from solver.kernels.price_search import Prices, bound_at, new_response

__all__ = ["certified_gap", "iterate_jointly", "paid"]

# A step goes this share of the way to the boundary at the most.
_BACK_OFF = 0.995
_MAX_STALLED = 5
# Slacks above this share of what they were are recomputed from the fractions; smaller ones follow their own steps.
_WIDE = 1e-6


@compiled
def paid(joint: Joint, y: FloatArray) -> float:
    """The price of sending in all steps."""
    total = 0.0
    for t in range(y.shape[0]):
        price = joint.price[joint.segment[t]]
        for l in range(y.shape[1]):
            total += price[l] * y[t, l]
    return total


@compiled
def certified_gap(joint: Joint, V: FloatArray, y: FloatArray, R: FloatArray, prices: Iterate) -> float:
    """How far the objective at y can lie above the optimum, by these prices."""
    mu, nu = prices.q.copy(), prices.h.copy()
    for t in range(V.shape[0]):
        g = joint.segment[t]
        for i in range(V.shape[1]):
            # No room has any price, at no cost.
            if joint.theta[g, i] <= 0.0:
                mu[t, i] = max(V[t, i], 0.0)
            if joint.room[g, i] <= 0.0:
                nu[g, i] = np.abs(V[:, i]).max()
    earned = -paid(joint, y)
    worth = V.copy()
    for t in range(V.shape[0]):
        for i in range(V.shape[1]):
            earned += V[t, i] * R[t, i]
            # Where data costs more than it is worth, none is sent.
            worth[t, i] = max(V[t, i], 0.0)
    return bound_at(joint, worth, Prices(mu.ravel(), nu.ravel(), prices.p.copy()), new_response(joint)) - earned


@compiled
def _lengths(rho: FloatArray, own: FloatArray, z: FloatArray) -> tuple[float, float]:
    """How far the primal and the dual iterate may move and stay strictly inside."""
    primal = 1e-300
    dual = 1e-300
    for j in range(rho.size):
        primal = max(primal, -rho[j])
        if z[j] > 0.0:
            dual = max(dual, 1.0 + rho[j] - own[j])
    return min(1.0, _BACK_OFF / primal), min(1.0, _BACK_OFF / dual)


@compiled
def _aim(x: Iterate, z: Iterate, rho: Iterate, own: Iterate, n_pairs: int, least: float) -> None:
    """Write Mehrotra's products: the mean times (predicted mean/mean)³, less the predictor's second-order products."""
    primal, dual = _lengths(rho.flat, own.flat, z.flat)
    mean = 0.0
    predicted = 0.0
    for j in range(x.flat.size):
        product = x.flat[j] * z.flat[j]
        mean += product
        predicted += product * (1.0 + primal * rho.flat[j]) * (1.0 - dual * (1.0 + rho.flat[j]))
    target = max(mean / n_pairs * (predicted / mean) ** 3, least)
    for j in range(x.flat.size):
        product = x.flat[j] * z.flat[j]
        own.flat[j] = target / product + rho.flat[j] * (1.0 + rho.flat[j]) if product > 0.0 else 0.0


@compiled
def _newton(
    joint: Joint,
    rows: Rows,
    f: Factors,
    V: FloatArray,
    x: Iterate,
    z: Iterate,
    own: Iterate,
    rho: Iterate,
    dR: FloatArray,
) -> None:
    """Write the relative step towards the products `own`, and how it changes what arrives."""
    r, dy = np.empty(rows.most.shape), np.empty(rows.most.shape)
    right_side(joint, rows, V, z, own, r)
    direction(joint, rows, f, r, dy)
    changes(joint, rows, dy, x, rho, dR)


@compiled
def _move(
    joint: Joint,
    rows: Rows,
    x: Iterate,
    z: Iterate,
    rho: Iterate,
    own: Iterate,
    lengths: tuple[float, float],
    R: FloatArray,
) -> None:
    """Take a step of these lengths, and recompute what arrives and the slacks that are wide enough for it."""
    for j in range(x.flat.size):
        x.flat[j] *= 1.0 + lengths[0] * rho.flat[j]
        z.flat[j] *= 1.0 + lengths[1] * (own.flat[j] - 1.0 - rho.flat[j])
    arrivals(joint, x.s, R)
    # `rho` is not needed any more.
    slacks(joint, rows, x.s, R, rho)
    for j in range(x.s.size, x.flat.size):
        if rho.flat[j] > max(_WIDE * x.flat[j], 1e-9):
            x.flat[j] = rho.flat[j]


@compiled
def iterate_jointly(
    joint: Joint,
    rows: Rows,
    data: FloatArray,
    D_hat: float,
    G: FloatArray,
    gamma: float,
    effort: Effort,
    best_x: FloatArray,
    best_z: FloatArray,
) -> tuple[int, bool]:
    """Iterate until the relative gap is below the effort's tolerance, or as far as the effort goes.

    Writes the best iterate. Returns (iterations, whether it was in time).
    """
    T, S = rows.theta.shape
    block = np.zeros((4, best_x.size))
    x, z = as_iterate(block[0], rows), as_iterate(block[1], rows)
    rho, own = as_iterate(block[2], rows), as_iterate(block[3], rows)
    R, dR, V = np.empty((T, S)), np.empty((T, S)), np.empty((T, S))
    curve, rank_one = np.empty((T, S)), np.empty(T)
    start_inside(joint, rows, x.s, R)
    slacks(joint, rows, x.s, R, x)
    differentiate(joint, data, R, D_hat, G, gamma, V, curve, rank_one)
    n_pairs = first_prices(rows, (V * R).sum(), x, z)
    f = new_factors(joint, rows)
    best, stalled, done = math.inf, 0, 0
    while True:
        objective = differentiate(joint, data, R, D_hat, G, gamma, V, curve, rank_one)
        gap = certified_gap(joint, V, x.s, R, z)
        stalled += 1
        if gap < best:
            best, stalled = gap, 0
            copy_into(best_x, x.flat)
            copy_into(best_z, z.flat)
        # A gap that is not a number ends the loop as well.
        if not (gap > effort.tolerance * objective and stalled < _MAX_STALLED and done < effort.max_iterations):
            return done, True
        if is_over(effort) or not factorise(joint, rows, x, z, curve, rank_one, effort, f):
            return done, not is_over(effort)
        done += 1
        own.flat[:] = 0.0
        _newton(joint, rows, f, V, x, z, own, rho, dR)
        # Products far below what the tolerance needs would only lose digits.
        _aim(x, z, rho, own, n_pairs, 0.1 * effort.tolerance * objective / n_pairs)
        _newton(joint, rows, f, V, x, z, own, rho, dR)
        primal, dual = _lengths(rho.flat, own.flat, z.flat)
        lengths = follow_gradient(data, R, dR, V, curve, rank_one, primal, dual)
        _move(joint, rows, x, z, rho, own, lengths, R)
