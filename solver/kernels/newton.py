"""One Newton step of the interior-point method: it assembles and solves the linear system.

The formulas are those of `interior_point`'s docstring. M is inverted sender by sender (diagonal plus rank one or two),
so only the S×S matrix K = U M⁻¹ Uᵀ has to be formed and factored.
"""

import math
from typing import NamedTuple

import numpy as np

from solver.arrays import FloatArray, IndexArray
from solver.kernels.clock import is_over
from solver.kernels.compile import compiled, inlined, lean
from solver.kernels.copying import copy_into
from solver.kernels.layout import Effort, Pairs, Point, Reduced

__all__ = ["Factors", "direction", "factorise", "new_factors", "row_sums", "target_rhs"]

# Between two looks at the clock there are about so many multiplications: a millisecond or two.
_WORK_BETWEEN_LOOKS = 2_000_000


class Factors(NamedTuple):
    """The results of a factorisation that the solves after it need, and scratch arrays.

    `inv_z` is 1/z and `inverse` s/z, or with limits 1/(z + y·s/t) and s times that. `ai` and `bi` turn a right side
    into the prices of a sender's rows, E is the Cholesky factor, `root` is √ω, `h_one` is (I + ΩK)⁻¹1 and `rank` holds
    e and 1ᵀK h. The rest is scratch.
    """

    inv_z: FloatArray
    inverse: FloatArray
    ci: FloatArray
    di: FloatArray
    ai: FloatArray
    bi: FloatArray
    give: FloatArray
    scale: FloatArray
    K: FloatArray
    E: FloatArray
    omega: FloatArray
    root: FloatArray
    h_one: FloatArray
    rank: FloatArray
    b: FloatArray
    p: FloatArray
    y: FloatArray
    dR: FloatArray
    rhs: FloatArray


@compiled
def new_factors(n_links: int, n_senders: int, n_receivers: int) -> Factors:
    """Room for the factors of problems of this size, in few blocks: in small problems each allocation would show."""
    links = np.zeros((7, n_links))
    receivers = np.empty((6, n_receivers))
    squares = np.empty((2, n_receivers, n_receivers))
    return Factors(
        links[0],
        links[1],
        links[2],
        links[3],
        links[4],
        links[5],
        np.ones((2, n_senders)),
        np.empty(n_senders),
        squares[0],
        squares[1],
        receivers[0],
        receivers[1],
        receivers[2],
        np.empty(2),
        receivers[3],
        receivers[4],
        np.zeros((2, n_senders)),
        receivers[5],
        links[6],
    )


@lean
def row_sums(groups: IndexArray, t: int, coefficient: FloatArray, x: FloatArray, out: FloatArray) -> None:
    """Add Σ_j coefficient·x over the links of every sender of group t to `out`."""
    k0, m, l0, n, _ = groups[t]
    for j in range(n):
        base = l0 + j * m
        for k in range(m):
            out[k0 + k] += coefficient[base + k] * x[base + k]


@lean
def _factor(E: FloatArray, effort: Effort) -> bool:
    """Cholesky factor of a positive definite matrix, in place, lower triangle; False if time is over before its end."""
    work = 0
    for j in range(E.shape[0]):
        work += j * (E.shape[0] - j)
        if work >= _WORK_BETWEEN_LOOKS:
            work = 0
            if is_over(effort):
                return False
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
    return True


@lean
def _solve(E: FloatArray, x: FloatArray) -> None:
    """Solve E Eᵀ x = b in place: x holds b, E is the factor that `_factor` wrote."""
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


@inlined
def _assemble(reduced: Reduced, effort: Effort, f: Factors) -> bool:
    """Write the row prices' coefficients into `ai` and `bi`, and the lower triangle of K = U M⁻¹ Uᵀ.

    With e = s/z and C_k = diag(w/λ, w'/λ') + [c d]ᵀ diag(e) [c d], Woodbury gives
    M_k⁻¹ = diag(e) − diag(e) [c d] C_k⁻¹ [c d]ᵀ diag(e).  Given are ci = e·c and di = e·d.
    [ai bi] = diag(e) [c d] C_k⁻¹, so that sums of ai·x and bi·x are the prices C_k⁻¹ [c d]ᵀ diag(e) x of its rows.
    Returns False if time is over before the end.
    """
    groups, K = reduced.groups, f.K
    for i in range(K.shape[0]):
        for j in range(i + 1):
            K[i, j] = 0.0
    for t in range(groups.shape[0]):
        whole = (
            _assemble_two_rows(reduced, effort, f, t)
            if groups[t, 4] == 2
            else (_assemble_one_row(reduced, effort, f, t))
        )
        if not whole:
            return False
    return True


