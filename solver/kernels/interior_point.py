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
put back by one more solve. No inverse of W is taken, so γ = 0 or slack caps do no harm.

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

import math

import numpy as np

from solver.arrays import FloatArray, IntArray
from solver.kernels.compile import compiled
from solver.kernels.layout import Reduced, Step
from solver.kernels.objective import curvature, gradient

__all__ = ["centre", "drop_nonbasic", "iterate"]

_MAX_STALLED = 5
_MAX_CORRECTORS = 1
_BACK_OFF = 0.995
_START_PRICE = 1.5


@compiled
def centre(reduced: Reduced, s: FloatArray) -> None:
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
def drop_nonbasic(reduced: Reduced, s: FloatArray, z: FloatArray, lam: FloatArray) -> None:
    """Set to zero the small s_l that the multipliers say are zero at the optimum.

    An interior point never touches its bounds. But of each product s·z one factor tends to zero and the other does not:
    where z, relative to what the sender's rows charge for the link, is the larger one, the link carries nothing.
    """
    for t in range(reduced.groups.shape[0]):
        k0, m, l0, n, _ = reduced.groups[t]
        for j in range(n):
            for k in range(m):
                l = l0 + j * m + k
                charge = reduced.c[l] * lam[0, k0 + k] + reduced.d[l] * lam[1, k0 + k]
                if s[l] < 1e-3 and z[l] > s[l] * charge:
                    s[l] = 0.0


@compiled
def _factor(E: FloatArray) -> None:
    """Cholesky factor of a positive definite matrix, in place, lower triangle."""
    for j in range(E.shape[0]):
        diagonal = E[j, j]
        for m in range(j):
            diagonal -= E[j, m] * E[j, m]
        root = math.sqrt(diagonal)
        E[j, j] = root
        for i in range(j + 1, E.shape[0]):
            value = E[i, j]
            for m in range(j):
                value -= E[i, m] * E[j, m]
            E[i, j] = value / root


@compiled
def _solve(E: FloatArray, x: FloatArray) -> None:
    """Solve with the factor of `_factor`, in place."""
    n = x.size
    for i in range(n):
        value = x[i]
        for m in range(i):
            value -= E[i, m] * x[m]
        x[i] = value / E[i, i]
    for i in range(n - 1, -1, -1):
        value = x[i]
        for m in range(i + 1, n):
            value -= E[m, i] * x[m]
        x[i] = value / E[i, i]


@compiled
def _row_sums(groups: IntArray, t: int, coefficient: FloatArray, x: FloatArray, out: FloatArray) -> None:
    """Add Σ_j coefficient·x over the links of every sender of group t to `out`."""
    k0, m, l0, n, _ = groups[t]
    for j in range(n):
        base = l0 + j * m
        for k in range(m):
            out[k0 + k] += coefficient[base + k] * x[base + k]


