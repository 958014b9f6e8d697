"""A primal–dual interior-point method for what presolve leaves, O(links) an iteration.

Variables s_l ∈ [0, 1], link l carrying u_l·s_l useful datapoints, where u_l is the most it could carry:

    minimise  f(R)   with  R_i = Σ_{l→i} u_l s_l
    subject to  c_kᵀ s_k ≤ 1   (each sender's binding row; some senders have a second row d_kᵀ s_k ≤ 1)
                R_i ≤ cap_i,   s ≥ 0 .

All coefficients are in [0, 1], whatever the units and the spread of costs. With slacks w = 1 − cᵀs,
w' = 1 − dᵀs, q = cap − R and multipliers λ, λ', μ, z, a Newton step for the target products τ solves

    (M + Uᵀ W U) ds = rhs,      M_k = diag(z/s) + (λ/w) c cᵀ + (λ'/w') d dᵀ,
                                W   = diag(ω) + e·11ᵀ,   ω_i = h_i + μ_i/q_i   (h, e: the Hessian of f)
    rhs_l = −u_l (g_i + τ_q/q_i) − c_l τ_w/w − d_l τ_w'/w' + τ_s/s_l .

M is inverted sender by sender (diagonal plus rank two), so only the S×S matrix K = U M⁻¹ Uᵀ has to be formed.
With p = W dR the step is ds = M⁻¹(rhs − Uᵀp), and (I + WK) p = W b for b = U M⁻¹ rhs. We symmetrise it with
V = diag(√ω): E = I + V K V is positive definite with smallest eigenvalue ≥ 1, and the rank-one part of W is
put back by one more solve (`newton.py`).

If links have limits, there is s ≤ top too. Its slack t = top − s and multiplier y add y/t to the diagonal of M and
−τ_t/t to the right side. If links have prices, π_l·s_l is part of the objective, and the right side has −π_l.

The barrier weighs receivers by their links. With equal weights the central path would keep all products equal, and a
cap that sums up 20,000 links would be 20,000 times closer to binding than they are. Steps were then cut short at caps.

Links are laid out by groups of senders with equally many links, slot by slot: with m senders of n links, the
j-th link of the group's k-th sender stands at `first_link + j·m + k`. So every loop over a group runs over
contiguous numbers and is vectorised. A loop over the two or three links of one sender would not be. A row of
`groups` is (first sender, senders, first link, links per sender, rows).

Steps are kept relative, ρ = ds/s, σ = dz/z and so on (`pairs.py`). The ratio tests are then plain minima, the
second-order products of the predictor are ρ(1 + ρ), and a loop over links needs no division. The primal iterate
stays feasible except for rounding, which `finish.py` repairs. So its answer can be used whenever the loop stops,
also at a time limit. The method is Mehrotra's predictor–corrector (SIAM J. Optim. 2(4), 1992) with Gondzio's
centrality correctors (Comput. Optim. Appl. 6, 1996) while steps are short, since they reuse the factors.
"""

import math
from typing import NamedTuple

import numpy as np

from solver.arrays import FloatArray
from solver.kernels.clock import is_over
from solver.kernels.compile import compiled, inlined, lean
from solver.kernels.copying import copy_into
from solver.kernels.layout import Effort, Pairs, Point, Reduced, Step
from solver.kernels.newton import Factors, direction, factorise, new_factors, row_sums, target_rhs
from solver.kernels.objective import curvature, gradient
from solver.kernels.pairs import affine_target, aim, aim_back, as_pairs, move, multiply, step_lengths

__all__ = ["drop_nonbasic", "iterate"]

_MAX_STALLED = 15
# Between two looks at the clock there are about so many links × iterations; factoring looks at it too.
_WORK_BETWEEN_LOOKS = 20_000
# So many multiplications take as long as a link in an iteration.
_MULTIPLICATIONS = 50
# Slacks above this share of their right-hand side are recomputed from s; smaller ones follow their own steps.
_WIDE = 1e-6