@inlined
def _assemble_one_row(reduced: Reduced, effort: Effort, f: Factors, t: int) -> bool:
    """`_assemble` for a group whose senders have one row."""
    receiver, u, c = reduced.receiver, reduced.u, reduced.c
    inverse, give, ci, ai, scale, K = f.inverse, f.give, f.ci, f.ai, f.scale, f.K
    k0, m, l0, n, _ = reduced.groups[t]
    for k in range(k0, k0 + m):
        scale[k] = give[0, k]
    row_sums(reduced.groups, t, ci, c, scale)
    for k in range(k0, k0 + m):
        scale[k] = 1.0 / scale[k]
    work = 0.0
    for j in range(n):
        work += m * (j + 1)
        if work >= _WORK_BETWEEN_LOOKS / 10:
            work = 0.0
            if is_over(effort):
                return False
        base = l0 + j * m
        for k in range(m):
            ai[base + k] = ci[base + k] * scale[k0 + k]
        for k in range(m):
            l = base + k
            # 1 − e·c²/C, the part of link l that its sender's row leaves free.
            rest = 1.0 - ai[l] * c[l]
            if rest < 0.5:
                # One link dominates its sender: sum the others, since the difference would lose digits.
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
    return True


class _Rows(NamedTuple):
    """The rows c and d of all links, e = s/z, and e·c and e·d."""

    c: FloatArray
    d: FloatArray
    inverse: FloatArray
    ci: FloatArray
    di: FloatArray


@inlined
def _assemble_two_rows(reduced: Reduced, effort: Effort, f: Factors, t: int) -> bool:
    """`_assemble` for a group whose senders have two rows.

    Lagrange's identity writes det C, and each link's e·C⁻¹[c d]ᵀ times det C, in the cross products c_l d_m − c_m d_l.
    So no digits cancel that do not cancel in the problem itself.
    """
    receiver, u, c, d = reduced.receiver, reduced.u, reduced.c, reduced.d
    inverse, give, ci, di, ai, bi, K = f.inverse, f.give, f.ci, f.di, f.ai, f.bi, f.K
    rows = _Rows(c, d, inverse, ci, di)
    k0, m, l0, n, _ = reduced.groups[t]
    work = 0.0
    for k in range(m):
        work += n * n
        if work >= _WORK_BETWEEN_LOOKS / 10:
            work = 0.0
            if is_over(effort):
                return False
        give_c = give[0, k0 + k]
        give_d = give[1, k0 + k]
        determinant = _determinant(rows, l0 + k, m, n, n, give_c, give_d)
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
                rest = _determinant(rows, l0 + k, m, n, j, give_c, give_d) / determinant
            K[receiver[l], receiver[l]] += u[l] * u[l] * inverse[l] * rest
            for other in range(j):
                l2 = l0 + other * m + k
                K[receiver[l], receiver[l2]] -= u[l] * u[l2] * (ai[l] * ci[l2] + bi[l] * di[l2])
    return True


@inlined
def _determinant(rows: _Rows, first: int, m: int, n: int, without: int, give_c: float, give_d: float) -> float:
    """Det C_k by Lagrange's identity, for the sender with the n links first + j·m.

    Without the link in slot `without`; n leaves none out.
    """
    c, d, inverse, ci, di = rows
    cc = 0.0
    dd = 0.0
    crossed = 0.0
    for j in range(n):
        l = first + j * m
        if j != without:
            cc += ci[l] * c[l]
            dd += di[l] * d[l]
            for other in range(j):
                if other != without:
                    l2 = first + other * m
                    cross = c[l] * d[l2] - c[l2] * d[l]
                    crossed += inverse[l] * inverse[l2] * cross * cross
    return give_c * give_d + give_c * dd + give_d * cc + crossed


@lean
def _row_prices(groups: IndexArray, ai: FloatArray, bi: FloatArray, x: FloatArray, y: FloatArray) -> None:
    """Write the prices of every sender's rows for the right side x into y[0] and y[1]."""
    y[:] = 0.0
    for t in range(groups.shape[0]):
        row_sums(groups, t, ai, x, y[0])
        if groups[t, 4] == 2:
            row_sums(groups, t, bi, x, y[1])


@lean
def _take_rows(groups: IndexArray, c: FloatArray, d: FloatArray, y: FloatArray, x: FloatArray) -> None:
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


