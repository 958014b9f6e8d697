"""A primal–dual interior-point method for what presolve leaves, O(links) an iteration.

Variables s_l ∈ [0, 1], link l carrying u_l·s_l useful datapoints, where u_l is the most it could carry:

    minimise  f(R)   with  R_i = Σ_{l→i} u_l s_l
    subject to  c_kᵀ s_k ≤ 1   (each sender's binding row; some senders have a second row d_kᵀ s_k ≤ 1)
                R_i ≤ cap_i,   s ≥ 0 .

All coefficients are in [0, 1] whatever the units and the spread of costs. With slacks w = 1 − cᵀs,
w' = 1 − dᵀs, q = cap − R and multipliers λ, λ', μ, z, a Newton step for the target products τ solves

    (M + Uᵀ W U) ds = rhs,      M_k = diag(z/s) + (λ/w) c cᵀ + (λ'/w') d dᵀ,
                                W   = diag(ω) + e·11ᵀ,   ω_i = h_i + μ_i/q_i   (h, e: the Hessian of f)
    rhs_l = −u_l (g_i + τ_q/q_i) − c_l τ_w/w − d_l τ_w'/w' + τ_s/s_l .

M is inverted sender by sender (diagonal plus rank two), so only the S×S matrix K = U M⁻¹ Uᵀ has to be formed.
With p = W dR the step is ds = M⁻¹(rhs − Uᵀp), and (I + WK) p = W b for b = U M⁻¹ rhs. We symmetrise it with
V = diag(√ω): E = I + V K V is positive definite with smallest eigenvalue ≥ 1, and the rank-one part of W is
put back by one more solve (`newton.py`).

Links are laid out by groups of senders with equally many links, slot by slot: with m senders of n links, the
j-th link of the group's k-th sender stands at `first_link + j·m + k`. So every loop over a group runs over
contiguous numbers and is vectorised, where thousands of loops over two or three links each would not be. A row
of `groups` is (first sender, senders, first link, links per sender, rows).

Steps are kept relative, ρ = ds/s, σ = dz/z and so on: the ratio tests are then plain minima, the second-order
products of the predictor are ρ(1 + ρ), and a loop over links needs no division. The primal iterate stays
feasible but for rounding (`step.finish` mends that), so whenever the loop stops, for a time limit too, its
answer can be used. Predictor–corrector after Mehrotra (SIAM J. Optim. 2(4), 1992), with Gondzio's centrality
correctors (Comput. Optim. Appl. 6, 1996) while steps are short: they reuse the factors.
"""

from typing import NamedTuple

import numpy as np

from solver.arrays import FloatArray
from solver.kernels.compile import compiled
from solver.kernels.layout import Reduced, Step
from solver.kernels.newton import direction, factorise, new_factors, row_sums, target_rhs
from solver.kernels.objective import curvature, gradient
from solver.kernels.products import aim, aim_back, extremes, longest, move, predicted_sum

__all__ = ["Point", "drop_nonbasic", "iterate", "starting_point"]

_MAX_STALLED = 15
_BACK_OFF = 0.995
_START_PRICE = 1.5
# Slacks above this share of their right-hand side are recomputed from s; smaller ones follow their own steps.
_WIDE = 1e-6


class Point(NamedTuple):
    """An iterate: variables s with multipliers z, the senders' rows w·λ (two rows of arrays), the receivers' q·μ.

    A second row that a sender does not have stays at slack 1 and multiplier 0.
    """

    s: FloatArray
    z: FloatArray
    w: FloatArray
    lam: FloatArray
    q: FloatArray
    mu: FloatArray


