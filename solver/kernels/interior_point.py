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

from typing import NamedTuple

import numpy as np

from solver.arrays import FloatArray
from solver.kernels.compile import compiled
from solver.kernels.layout import Pairs, Point, Reduced, Step
from solver.kernels.newton import Factors, direction, factorise, new_factors, row_sums, target_rhs
from solver.kernels.objective import curvature, gradient
from solver.kernels.pairs import affine_target, aim, aim_at_zero, aim_back, move, multiply, new_pairs, step_lengths

__all__ = ["drop_nonbasic", "iterate"]

_MAX_STALLED = 15
# Slacks above this share of their right-hand side are recomputed from s; smaller ones follow their own steps.
_WIDE = 1e-6


class _Work(NamedTuple):
    """Arrays that the iterations reuse.

    R and `used` are what the receivers get and what the senders' rows add up to; `off_w` and `off_q` are the relative
    errors of the slacks. g and h are the gradient and the diagonal part of the Hessian. `n_pairs` counts the
    complementary pairs, and senders from `two_from` on have two rows.
    """

    R: FloatArray
    used: FloatArray
    off_w: FloatArray
    off_q: FloatArray
    g: FloatArray
    h: FloatArray
    rhs: FloatArray
    products: Pairs
    factors: Factors
    n_pairs: int
    two_from: int


@compiled
def _new_work(reduced: Reduced, n_senders: int) -> _Work:
    """Room for the iterations on a reduced problem."""
    n_links = reduced.u.size
    n_receivers = reduced.room.size
    n_pairs = n_links + n_senders + n_receivers
    two_from = n_senders
    for t in range(reduced.groups.shape[0]):
        if reduced.groups[t, 4] == 2:
            n_pairs += reduced.groups[t, 1]
            two_from = min(two_from, reduced.groups[t, 0])
    return _Work(
        np.empty(n_receivers),
        np.empty((2, n_senders)),
        np.zeros((2, n_senders)),
        np.zeros(n_receivers),
        np.empty(n_receivers),
        np.empty(n_receivers),
        np.empty(n_links),
        new_pairs(n_links, n_senders, n_receivers),
        new_factors(n_links, n_senders, n_receivers),
        n_pairs,
        two_from,
    )


@compiled
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
def _curved(reduced: Reduced, point: Point, work: _Work, rho: Pairs, primal: float, dual: float) -> tuple[float, float]:
    """Shorten a step where the gradient will not follow its linear model.

    A receiver's data may not fall by more than 70 % at once, since its term grows like x^(−1/2). Where the model
    changes the gradient by much, primal and dual step get the same length, since both depend on that change.
    """
    R, g, h = work.R, work.g, work.h
    rank_one = work.factors.rank[0]
    total = 0.0
    for i in range(R.size):
        total += (work.off_q[i] - rho.q[i]) * point.q[i]
    bend = 0.0
    for i in range(R.size):
        dR = (work.off_q[i] - rho.q[i]) * point.q[i]
        if dR < 0.0:
            primal = min(primal, 0.7 * (reduced.base[i] + R[i]) / -dR)
        if g[i] < 0.0:
            bend = max(bend, abs(h[i] * dR + rank_one * total) / -g[i])
    if bend * max(primal, dual) > 0.1:
        primal = min(primal, dual)
        dual = primal
    return primal, dual


@compiled
def _newton_step(reduced: Reduced, point: Point, work: _Work, own: Pairs, rho: Pairs) -> None:
    """Write the relative step ρ towards the products `own`, with the factors at hand.

    The slacks follow from the factors' small systems: dw/w = off − y/λ for the rows, dq/q = off − dR/q for receivers.
    """
    target_rhs(reduced, point, work.factors, work.g, own, work.off_w, work.off_q, work.rhs)
    direction(reduced, work.factors, work.rhs, rho.s)
    y, dR = work.factors.y, work.factors.dR
    for k in range(y.shape[1]):
        rho.w[0, k] = work.off_w[0, k] - y[0, k] / point.lam[0, k]
    for k in range(work.two_from, y.shape[1]):
        rho.w[1, k] = work.off_w[1, k] - y[1, k] / point.lam[1, k]
    for i in range(dR.size):
        rho.q[i] = work.off_q[i] - dR[i] / point.q[i]