@lean
def factorise(
    reduced: Reduced, point: Point, two_from: int, h: FloatArray, rank_one: float, effort: Effort, f: Factors
) -> bool:
    """Fill the factors for the iterate; h and `rank_one` are the diagonal and the rank-one part e of the Hessian.

    Senders from `two_from` on have two rows. Returns False if time is over before the end.
    """
    n_receivers = f.omega.size
    if point.t.size > 0:
        for l in range(point.s.size):
            f.inv_z[l] = 1.0 / (point.z[l] + point.y[l] * point.s[l] / point.t[l])
            f.inverse[l] = point.s[l] * f.inv_z[l]
    else:
        for l in range(point.s.size):
            f.inv_z[l] = 1.0 / point.z[l]
            f.inverse[l] = point.s[l] * f.inv_z[l]
    for l in range(point.s.size):
        f.ci[l] = reduced.c[l] * f.inverse[l]
        f.di[l] = reduced.d[l] * f.inverse[l]
    for k in range(f.scale.size):
        f.give[0, k] = point.w[0, k] / point.lam[0, k]
    for k in range(two_from, f.scale.size):
        f.give[1, k] = point.w[1, k] / point.lam[1, k]
    if not _assemble(reduced, effort, f):
        return False
    for i in range(n_receivers):
        f.omega[i] = h[i] + point.mu[i] / point.q[i]
        f.root[i] = math.sqrt(f.omega[i])
        f.h_one[i] = 1.0 / f.root[i]
    for i in range(n_receivers):
        for j in range(i):
            f.E[i, j] = f.root[i] * f.K[i, j] * f.root[j]
            f.K[j, i] = f.K[i, j]
        f.E[i, i] = 1.0 + f.omega[i] * f.K[i, i]
    if not _factor(f.E, effort):
        return False
    # h = (I + ΩK)⁻¹1 = V E⁻¹ V⁻¹ 1: in this form no large numbers cancel when a cap binds.
    _solve(f.E, f.h_one)
    ones_K_h = 0.0
    for i in range(n_receivers):
        f.h_one[i] *= f.root[i]
        for j in range(n_receivers):
            ones_K_h += f.K[j, i] * f.h_one[i]
    f.rank[0] = rank_one
    f.rank[1] = max(ones_K_h, 0.0)
    return True


@lean
def direction(reduced: Reduced, f: Factors, rho: FloatArray) -> None:
    """Solve (M + UᵀWU) ds = f.rhs with the factors at hand; writes ρ = ds/s, f.dR = U ds and f.y = (λ/w)·cᵀds.

    The changes of the slacks come from the small systems (dR from p = W dR, cᵀds from C_k). A sum over ds would lose
    all its digits to cancellation when a constraint binds.
    """
    groups, receiver, u = reduced.groups, reduced.receiver, reduced.u
    b, p, rhs = f.b, f.p, f.rhs
    _row_prices(groups, f.ai, f.bi, rhs, f.y)
    copy_into(rho, rhs)
    _take_rows(groups, reduced.c, reduced.d, f.y, rho)
    b[:] = 0.0
    for l in range(u.size):
        b[receiver[l]] += u[l] * f.inverse[l] * rho[l]
    for i in range(b.size):
        p[i] = f.root[i] * b[i]
    _solve(f.E, p)
    total = 0.0
    for i in range(b.size):
        total += p[i] / f.root[i]
        p[i] *= f.root[i]
    shift = f.rank[0] * total / (1.0 + f.rank[0] * f.rank[1])
    for i in range(b.size):
        f.dR[i] = (p[i] + shift * (f.h_one[i] - 1.0)) / f.omega[i]
        p[i] += shift * f.h_one[i]
    for l in range(u.size):
        rho[l] = rhs[l] - u[l] * p[receiver[l]]
    _row_prices(groups, f.ai, f.bi, rho, f.y)
    _take_rows(groups, reduced.c, reduced.d, f.y, rho)
    for l in range(u.size):
        rho[l] *= f.inv_z[l]


@inlined
def target_rhs(
    reduced: Reduced,
    point: Point,
    f: Factors,
    g: FloatArray,
    own: Pairs,
    off_w: FloatArray,
    off_q: FloatArray,
) -> None:
    """Write f.rhs for the products aimed at, relative to the present ones (`own`).

    `off_w` and `off_q` are the relative errors of the slacks w and q.
    """
    p, y, rhs = f.p, f.y, f.rhs
    for i in range(g.size):
        p[i] = g[i] + (own.q[i] - off_q[i]) * point.mu[i]
    for l in range(rhs.size):
        rhs[l] = own.s[l] * point.z[l] - reduced.u[l] * p[reduced.receiver[l]]
    for l in range(reduced.pi.size):
        rhs[l] -= reduced.pi[l]
    for l in range(point.y.size):
        rhs[l] -= own.t[l] * point.y[l]
    for r in range(2):
        for k in range(y.shape[1]):
            y[r, k] = (own.w[r, k] - off_w[r, k]) * point.lam[r, k]
    _take_rows(reduced.groups, reduced.c, reduced.d, y, rhs)