@compiled
def starting_point(step: Step, reduced: Reduced) -> Point:
    """A start well inside, with dual feasible multipliers.

    Each sender's rows are priced above its best link and z is what is left: products then differ by small factors only,
    whatever the spread of values among senders and links.
    """
    groups, receiver = reduced.groups, reduced.receiver
    u, c, d, cap = reduced.u, reduced.c, reduced.d, reduced.room
    n_senders = groups[-1, 0] + groups[-1, 1]
    s = np.empty(u.size)
    z = np.empty(u.size)
    used = np.zeros((2, n_senders))
    lam = np.zeros((2, n_senders))
    mu = np.empty(cap.size)
    g = np.empty(cap.size)
    _centre(reduced, s)
    R = np.zeros(cap.size)
    for l in range(u.size):
        R[receiver[l]] += u[l] * s[l]
    for t in range(groups.shape[0]):
        row_sums(groups, t, c, s, used[0])
        row_sums(groups, t, d, s, used[1])
    gradient(reduced.base + R, step.D_hat, step.G, step.gamma, g)
    tau = 0.0
    for l in range(u.size):
        tau -= g[receiver[l]] * u[l] * s[l]
    tau = max(tau / u.size, 1e-300)
    for i in range(cap.size):
        mu[i] = max(min(tau / (cap[i] - R[i]), -0.5 * g[i]), 1e-300)
    for t in range(groups.shape[0]):
        k0, m, l0, n, rows = groups[t]
        for k in range(m):
            price = 1e-300
            for j in range(n):
                l = l0 + j * m + k
                value = u[l] * (-g[receiver[l]] - mu[receiver[l]])
                price = max(price, value / (c[l] + d[l]))
            price *= _START_PRICE
            lam[0, k0 + k] = price
            lam[1, k0 + k] = price if rows == 2 else 0.0
            for j in range(n):
                l = l0 + j * m + k
                z[l] = (c[l] + d[l]) * price - u[l] * (-g[receiver[l]] - mu[receiver[l]])
    return Point(s, z, 1.0 - used, lam, cap - R, mu)


@compiled
def _centre(reduced: Reduced, s: FloatArray) -> None:
    """Write a start well inside: every sender uses part of its rows, every receiver part of its room."""
    groups, receiver, cap = reduced.groups, reduced.receiver, reduced.room
    u, c, d = reduced.u, reduced.c, reduced.d
    R = np.zeros(cap.size)
    for t in range(groups.shape[0]):
        _, m, l0, n, _ = groups[t]
        for k in range(m):
            first = 0.0
            second = 0.0
            for j in range(n):
                first += c[l0 + j * m + k]
                second += d[l0 + j * m + k]
            share = 0.7 / max(first, second)
            for j in range(n):
                l = l0 + j * m + k
                s[l] = share
                R[receiver[l]] += u[l] * share
    for l in range(u.size):
        i = receiver[l]
        if R[i] > 0.8 * cap[i]:
            s[l] *= 0.8 * cap[i] / R[i]


@compiled
def drop_nonbasic(reduced: Reduced, point: Point, s: FloatArray) -> None:
    """Set to zero the small s_l that the multipliers say are zero at the optimum.

    An interior point never touches its bounds. But of each product s·z one factor tends to zero and the other does not:
    where z, relative to what the sender's rows charge for the link, is the larger one, the link carries nothing.
    """
    for t in range(reduced.groups.shape[0]):
        k0, m, l0, n, _ = reduced.groups[t]
        for j in range(n):
            for k in range(m):
                l = l0 + j * m + k
                charge = reduced.c[l] * point.lam[0, k0 + k] + reduced.d[l] * point.lam[1, k0 + k]
                if s[l] < 1e-3 and point.z[l] > s[l] * charge:
                    s[l] = 0.0


@compiled
def _row_gap(reduced: Reduced, lam: FloatArray, v: FloatArray) -> float:
    """Σ_k of what sender k can earn at values v: λ'_k + max_l ((v_i u_l − d_l λ'_k)/c_l)₊."""
    groups, receiver = reduced.groups, reduced.receiver
    u, c, d = reduced.u, reduced.c, reduced.d
    total = 0.0
    for t in range(groups.shape[0]):
        k0, m, l0, n, _ = groups[t]
        for k in range(m):
            second = lam[1, k0 + k]
            price = 0.0
            for j in range(n):
                l = l0 + j * m + k
                price = max(price, (v[receiver[l]] * u[l] - d[l] * second) / c[l])
            total += price + second
    return total