@compiled
def _assemble(
    groups: IntArray,
    receiver: IntArray,
    u: FloatArray,
    c: FloatArray,
    d: FloatArray,
    inverse: FloatArray,
    give: FloatArray,
    ci: FloatArray,
    di: FloatArray,
    ai: FloatArray,
    bi: FloatArray,
    scale: FloatArray,
    K: FloatArray,
) -> None:
    """Write the row prices' coefficients into `ai` and `bi`, and the lower triangle of K = U M⁻¹ Uᵀ.

    With e = s/z and C_k = diag(w/λ, w'/λ') + [c d]ᵀ diag(e) [c d], Woodbury gives
    M_k⁻¹ = diag(e) − diag(e) [c d] C_k⁻¹ [c d]ᵀ diag(e).  Given are ci = e·c and di = e·d.
    [ai bi] = diag(e) [c d] C_k⁻¹, so that sums of ai·x and bi·x are the prices C_k⁻¹ [c d]ᵀ diag(e) x of a sender's rows.
    """
    for i in range(K.shape[0]):
        for j in range(i + 1):
            K[i, j] = 0.0
    for t in range(groups.shape[0]):
        k0, m, l0, n, rows = groups[t]
        if rows == 2:
            _assemble_two_rows(groups, t, receiver, u, c, d, inverse, give, ci, di, ai, bi, K)
            continue
        for k in range(k0, k0 + m):
            scale[k] = give[0, k]
        _row_sums(groups, t, ci, c, scale)
        for k in range(k0, k0 + m):
            scale[k] = 1.0 / scale[k]
        for j in range(n):
            base = l0 + j * m
            for k in range(m):
                ai[base + k] = ci[base + k] * scale[k0 + k]
            for k in range(m):
                l = base + k
                # 1 − e·c²/C, the part of link l that its sender's row leaves free.
                rest = 1.0 - ai[l] * c[l]
                if rest < 0.5:
                    # One link dominates its sender: sum the others instead of subtracting it from all.
                    rest = give[0, k0 + k]
                    for other in range(n):
                        if other != j:
                            rest += ci[l0 + other * m + k] * c[l0 + other * m + k]
                    rest *= scale[k0 + k]
                K[receiver[l], receiver[l]] += u[l] * u[l] * inverse[l] * rest
            for other in range(j):
                base2 = l0 + other * m
                for k in range(m):
                    l = base + k
                    l2 = base2 + k
                    K[receiver[l], receiver[l2]] -= u[l] * ai[l] * u[l2] * ci[l2]


@compiled
def _assemble_two_rows(
    groups: IntArray,
    t: int,
    receiver: IntArray,
    u: FloatArray,
    c: FloatArray,
    d: FloatArray,
    inverse: FloatArray,
    give: FloatArray,
    ci: FloatArray,
    di: FloatArray,
    ai: FloatArray,
    bi: FloatArray,
    K: FloatArray,
) -> None:
    """`_assemble` for a group whose senders have two rows.

    Lagrange's identity writes det C, and each link's e·C⁻¹[c d]ᵀ times det C, in the cross products c_l d_m − c_m d_l:
    nothing cancels that does not cancel in the problem itself.
    """
    _, m, l0, n, _ = groups[t]
    for k in range(m):
        give_c = give[0, groups[t, 0] + k]
        give_d = give[1, groups[t, 0] + k]
        determinant = _determinant(l0, m, n, k, -1, c, d, inverse, ci, di, give_c, give_d)
        for j in range(n):
            l = l0 + j * m + k
            along = give_d * c[l]
            across = give_c * d[l]
            for other in range(n):
                l2 = l0 + other * m + k
                cross = c[l] * d[l2] - c[l2] * d[l]
                along += di[l2] * cross
                across -= ci[l2] * cross
            ai[l] = inverse[l] * along / determinant
            bi[l] = inverse[l] * across / determinant
            rest = 1.0 - ai[l] * c[l] - bi[l] * d[l]
            if rest < 0.5:
                rest = _determinant(l0, m, n, k, j, c, d, inverse, ci, di, give_c, give_d) / determinant
            K[receiver[l], receiver[l]] += u[l] * u[l] * inverse[l] * rest
            for other in range(j):
                l2 = l0 + other * m + k
                K[receiver[l], receiver[l2]] -= u[l] * u[l2] * (ai[l] * ci[l2] + bi[l] * di[l2])


@compiled
def _determinant(
    l0: int,
    m: int,
    n: int,
    k: int,
    without: int,
    c: FloatArray,
    d: FloatArray,
    inverse: FloatArray,
    ci: FloatArray,
    di: FloatArray,
    give_c: float,
    give_d: float,
) -> float:
    """Det C_k by Lagrange's identity, with the link in slot `without` left out (−1: none)."""
    cc = 0.0
    dd = 0.0
    crossed = 0.0
    for j in range(n):
        l = l0 + j * m + k
        if j != without:
            cc += ci[l] * c[l]
            dd += di[l] * d[l]
            for other in range(j):
                if other != without:
                    l2 = l0 + other * m + k
                    cross = c[l] * d[l2] - c[l2] * d[l]
                    crossed += inverse[l] * inverse[l2] * cross * cross
    return give_c * give_d + give_c * dd + give_d * cc + crossed