@lean
def _count(reduced: Reduced, n_senders: int) -> tuple[float, int]:
    """How many complementary pairs there are, by weight, and the first sender with two rows."""
    n_pairs = float(reduced.u.size + n_senders + reduced.top.size)
    for i in range(reduced.weight.size):
        n_pairs += reduced.weight[i]
    two_from = n_senders
    groups = reduced.groups.view(np.int64)
    for t in range(groups.shape[0]):
        if groups[t, 4] == 2:
            n_pairs += groups[t, 1]
            two_from = min(two_from, groups[t, 0])
    return n_pairs, two_from


class _Vectors(NamedTuple):
    """R, x, g and h of the receivers, the sums of the rows, and the relative errors of the slacks q and w."""

    R: FloatArray
    x: FloatArray
    g: FloatArray
    h: FloatArray
    used: FloatArray
    off_q: FloatArray
    off_w: FloatArray


class _Steps(NamedTuple):
    """The products of the pairs, and two relative steps with the products that they aim at."""

    products: FloatArray
    rho: Pairs
    trial_rho: Pairs
    own: Pairs
    trial_own: Pairs


@compiled
def _new_vectors(n_senders: int, n_receivers: int) -> _Vectors:
    """Room for vectors of this size."""
    receivers = np.zeros((5, n_receivers))
    rows = np.zeros((2, 2, n_senders))
    return _Vectors(receivers[0], receivers[1], receivers[2], receivers[3], rows[0], receivers[4], rows[1])


@compiled
def _new_steps(point: Point) -> _Steps:
    """Room for steps from this point."""
    n_links, n_senders, n_receivers = point.s.size, point.lam.shape[1], point.q.size
    flat = np.zeros((5, point.primal.size))
    return _Steps(
        flat[0],
        as_pairs(flat[1], n_links, n_senders, n_receivers),
        as_pairs(flat[2], n_links, n_senders, n_receivers),
        as_pairs(flat[3], n_links, n_senders, n_receivers),
        as_pairs(flat[4], n_links, n_senders, n_receivers),
    )


@lean
def drop_nonbasic(reduced: Reduced, point: Point, s: FloatArray) -> None:
    """Set to zero the small s_l that are zero at the optimum, judged by the multipliers.

    An interior point never reaches its bounds. But in each product s·z one factor tends to zero and the other does not.
    If z, relative to what the sender's rows charge for the link, is larger than s, then the link carries nothing.
    """
    for t in range(reduced.groups.shape[0]):
        k0, m, l0, n, _ = reduced.groups[t]
        for j in range(n):
            for k in range(m):
                l = l0 + j * m + k
                charge = reduced.c[l] * point.lam[0, k0 + k] + reduced.d[l] * point.lam[1, k0 + k]
                if reduced.pi.size > 0:
                    charge += reduced.pi[l]
                if reduced.top.size > 0:
                    charge += point.y[l]
                if s[l] < 1e-3 and point.z[l] > s[l] * charge:
                    s[l] = 0.0


@lean
def _row_gap(reduced: Reduced, lam: FloatArray, v: FloatArray) -> float:
    """Σ_k of what sender k can earn at values v: λ'_k + max_l ((v_i u_l − π_l − d_l λ'_k)/c_l)₊.

    With limits it is also at most λ'_k + λ_k + Σ_l top_l·(v_i u_l − π_l − d_l λ'_k − c_l λ_k)₊.
    """
    groups, receiver = reduced.groups, reduced.receiver
    u, c, d, pi, top = reduced.u, reduced.c, reduced.d, reduced.pi, reduced.top
    total = 0.0
    for t in range(groups.shape[0]):
        k0, m, l0, n, _ = groups[t]
        for k in range(m):
            second = lam[1, k0 + k]
            first = lam[0, k0 + k]
            price = 0.0
            summed = first if top.size > 0 else math.inf
            for j in range(n):
                l = l0 + j * m + k
                value = v[receiver[l]] * u[l] - d[l] * second
                if pi.size > 0:
                    value -= pi[l]
                price = max(price, value / c[l])
                if top.size > 0:
                    summed += top[l] * max(value - c[l] * first, 0.0)
            total += min(price, summed) + second
    return total