@compiled
def _compare_slacks(reduced: Reduced, point: Point, work: _Work) -> None:
    """Recompute R and the rows from s, renew the wide slacks, and write the relative errors of the narrow ones.

    Where a constraint binds, 1 − cᵀs is mostly rounding, and the slack that followed its own steps is more accurate.
    Their difference, relative to the slack, goes into the next right side, so that s is corrected.
    """
    R, used = work.R, work.used
    R[:] = 0.0
    for l in range(point.s.size):
        R[reduced.receiver[l]] += reduced.u[l] * point.s[l]
    for i in range(R.size):
        slack = reduced.room[i] - R[i]
        if slack > _WIDE * reduced.room[i]:
            point.q[i] = slack
            work.off_q[i] = 0.0
        else:
            work.off_q[i] = (slack - point.q[i]) / point.q[i]
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
                work.off_w[r, k] = 0.0
            else:
                work.off_w[r, k] = (slack - point.w[r, k]) / point.w[r, k]


@compiled
def _gap(reduced: Reduced, point: Point, work: _Work) -> float:
    """The gap of the certificate, with the rows' own multipliers (`certificate.py` explains it).

    Where s breaks a constraint by rounding, the gap grows by what the repair may cost.
    """
    R, used, g, v = work.R, work.used, work.g, work.factors.b
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
def _linearise(step: Step, reduced: Reduced, point: Point, work: _Work) -> tuple[float, float]:
    """Write the products, h and ω at the iterate; returns the mean product and the Hessian's e."""
    mean = multiply(point, work.products) / work.n_pairs
    rank_one = curvature(reduced.base + work.R, step.D_hat, step.G, step.gamma, work.h)
    for i in range(work.h.size):
        work.factors.omega[i] = work.h[i] + point.mu[i] / point.q[i]
    return mean, rank_one


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
    whether more iterations could help). A further call with the same point continues where this one stopped.
    """
    n_links, n_senders, n_receivers = reduced.u.size, point.lam.shape[1], reduced.room.size
    work = _new_work(reduced, n_senders)
    rho, trial_rho = new_pairs(n_links, n_senders, n_receivers), new_pairs(n_links, n_senders, n_receivers)
    own, trial_own = new_pairs(n_links, n_senders, n_receivers), new_pairs(n_links, n_senders, n_receivers)
    stalled = 0
    done = 0
    while True:
        _compare_slacks(reduced, point, work)
        gradient(reduced.base + work.R, step.D_hat, step.G, step.gamma, work.g)
        gap = _gap(reduced, point, work)
        if gap < best:
            best = gap
            stalled = 0
            best_s[:] = point.s
            best_mu[:] = point.mu
        else:
            stalled += 1
        # `not (gap > …)`, so that a gap that is not a number ends the loop as well.
        if not (gap > tolerance) or stalled >= _MAX_STALLED:
            return done, best, False
        if done >= max_iterations:
            return done, best, True
        done += 1

        mean, rank_one = _linearise(step, reduced, point, work)
        factorise(reduced, point, work.two_from, rank_one, work.factors)
        aim_at_zero(own)
        _newton_step(reduced, point, work, own, rho)
        # Products far below what the tolerance needs would only lose digits.
        target = max(affine_target(work.products, rho, mean, work.n_pairs), 0.1 * tolerance / work.n_pairs)
        aim(work.products, rho, target, work.two_from, own)
        _newton_step(reduced, point, work, own, rho)
        primal, dual = step_lengths(rho, own)
        if min(primal, dual) <= 0.9:
            # Centrality corrector: where steps are short, one more solve with the same factors may lengthen them.
            far, far_dual = min(1.0, 1.5 * primal + 0.1), min(1.0, 1.5 * dual + 0.1)
            aim_back(work.products, rho, own, far, far_dual, target, work.two_from, trial_own)
            _newton_step(reduced, point, work, trial_own, trial_rho)
            far, far_dual = step_lengths(trial_rho, trial_own)
            if far + far_dual >= 1.05 * (primal + dual):
                primal, dual = far, far_dual
                rho, trial_rho = trial_rho, rho
                own, trial_own = trial_own, own
        primal, dual = _curved(reduced, point, work, rho, primal, dual)
        move(point, rho, own, primal, dual)