@compiled
def _row_prices(groups: IntArray, ai: FloatArray, bi: FloatArray, x: FloatArray, y: FloatArray) -> None:
    """Write the prices of every sender's rows for the right side x into y[0] and y[1]."""
    y[:] = 0.0
    for t in range(groups.shape[0]):
        _row_sums(groups, t, ai, x, y[0])
        if groups[t, 4] == 2:
            _row_sums(groups, t, bi, x, y[1])


@compiled
def _take_rows(groups: IntArray, c: FloatArray, d: FloatArray, y: FloatArray, x: FloatArray) -> None:
    """Subtract c·y[0] + d·y[1] from x, link by link."""
    for t in range(groups.shape[0]):
        k0, m, l0, n, rows = groups[t]
        for j in range(n):
            base = l0 + j * m
            for k in range(m):
                x[base + k] -= c[base + k] * y[0, k0 + k]
            if rows == 2:
                for k in range(m):
                    x[base + k] -= d[base + k] * y[1, k0 + k]


@compiled
def _direction(
    groups: IntArray,
    receiver: IntArray,
    u: FloatArray,
    c: FloatArray,
    d: FloatArray,
    inverse: FloatArray,
    inv_z: FloatArray,
    ai: FloatArray,
    bi: FloatArray,
    E: FloatArray,
    root: FloatArray,
    omega: FloatArray,
    h_one: FloatArray,
    rank_one: float,
    ones_K_h: float,
    rhs: FloatArray,
    rho: FloatArray,
    dR: FloatArray,
    y: FloatArray,
    b: FloatArray,
    p: FloatArray,
) -> None:
    """Solve (M + UᵀWU) ds = rhs with the factors at hand; writes ρ = ds/s, dR = U ds and y = (λ/w)·cᵀds.

    The changes of the slacks come from the small systems themselves (dR from p = W dR, cᵀds from C_k), not from
    sums over ds: when a constraint binds, such a sum loses all its digits to cancellation.
    """
    _row_prices(groups, ai, bi, rhs, y)
    rho[:] = rhs
    _take_rows(groups, c, d, y, rho)
    for i in range(b.size):
        b[i] = 0.0
    for l in range(u.size):
        b[receiver[l]] += u[l] * inverse[l] * rho[l]
    for i in range(b.size):
        p[i] = root[i] * b[i]
    _solve(E, p)
    total = 0.0
    for i in range(b.size):
        total += p[i] / root[i]
        p[i] *= root[i]
    shift = rank_one * total / (1.0 + rank_one * ones_K_h)
    for i in range(b.size):
        dR[i] = (p[i] + shift * (h_one[i] - 1.0)) / omega[i]
        p[i] += shift * h_one[i]
    for l in range(u.size):
        rho[l] = rhs[l] - u[l] * p[receiver[l]]
    _row_prices(groups, ai, bi, rho, y)
    _take_rows(groups, c, d, y, rho)
    for l in range(u.size):
        rho[l] *= inv_z[l]


@compiled
def _extremes(x: FloatArray, low: float, high: float) -> tuple[float, float]:
    """The smallest of `low` and the entries, the largest of `high` and the entries."""
    for l in range(x.size):
        low = min(low, x[l])
        high = max(high, x[l])
    return low, high


@compiled
def _predicted(product: FloatArray, rho: FloatArray, primal: float, dual: float) -> float:
    """Σ (x + α dx)(z + α' dz) for predictor steps, where dz/z = −(1 + dx/x)."""
    total = 0.0
    for l in range(product.size):
        total += product[l] * (1.0 + primal * rho[l]) * (1.0 - dual * (1.0 + rho[l]))
    return total


@compiled
def _own(product: FloatArray, rho: FloatArray, target: float, out: FloatArray) -> None:
    """Write the products to aim at, relative to the present ones: (target − dx·dz)/(x·z) of the predictor."""
    for l in range(product.size):
        out[l] = target / product[l] + rho[l] * (1.0 + rho[l])