@inlined
def _curved(
    x: FloatArray,
    q: FloatArray,
    off_q: FloatArray,
    rho_q: FloatArray,
    g: FloatArray,
    h: FloatArray,
    rank_one: float,
    primal: float,
    dual: float,
) -> tuple[float, float]:
    """Shorten a step where the gradient will not follow its linear model.

    A receiver's data may not fall by more than 70 % at once, since its term grows like x^(−1/2). Where the model
    changes the gradient by much, primal and dual step get the same length, since both depend on that change.
    """
    total = 0.0
    for i in range(x.size):
        total += (off_q[i] - rho_q[i]) * q[i]
    bend = 0.0
    for i in range(x.size):
        dR = (off_q[i] - rho_q[i]) * q[i]
        if dR < 0.0:
            primal = min(primal, 0.7 * x[i] / -dR)
        if g[i] < 0.0:
            bend = max(bend, abs(h[i] * dR + rank_one * total) / -g[i])
    if bend * max(primal, dual) > 0.1:
        primal = min(primal, dual)
        dual = primal
    return primal, dual


@inlined
def _newton_step(
    reduced: Reduced,
    point: Point,
    f: Factors,
    g: FloatArray,
    own: Pairs,
    off_w: FloatArray,
    off_q: FloatArray,
    two_from: int,
    rho: Pairs,
) -> None:
    """Write the relative step ρ towards the products `own`, with the factors at hand.

    The slacks follow from the factors' small systems: dw/w = off − y/λ for the rows, dq/q = off − dR/q for receivers.
    """
    target_rhs(reduced, point, f, g, own, off_w, off_q)
    direction(reduced, f, rho.s)
    y = f.y
    for k in range(y.shape[1]):
        rho.w[0, k] = off_w[0, k] - y[0, k] / point.lam[0, k]
    for k in range(two_from, y.shape[1]):
        rho.w[1, k] = off_w[1, k] - y[1, k] / point.lam[1, k]
    for i in range(f.dR.size):
        rho.q[i] = off_q[i] - f.dR[i] / point.q[i]
    for l in range(rho.t.size):
        rho.t[l] = -rho.s[l] * point.s[l] / point.t[l]


@inlined
def _compare_slacks(
    reduced: Reduced,
    point: Point,
    R: FloatArray,
    x: FloatArray,
    used: FloatArray,
    off_w: FloatArray,
    off_q: FloatArray,
) -> None:
    """Recompute R, x = base + R and the rows from s; renew wide slacks, write the relative errors of narrow ones.

    Where a constraint binds, 1 − cᵀs is mostly rounding, and the slack that followed its own steps is more accurate.
    Their difference, relative to the slack, goes into the next right side, so that s is corrected.
    """
    R[:] = 0.0
    for l in range(point.s.size):
        R[reduced.receiver[l]] += reduced.u[l] * point.s[l]
    for i in range(R.size):
        x[i] = reduced.base[i] + R[i]
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