@compiled
def _step_lengths(
    rho: FloatArray, own: FloatArray, rho_w: FloatArray, own_w: FloatArray, rho_q: FloatArray, own_q: FloatArray
) -> tuple[float, float]:
    """How far the primal and the dual iterate may move and stay strictly inside."""
    primal, dual = longest(rho, own, 1e-300, 1e-300)
    primal, dual = longest(rho_w[0], own_w[0], primal, dual)
    primal, dual = longest(rho_w[1], own_w[1], primal, dual)
    primal, dual = longest(rho_q, own_q, primal, dual)
    return min(1.0, _BACK_OFF / primal), min(1.0, _BACK_OFF / dual)


@compiled
def _curved(
    reduced: Reduced,
    q: FloatArray,
    rho_q: FloatArray,
    off_q: FloatArray,
    R: FloatArray,
    g: FloatArray,
    h: FloatArray,
    rank_one: float,
    primal: float,
    dual: float,
) -> tuple[float, float]:
    """Hold a step back where the gradient will not follow its linear model.

    A receiver's data may not fall by more than 70 % at once (its term grows like x^(−1/2)), and where the model changes
    the gradient markedly, primal and dual steps are taken alike, since they share that change.
    """
    total = 0.0
    for i in range(R.size):
        total += (off_q[i] - rho_q[i]) * q[i]
    bend = 0.0
    for i in range(R.size):
        dR = (off_q[i] - rho_q[i]) * q[i]
        if dR < 0.0:
            primal = min(primal, 0.7 * (reduced.base[i] + R[i]) / -dR)
        if g[i] < 0.0:
            bend = max(bend, abs(h[i] * dR + rank_one * total) / -g[i])
    if bend * max(primal, dual) > 0.1:
        primal = min(primal, dual)
        dual = primal
    return primal, dual


@compiled
def _slack_steps(
    y: FloatArray,
    dR: FloatArray,
    point: Point,
    off_w: FloatArray,
    off_q: FloatArray,
    two_from: int,
    rho_w: FloatArray,
    rho_q: FloatArray,
) -> None:
    """Write dw/w = off − y/λ for the senders' rows and dq/q = off − dR/q for the receivers."""
    for k in range(y.shape[1]):
        rho_w[0, k] = off_w[0, k] - y[0, k] / point.lam[0, k]
    for k in range(two_from, y.shape[1]):
        rho_w[1, k] = off_w[1, k] - y[1, k] / point.lam[1, k]
    for i in range(dR.size):
        rho_q[i] = off_q[i] - dR[i] / point.q[i]


@compiled
def _compare_slacks(
    reduced: Reduced, point: Point, R: FloatArray, used: FloatArray, off_w: FloatArray, off_q: FloatArray
) -> None:
    """Recompute R and the rows from s, set wide slacks to what they are, and write the error of the narrow ones.

    Where a constraint binds, 1 − cᵀs is rounding and the slack that followed its own steps is the better number; the
    difference (relative to the slack) is put into the next right side, so that s comes after.
    """
    R[:] = 0.0
    for l in range(point.s.size):
        R[reduced.receiver[l]] += reduced.u[l] * point.s[l]
    for i in range(R.size):
        slack = reduced.room[i] - R[i]
        if slack > _WIDE * reduced.room[i]:
            point.q[i] = slack
            off_q[i] = 0.0
        else:
            off_q[i] = (slack - point.q[i]) / point.q[i]
    used[:] = 0.0
    for t in range(reduced.groups.shape[0]):
        row_sums(reduced.groups, t, reduced.c, point.s, used[0])
        if reduced.groups[t, 4] == 2:
            row_sums(reduced.groups, t, reduced.d, point.s, used[1])
    for r in range(2):
        for k in range(used.shape[1]):
            slack = 1.0 - used[r, k]
            if slack > _WIDE:
                point.w[r, k] = slack
                off_w[r, k] = 0.0
            else:
                off_w[r, k] = (slack - point.w[r, k]) / point.w[r, k]