@compiled
def _centrality(
    product: FloatArray,
    rho: FloatArray,
    own: FloatArray,
    primal: float,
    dual: float,
    target: float,
    out: FloatArray,
) -> None:
    """Add to `own` what would bring the outlying products of a longer step back towards the target."""
    for l in range(product.size):
        trial = product[l] * (1.0 + primal * rho[l]) * (1.0 + dual * (own[l] - 1.0 - rho[l]))
        if trial < 0.1 * target:
            out[l] = own[l] + (0.1 * target - trial) / product[l]
        elif trial > 10.0 * target:
            out[l] = own[l] + max(10.0 * target - trial, -10.0 * target) / product[l]
        else:
            out[l] = own[l]


@compiled
def _step_lengths(rho: FloatArray, own: FloatArray, primal: float, dual: float) -> tuple[float, float]:
    """The largest −dx/x and −dz/z, where dz/z = own − 1 − dx/x."""
    for l in range(rho.size):
        primal = max(primal, -rho[l])
        dual = max(dual, 1.0 + rho[l] - own[l])
    return primal, dual


@compiled
def _all_step_lengths(
    rho: FloatArray,
    own: FloatArray,
    rho_w: FloatArray,
    own_w: FloatArray,
    rho_q: FloatArray,
    own_q: FloatArray,
) -> tuple[float, float]:
    """How far the primal and the dual iterate may move and stay strictly inside."""
    primal, dual = _step_lengths(rho, own, 1e-300, 1e-300)
    primal, dual = _step_lengths(rho_w[0], own_w[0], primal, dual)
    primal, dual = _step_lengths(rho_w[1], own_w[1], primal, dual)
    primal, dual = _step_lengths(rho_q, own_q, primal, dual)
    return min(1.0, _BACK_OFF / primal), min(1.0, _BACK_OFF / dual)


@compiled
def _relative(
    y: FloatArray,
    lam: FloatArray,
    dR: FloatArray,
    q: FloatArray,
    two_from: int,
    rho_w: FloatArray,
    rho_q: FloatArray,
) -> None:
    """Write dw/w = −y/λ for the senders' rows and dq/q = −dR/q for the receivers."""
    for k in range(y.shape[1]):
        rho_w[0, k] = -y[0, k] / lam[0, k]
    for k in range(two_from, y.shape[1]):
        rho_w[1, k] = -y[1, k] / lam[1, k]
    for i in range(q.size):
        rho_q[i] = -dR[i] / q[i]


@compiled
def _move(x: FloatArray, z: FloatArray, rho: FloatArray, own: FloatArray, primal: float, dual: float) -> None:
    """Take the step, in place."""
    for l in range(x.size):
        x[l] *= 1.0 + primal * rho[l]
        z[l] *= 1.0 + dual * (own[l] - 1.0 - rho[l])


@compiled
def _target_rhs(
    groups: IntArray,
    receiver: IntArray,
    u: FloatArray,
    c: FloatArray,
    d: FloatArray,
    g: FloatArray,
    z: FloatArray,
    own: FloatArray,
    lam: FloatArray,
    own_w: FloatArray,
    mu: FloatArray,
    own_q: FloatArray,
    p: FloatArray,
    y: FloatArray,
    rhs: FloatArray,
) -> None:
    """Write rhs_l for the products aimed at (the module's docstring has the formula)."""
    for i in range(g.size):
        p[i] = g[i] + own_q[i] * mu[i]
    for l in range(u.size):
        rhs[l] = own[l] * z[l] - u[l] * p[receiver[l]]
    for r in range(2):
        for k in range(y.shape[1]):
            y[r, k] = own_w[r, k] * lam[r, k]
    _take_rows(groups, c, d, y, rhs)