@inlined
def _gap(reduced: Reduced, point: Point, R: FloatArray, used: FloatArray, g: FloatArray, v: FloatArray) -> float:
    """The gap of the certificate, with the rows' own multipliers (`certificate.py` explains it).

    Where s breaks a constraint by rounding, the gap grows by what the repair may cost.
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
    for l in range(reduced.pi.size):
        gap += reduced.pi[l] * point.s[l]
    return gap + _row_gap(reduced, point.lam, v)


@compiled
def iterate(
    step: Step,
    reduced: Reduced,
    point: Point,
    tolerance: float,
    effort: Effort,
    best_s: FloatArray,
    best_mu: FloatArray,
) -> tuple[int, bool]:
    """Iterate until the duality gap is below `tolerance` (absolute), or as far as the effort goes.

    Moves `point` in place and keeps the best s and μ seen. Returns (iterations, whether it was in time).
    """
    n_senders, n_receivers = point.lam.shape[1], reduced.room.size
    vectors, steps = _new_vectors(n_senders, n_receivers), _new_steps(point)
    f = new_factors(reduced.u.size, n_senders, n_receivers)
    return _iterate(step, reduced, point, tolerance, effort, best_s, best_mu, vectors, steps, f)


@lean
def _iterate(
    step: Step,
    reduced: Reduced,
    point: Point,
    tolerance: float,
    effort: Effort,
    best_s: FloatArray,
    best_mu: FloatArray,
    vectors: _Vectors,
    steps: _Steps,
    f: Factors,
) -> tuple[int, bool]:
    """`iterate` in the room given."""
    R, x, g, h, used, off_q, off_w = vectors
    products, rho, trial_rho, own, trial_own = steps
    n_senders, n_receivers = used.shape[1], R.size
    n_pairs, two_from = _count(reduced, n_senders)
    second = n_receivers + reduced.u.size + n_senders
    missing = (second, second + two_from)
    best, stalled, done, work = math.inf, 0, 0, 0
    while True:
        _compare_slacks(reduced, point, R, x, used, off_w, off_q)
        gradient(x, step.D_hat, step.G, step.gamma, g)
        gap = _gap(reduced, point, R, used, g, f.b)
        stalled += 1
        if gap < best:
            best, stalled = gap, 0
            copy_into(best_s, point.s)
            copy_into(best_mu, point.mu)
        # A gap that is not a number ends the loop as well.
        if not (gap > tolerance and stalled < _MAX_STALLED and done < effort.max_iterations):
            return done, True
        if (work >= _WORK_BETWEEN_LOOKS or done == 0) and is_over(effort):
            return done, False
        work = work % _WORK_BETWEEN_LOOKS + reduced.u.size + n_receivers**3 // (6 * _MULTIPLICATIONS)
        done += 1
        mean = multiply(point.primal, point.dual, reduced.weight, products) / n_pairs
        rank_one = curvature(x, step.D_hat, step.G, step.gamma, h)
        if not factorise(reduced, point, two_from, h, rank_one, effort, f):
            return done, False
        own.flat[:] = 0.0
        _newton_step(reduced, point, f, g, own, off_w, off_q, two_from, rho)
        # Products far below what the tolerance needs would only lose digits.
        target = max(affine_target(products, rho.flat, reduced.weight, mean, n_pairs), 0.1 * tolerance / n_pairs)
        aim(products, rho.flat, target, missing, own.flat)
        _newton_step(reduced, point, f, g, own, off_w, off_q, two_from, rho)
        primal, dual = step_lengths(rho.flat, own.flat)
        if min(primal, dual) <= 0.9:
            # Centrality corrector: where steps are short, one more solve with the same factors may lengthen them.
            far, far_dual = min(1.0, 1.5 * primal + 0.1), min(1.0, 1.5 * dual + 0.1)
            aim_back(products, rho.flat, own.flat, far, far_dual, target, missing, trial_own.flat)
            _newton_step(reduced, point, f, g, trial_own, off_w, off_q, two_from, trial_rho)
            far, far_dual = step_lengths(trial_rho.flat, trial_own.flat)
            if far + far_dual >= 1.05 * (primal + dual):
                primal, dual = far, far_dual
                rho, trial_rho = trial_rho, rho
                own, trial_own = trial_own, own
        primal, dual = _curved(x, point.q, off_q, rho.q, g, h, rank_one, primal, dual)
        move(point.primal, point.dual, rho.flat, own.flat, primal, dual)