@compiled
def _gap(reduced: Reduced, point: Point, R: FloatArray, used: FloatArray, g: FloatArray, v: FloatArray) -> float:
    """The gap of the certificate, with the rows' own multipliers (certificate.py explains it).

    Where s breaks a constraint by rounding, what mending it may cost is added: a broken iterate proves nothing.
    """
    gap = 0.0
    for i in range(g.size):
        price = min(point.mu[i], -g[i])
        gap += g[i] * R[i] + price * reduced.room[i]
        gap += 2.0 * -g[i] * max(R[i] - reduced.room[i], 0.0)
        v[i] = -g[i] - price
    for r in range(2):
        for k in range(used.shape[1]):
            gap += 2.0 * point.lam[r, k] * max(used[r, k] - 1.0, 0.0)
    return gap + _row_gap(reduced, point.lam, v)


@compiled
def iterate(
    step: Step,
    reduced: Reduced,
    point: Point,
    tolerance: float,
    max_iterations: int,
    best: float,
    best_s: FloatArray,
    best_mu: FloatArray,
) -> tuple[int, float, bool]:
    """Iterate until the duality gap is below `tolerance` (absolute) or `max_iterations` are done.

    Moves `point` in place and keeps the best s and μ seen, with their gap `best`. Returns (iterations, best gap,
    whether more iterations could help): handed the same point again, it goes on where it was.
    """
    n_links = reduced.u.size
    n_senders = point.lam.shape[1]
    n_receivers = reduced.room.size
    s, z, w, lam, q, mu = point
    products = n_links + n_senders + n_receivers
    two_from = n_senders
    for t in range(reduced.groups.shape[0]):
        if reduced.groups[t, 4] == 2:
            products += reduced.groups[t, 1]
            two_from = min(two_from, reduced.groups[t, 0])
    f = new_factors(n_links, n_senders, n_receivers)
    R = np.empty(n_receivers)
    g = np.empty(n_receivers)
    h = np.empty(n_receivers)
    used = np.empty((2, n_senders))
    rhs = np.empty(n_links)
    # Products, relative steps, relative targets and relative errors of slacks.
    sz = np.empty(n_links)
    wl = np.zeros((2, n_senders))
    qm = np.empty(n_receivers)
    rho = np.empty(n_links)
    rho_w = np.zeros((2, n_senders))
    rho_q = np.empty(n_receivers)
    own = np.empty(n_links)
    own_w = np.ones((2, n_senders))
    own_q = np.empty(n_receivers)
    off_w = np.zeros((2, n_senders))
    off_q = np.zeros(n_receivers)
    try_rho = np.empty(n_links)
    try_w = np.zeros((2, n_senders))
    try_q = np.empty(n_receivers)
    try_own = np.empty(n_links)
    try_own_w = np.ones((2, n_senders))
    try_own_q = np.empty(n_receivers)
    stalled = 0
    done = 0
    while True:
        _compare_slacks(reduced, point, R, used, off_w, off_q)
        gradient(reduced.base + R, step.D_hat, step.G, step.gamma, g)
        gap = _gap(reduced, point, R, used, g, f.b)
        if gap < best:
            best = gap
            stalled = 0
            best_s[:] = s
            best_mu[:] = mu
        else:
            stalled += 1
        # `not (gap > …)` so that a gap that is not a number ends the loop as well.
        if not (gap > tolerance) or stalled >= _MAX_STALLED:
            return done, best, False
        if done >= max_iterations:
            return done, best, True
        done += 1

        for l in range(n_links):
            sz[l] = s[l] * z[l]
        for r in range(2):
            for k in range(n_senders):
                wl[r, k] = w[r, k] * lam[r, k]
        for i in range(n_receivers):
            qm[i] = q[i] * mu[i]
        tau = (sz.sum() + wl.sum() + qm.sum()) / products
        rank_one = curvature(reduced.base + R, step.D_hat, step.G, step.gamma, h)
        for i in range(n_receivers):
            f.omega[i] = h[i] + mu[i] / q[i]
        factorise(reduced, s, z, w, lam, two_from, rank_one, f)

        # Predictor: aim at zero products.
        own[:] = 0.0
        own_w[:] = 0.0
        own_q[:] = 0.0
        target_rhs(reduced, f, g, z, own, lam, own_w, off_w, mu, own_q, off_q, rhs)
        direction(reduced, f, rhs, rho)
        _slack_steps(f.y, f.dR, point, off_w, off_q, two_from, rho_w, rho_q)
        low, high = extremes(rho, 0.0, 0.0)
        low, high = extremes(rho_w[0], low, high)
        low, high = extremes(rho_w[1], low, high)
        low, high = extremes(rho_q, low, high)
        primal = 1.0 / max(1.0, -low)
        dual = 1.0 / (1.0 + high)
        predicted = (
            predicted_sum(sz, rho, primal, dual)
            + predicted_sum(wl[0], rho_w[0], primal, dual)
            + predicted_sum(wl[1], rho_w[1], primal, dual)
            + predicted_sum(qm, rho_q, primal, dual)
        )
        ratio = predicted / products / tau
        # No product needs to fall far below what the tolerance asks: beyond that only digits are lost.
        target = max(tau * ratio * ratio * ratio, 0.1 * tolerance / products)

        # Corrector: aim at `target`, with the predictor's second-order products taken off.
        own_w[1, :two_from] = 1.0
        aim(sz, rho, target, own)
        aim(wl[0], rho_w[0], target, own_w[0])
        aim(wl[1, two_from:], rho_w[1, two_from:], target, own_w[1, two_from:])
        aim(qm, rho_q, target, own_q)
        target_rhs(reduced, f, g, z, own, lam, own_w, off_w, mu, own_q, off_q, rhs)
        direction(reduced, f, rhs, rho)
        _slack_steps(f.y, f.dR, point, off_w, off_q, two_from, rho_w, rho_q)
        primal, dual = _step_lengths(rho, own, rho_w, own_w, rho_q, own_q)

        # Centrality corrector: where steps are short, one more solve with the same factors lengthens them.
        if min(primal, dual) <= 0.9:
            far = min(1.0, 1.5 * primal + 0.1)
            far_dual = min(1.0, 1.5 * dual + 0.1)
            aim_back(sz, rho, own, far, far_dual, target, try_own)
            aim_back(wl[0], rho_w[0], own_w[0], far, far_dual, target, try_own_w[0])
            two = slice(two_from, n_senders)
            aim_back(wl[1, two], rho_w[1, two], own_w[1, two], far, far_dual, target, try_own_w[1, two])
            aim_back(qm, rho_q, own_q, far, far_dual, target, try_own_q)
            target_rhs(reduced, f, g, z, try_own, lam, try_own_w, off_w, mu, try_own_q, off_q, rhs)
            direction(reduced, f, rhs, try_rho)
            _slack_steps(f.y, f.dR, point, off_w, off_q, two_from, try_w, try_q)
            far, far_dual = _step_lengths(try_rho, try_own, try_w, try_own_w, try_q, try_own_q)
            if far + far_dual >= 1.05 * (primal + dual):
                primal, dual = far, far_dual
                rho, try_rho = try_rho, rho
                rho_w, try_w = try_w, rho_w
                rho_q, try_q = try_q, rho_q
                own, try_own = try_own, own
                own_w, try_own_w = try_own_w, own_w
                own_q, try_own_q = try_own_q, own_q
        primal, dual = _curved(reduced, q, rho_q, off_q, R, g, h, rank_one, primal, dual)
        move(s, z, rho, own, primal, dual)
        move(w[0], lam[0], rho_w[0], own_w[0], primal, dual)
        move(w[1], lam[1], rho_w[1], own_w[1], primal, dual)
        move(q, mu, rho_q, own_q, primal, dual)