@compiled
def _row_gap(
    groups: IntArray,
    receiver: IntArray,
    u: FloatArray,
    c: FloatArray,
    d: FloatArray,
    lam: FloatArray,
    v: FloatArray,
) -> float:
    """Σ_k of what sender k can earn at values v: λ'_k + max_l ((v_i u_l − d_l λ'_k)/c_l)₊."""
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
def _refresh_slacks(
    groups: IntArray,
    receiver: IntArray,
    u: FloatArray,
    c: FloatArray,
    d: FloatArray,
    cap: FloatArray,
    s: FloatArray,
    w: FloatArray,
    q: FloatArray,
    R: FloatArray,
    y: FloatArray,
) -> None:
    """Recompute the slacks from s, but for those so small that the difference would be rounding.

    Slacks follow their own steps, which is exact where a constraint binds; elsewhere this keeps them from drifting.
    """
    R[:] = 0.0
    for l in range(u.size):
        R[receiver[l]] += u[l] * s[l]
    for i in range(cap.size):
        slack = cap[i] - R[i]
        if slack > 1e-6 * cap[i] or q[i] <= 0.0:
            q[i] = max(slack, 1e-12 * cap[i])
    y[:] = 0.0
    for t in range(groups.shape[0]):
        _row_sums(groups, t, c, s, y[0])
        _row_sums(groups, t, d, s, y[1])
    for r in range(2):
        for k in range(w.shape[1]):
            slack = 1.0 - y[r, k]
            if slack > 1e-6 or w[r, k] <= 0.0:
                w[r, k] = max(slack, 1e-12)


@compiled
def _start_multipliers(
    groups: IntArray,
    receiver: IntArray,
    u: FloatArray,
    c: FloatArray,
    d: FloatArray,
    g: FloatArray,
    s: FloatArray,
    q: FloatArray,
    z: FloatArray,
    lam: FloatArray,
    mu: FloatArray,
) -> None:
    """Write dual feasible multipliers: each sender's row is priced above its best link, z is what is left."""
    tau = 0.0
    for l in range(u.size):
        tau -= g[receiver[l]] * u[l] * s[l]
    tau = max(tau / u.size, 1e-300)
    for i in range(q.size):
        mu[i] = min(tau / q[i], -0.5 * g[i])
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


@compiled
def iterate(
    step: Step,
    reduced: Reduced,
    tolerance: float,
    max_iterations: int,
    s: FloatArray,
    z: FloatArray,
    lam: FloatArray,
    mu: FloatArray,
    fresh: bool,
) -> tuple[int, float]:
    """Iterate until the duality gap is below `tolerance` (absolute) or `max_iterations` are done.

    `lam` has a row for each row of the senders. With `fresh` the multipliers are started here, else the loop goes
    on from those given. Returns (iterations, gap); s and the multipliers are updated in place.
    """
    D_hat, G, gamma = step.D_hat, step.G, step.gamma
    groups, receiver = reduced.groups, reduced.receiver
    u, c, d = reduced.u, reduced.c, reduced.d
    cap, base = reduced.room, reduced.base
    n_links = u.size
    n_senders = lam.shape[1]
    n_receivers = cap.size
    products = n_links + n_senders + n_receivers
    two_from = n_senders
    for t in range(groups.shape[0]):
        if groups[t, 4] == 2:
            products += groups[t, 1]
            two_from = min(two_from, groups[t, 0])
    R = np.empty(n_receivers)
    x = np.empty(n_receivers)
    q = np.empty(n_receivers)
    g = np.empty(n_receivers)
    omega = np.empty(n_receivers)
    root = np.empty(n_receivers)
    K = np.empty((n_receivers, n_receivers))
    E = np.empty((n_receivers, n_receivers))
    h_one = np.empty(n_receivers)
    b = np.empty(n_receivers)
    p = np.empty(n_receivers)
    dR = np.empty(n_receivers)
    best_mu = mu.copy()
    give = np.empty((2, n_senders))
    scale = np.empty(n_senders)
    y = np.zeros((2, n_senders))
    inv_z = np.empty(n_links)
    inverse = np.empty(n_links)
    ci = np.empty(n_links)
    di = np.empty(n_links)
    ai = np.empty(n_links)
    bi = np.zeros(n_links)
    rhs = np.empty(n_links)
    best_s = s.copy()
    # Products, relative steps and relative targets: of links, of the senders' rows, of receivers. A second row
    # that a sender does not have stays at slack 1, multiplier 0, step 0 and target 1 (no change).
    sz = np.empty(n_links)
    wl = np.zeros((2, n_senders))
    qm = np.empty(n_receivers)
    w = np.empty((2, n_senders))
    rho = np.empty(n_links)
    rho_w = np.zeros((2, n_senders))
    rho_q = np.empty(n_receivers)
    own = np.empty(n_links)
    own_w = np.ones((2, n_senders))
    own_q = np.empty(n_receivers)
    try_rho = np.empty(n_links)
    try_w = np.zeros((2, n_senders))
    try_q = np.empty(n_receivers)
    try_own = np.empty(n_links)
    try_own_w = np.ones((2, n_senders))
    try_own_q = np.empty(n_receivers)
    best = math.inf
    stalled = 0
    done = 0
    q[:] = 0.0
    w[:] = 0.0
    while True:
        _refresh_slacks(groups, receiver, u, c, d, cap, s, w, q, R, y)
        for i in range(n_receivers):
            R[i] = cap[i] - q[i]
            x[i] = base[i] + R[i]
        gradient(x, D_hat, G, gamma, g)
        if fresh:
            _start_multipliers(groups, receiver, u, c, d, g, s, q, z, lam, mu)
            fresh = False
        # The gap of the certificate, with the rows' own multipliers (certificate.py explains it).
        gap = 0.0
        tau = 0.0
        for i in range(n_receivers):
            price = min(mu[i], -g[i])
            gap += g[i] * R[i] + price * cap[i]
            b[i] = -g[i] - price
            qm[i] = mu[i] * q[i]
            tau += qm[i]
        gap += _row_gap(groups, receiver, u, c, d, lam, b)
        for r in range(2):
            for k in range(n_senders):
                wl[r, k] = w[r, k] * lam[r, k]
                tau += wl[r, k]
        for l in range(n_links):
            sz[l] = s[l] * z[l]
            tau += sz[l]
        tau /= products
        if gap < best:
            best = gap
            stalled = 0
            best_s[:] = s
            best_mu[:] = mu
        else:
            stalled += 1
        # `not (gap > …)` so that a gap that is not a number ends the loop as well.
        if not (gap > tolerance) or done >= max_iterations or stalled >= _MAX_STALLED:
            s[:] = best_s
            mu[:] = best_mu
            return done, best
        done += 1

        rank_one = curvature(x, D_hat, G, gamma, omega)
        for i in range(n_receivers):
            omega[i] += mu[i] / q[i]
            root[i] = math.sqrt(omega[i])
        for l in range(n_links):
            inv_z[l] = 1.0 / z[l]
            inverse[l] = s[l] * inv_z[l]
        for l in range(n_links):
            ci[l] = c[l] * inverse[l]
            di[l] = d[l] * inverse[l]
        for k in range(n_senders):
            give[0, k] = w[0, k] / lam[0, k]
        for k in range(two_from, n_senders):
            give[1, k] = w[1, k] / lam[1, k]
        _assemble(groups, receiver, u, c, d, inverse, give, ci, di, ai, bi, scale, K)
        for i in range(n_receivers):
            for j in range(i):
                E[i, j] = root[i] * K[i, j] * root[j]
                K[j, i] = K[i, j]
            E[i, i] = 1.0 + omega[i] * K[i, i]
            h_one[i] = 1.0 / root[i]
        _factor(E)
        # h = (I + ΩK)⁻¹1 = V E⁻¹ V⁻¹ 1: written so, no large numbers cancel when a cap binds.
        _solve(E, h_one)
        ones_K_h = 0.0
        for i in range(n_receivers):
            h_one[i] *= root[i]
            for j in range(n_receivers):
                ones_K_h += K[j, i] * h_one[i]
        ones_K_h = max(ones_K_h, 0.0)

        # Predictor: aim at zero products.
        for l in range(n_links):
            rhs[l] = -u[l] * g[receiver[l]]
        _direction(
            groups, receiver, u, c, d, inverse, inv_z, ai, bi, E, root, omega, h_one, rank_one, ones_K_h,
            rhs, rho, dR, y, b, p,
        )  # fmt: skip
        _relative(y, lam, dR, q, two_from, rho_w, rho_q)
        low, high = _extremes(rho, 0.0, 0.0)
        low, high = _extremes(rho_w[0], low, high)
        low, high = _extremes(rho_w[1], low, high)
        low, high = _extremes(rho_q, low, high)
        primal = 1.0 / max(1.0, -low)
        dual = 1.0 / (1.0 + high)
        predicted = (
            _predicted(sz, rho, primal, dual)
            + _predicted(wl[0], rho_w[0], primal, dual)
            + _predicted(wl[1], rho_w[1], primal, dual)
            + _predicted(qm, rho_q, primal, dual)
        )
        ratio = predicted / products / tau
        # No product needs to fall far below what the tolerance asks: beyond that only digits are lost.
        target = max(tau * ratio * ratio * ratio, 0.1 * tolerance / products)

        # Corrector: aim at `target`, with the predictor's second-order products taken off.
        _own(sz, rho, target, own)
        _own(wl[0], rho_w[0], target, own_w[0])
        _own(wl[1, two_from:], rho_w[1, two_from:], target, own_w[1, two_from:])
        _own(qm, rho_q, target, own_q)
        _target_rhs(groups, receiver, u, c, d, g, z, own, lam, own_w, mu, own_q, p, y, rhs)
        _direction(
            groups, receiver, u, c, d, inverse, inv_z, ai, bi, E, root, omega, h_one, rank_one, ones_K_h,
            rhs, rho, dR, y, b, p,
        )  # fmt: skip
        _relative(y, lam, dR, q, two_from, rho_w, rho_q)
        primal, dual = _all_step_lengths(rho, own, rho_w, own_w, rho_q, own_q)

        # Centrality correctors: while steps are short, one more solve with the same factors lengthens them.
        for _ in range(_MAX_CORRECTORS):
            if min(primal, dual) > 0.9:
                break
            far = min(1.0, 1.5 * primal + 0.1)
            far_dual = min(1.0, 1.5 * dual + 0.1)
            _centrality(sz, rho, own, far, far_dual, target, try_own)
            _centrality(wl[0], rho_w[0], own_w[0], far, far_dual, target, try_own_w[0])
            _centrality(
                wl[1, two_from:], rho_w[1, two_from:], own_w[1, two_from:], far, far_dual, target,
                try_own_w[1, two_from:],
            )  # fmt: skip
            _centrality(qm, rho_q, own_q, far, far_dual, target, try_own_q)
            _target_rhs(groups, receiver, u, c, d, g, z, try_own, lam, try_own_w, mu, try_own_q, p, y, rhs)
            _direction(
                groups, receiver, u, c, d, inverse, inv_z, ai, bi, E, root, omega, h_one, rank_one, ones_K_h,
                rhs, try_rho, dR, y, b, p,
            )  # fmt: skip
            _relative(y, lam, dR, q, two_from, try_w, try_q)
            far, far_dual = _all_step_lengths(try_rho, try_own, try_w, try_own_w, try_q, try_own_q)
            if far + far_dual < 1.05 * (primal + dual):
                break
            primal = far
            dual = far_dual
            rho, try_rho = try_rho, rho
            rho_w, try_w = try_w, rho_w
            rho_q, try_q = try_q, rho_q
            own, try_own = try_own, own
            own_w, try_own_w = try_own_w, own_w
            own_q, try_own_q = try_own_q, own_q
        _move(s, z, rho, own, primal, dual)
        _move(w[0], lam[0], rho_w[0], own_w[0], primal, dual)
        _move(w[1], lam[1], rho_w[1], own_w[1], primal, dual)
        _move(q, mu, rho_q, own_q, primal, dual)
