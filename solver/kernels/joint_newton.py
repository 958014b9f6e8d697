"""One Newton step of the interior-point method for a whole horizon.

With y = all fractions, R = U y what arrives and q the data held after each step, a step solves

    (M + Uᵀ W U) dy = r,    M = diag(z/y) + rows of senders in a step + rows of pairs over all steps,
                            W = diag(Ω) + Cᵀ H C,   Ω = μ/(θ − R),   dq = C dR .

H_t is the Hessian of f_t in the data held (diagonal plus rank one) plus ν/(room − ΣR) at the end of a segment.

M is inverted sender by sender: without the rows of pairs it is a block Q_t⁻¹ for each step, and with them
M⁻¹ = Q − Q J Q, J = (diag(p/c) + Σ_t Q_t)⁻¹. Then K = U M⁻¹ Uᵀ is a matrix of S·T rows. With W = FᵀF,
F = (Lᵀ C; √Ω) and H = L Lᵀ, the step is dy = M⁻¹(r − Uᵀp), p = Fᵀ (I + F K Fᵀ)⁻¹ F U M⁻¹ r. The matrix in brackets
has no eigenvalue below 1. Sums that could lose digits where rows bind are formed without subtraction.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from solver.arrays import FloatArray, IntArray
from solver.kernels.clock import is_over
from solver.kernels.compile import compiled, compiler
from solver.kernels.copying import copy_into
from solver.kernels.joint import Joint
from solver.kernels.joint_point import Iterate
from solver.kernels.joint_rows import Rows
from solver.kernels.layout import Effort

__all__ = ["Factors", "direction", "factorise", "new_factors"]

# p/c of a row that a pair does not have.
_LOOSE = 1e300

# Sums in any order, so that a loop over a row is vectorised.
_summing = compiler(Path(__file__).parent, fastmath=frozenset({"reassoc", "contract"}))


class Factors(NamedTuple):
    """`Q` and `J` have blocks for each sender, from `starts` on: Q_t of every step, and G⁻¹.

    `E` is the Cholesky factor, `root` is √Ω and H the factors of the Hessian in the data held.
    """

    starts: IntArray
    Q: FloatArray
    J: FloatArray
    K: FloatArray
    E: FloatArray
    root: FloatArray
    H: FloatArray


@compiled
def new_factors(joint: Joint, rows: Rows) -> Factors:
    """Room for the factors."""
    T, S = rows.theta.shape
    K = joint.B.shape[1]
    starts = np.zeros(K + 1, np.int64)
    for k in range(K):
        starts[k + 1] = starts[k] + (joint.offsets[k + 1] - joint.offsets[k]) ** 2
    tight = 0
    for t in range(T):
        for i in range(S):
            if rows.theta[t, i] > 0.0:
                tight += 1
    n = T * S
    return Factors(
        starts,
        np.empty(T * starts[-1]),
        np.empty(starts[-1]),
        np.empty((n, n)),
        np.empty((n + tight, n + tight)),
        np.empty(n),
        np.empty((T, S, S)),
    )


@compiled
def _invert_one_row(e: FloatArray, c: FloatArray, give: float, Q: FloatArray) -> None:
    """(diag(1/e) + ccᵀ/give)⁻¹ without a difference of large numbers."""
    n = e.size
    total = give
    for i in range(n):
        total += e[i] * c[i] * c[i]
    for i in range(n):
        rest = give
        for j in range(n):
            if j != i:
                rest += e[j] * c[j] * c[j]
                Q[i, j] = -(e[i] * c[i]) * (e[j] * c[j]) / total
        Q[i, i] = e[i] * (rest / total)


@compiled
def _determinant(e: FloatArray, d: FloatArray, give: float, give_d: float, without: int) -> float:
    cc = 0.0
    dd = 0.0
    crossed = 0.0
    for i in range(e.size):
        if i != without:
            cc += e[i]
            dd += e[i] * d[i] * d[i]
            for j in range(i):
                if j != without:
                    crossed += e[i] * e[j] * (d[j] - d[i]) * (d[j] - d[i])
    return give * give_d + give * dd + give_d * cc + crossed


@compiled
def _invert_two_rows(e: FloatArray, d: FloatArray, give: float, give_d: float, Q: FloatArray) -> None:
    """(diag(1/e) + 11ᵀ/give + ddᵀ/give_d)⁻¹, by Lagrange's identity as in `solver.kernels.newton`."""
    n = e.size
    determinant = _determinant(e, d, give, give_d, -1)
    for j in range(n):
        along = give_d
        across = give * d[j]
        for m in range(n):
            along += e[m] * d[m] * (d[m] - d[j])
            across += e[m] * (d[j] - d[m])
        for i in range(n):
            if i != j:
                Q[i, j] = -e[i] * (e[j] * (along + d[i] * across) / determinant)
        Q[j, j] = e[j] * (_determinant(e, d, give, give_d, j) / determinant)


@compiled
def _invert(A: FloatArray) -> None:
    """The inverse of a small positive definite matrix, in place (Gauss–Jordan)."""
    n = A.shape[0]
    for k in range(n):
        pivot = 1.0 / A[k, k]
        A[k, k] = 1.0
        for j in range(n):
            A[k, j] *= pivot
        for i in range(n):
            if i != k:
                factor = A[i, k]
                A[i, k] = 0.0
                for j in range(n):
                    A[i, j] -= factor * A[k, j]


@compiled
def _block(f: Factors, k: int, n: int, t: int, T: int) -> FloatArray:
    at = T * f.starts[k] + t * n * n
    return f.Q[at : at + n * n].reshape(n, n)


@compiled
def _factor_sender(joint: Joint, rows: Rows, x: Iterate, z: Iterate, k: int, f: Factors) -> None:
    """Write Q_t of every step and (diag(p/c) + Σ Q_t)⁻¹ of sender k; adds its part to K."""
    T = rows.theta.shape[0]
    first, last = joint.offsets[k], joint.offsets[k + 1]
    n = last - first
    e = np.empty(n)
    coupled = False
    G = np.zeros((n, n))
    for t in range(T):
        Q = _block(f, k, n, t, T)
        d = rows.d[joint.segment[t], first:last]
        for i in range(n):
            e[i] = x.s[t, first + i] / z.s[t, first + i] if rows.most[t, first + i] > 0.0 else 0.0
        give = x.w[0, t, k] / z.w[0, t, k] if rows.kinds[0, t, k] else _LOOSE
        give_d = x.w[1, t, k] / z.w[1, t, k] if rows.kinds[1, t, k] else _LOOSE
        if rows.kinds[0, t, k] and rows.kinds[1, t, k]:
            _invert_two_rows(e, d, give, give_d, Q)
        elif rows.kinds[1, t, k]:
            _invert_one_row(e, d, give_d, Q)
        else:
            _invert_one_row(e, np.ones(n), give, Q)
        G += Q
    for i in range(n):
        if rows.once[first + i]:
            coupled = True
            G[i, i] += x.p[first + i] / z.p[first + i]
        else:
            G[i, i] += _LOOSE
    J = f.J[f.starts[k] : f.starts[k + 1]].reshape(n, n)
    if coupled:
        _invert(G)
        copy_into(J.ravel(), G.ravel())
    else:
        J[:, :] = 0.0
    _add_to_K(joint, rows, x, z, k, coupled, f)


@compiled
def _add_to_K(joint: Joint, rows: Rows, x: Iterate, z: Iterate, k: int, coupled: bool, f: Factors) -> None:
    """Add sender k's part of U M⁻¹ Uᵀ to the lower triangle of K."""
    T, S = rows.theta.shape
    first, last = joint.offsets[k], joint.offsets[k + 1]
    n = last - first
    receiver = joint.receiver[first:last]
    J = f.J[f.starts[k] : f.starts[k + 1]].reshape(n, n)
    if not coupled:
        for t in range(T):
            a = joint.a[joint.segment[t], first:last]
            Q = _block(f, k, n, t, T)
            for i in range(n):
                for j in range(n):
                    f.K[t * S + receiver[i], t * S + receiver[j]] += a[i] * Q[i, j] * a[j]
        return
    # Σ_{s≠t} Q_s + diag(p/c) without subtraction: what comes after t first.
    after = np.zeros((T + 1, n, n))
    for t in range(T - 1, -1, -1):
        after[t] = after[t + 1] + _block(f, k, n, t, T)
    before = np.zeros((n, n))
    for i in range(n):
        before[i, i] = x.p[first + i] / z.p[first + i] if rows.once[first + i] else _LOOSE
    Y = np.empty((T, n, n))
    for t in range(T):
        a = joint.a[joint.segment[t], first:last]
        Q = _block(f, k, n, t, T)
        for i in range(n):
            for j in range(n):
                value = 0.0
                for m in range(n):
                    value += Q[i, m] * J[m, j]
                Y[t, i, j] = value
        for i in range(n):
            for j in range(n):
                value = 0.0
                for m in range(n):
                    value += Y[t, i, m] * (before[m, j] + after[t + 1, m, j])
                f.K[t * S + receiver[i], t * S + receiver[j]] += a[i] * value * a[j]
        before += Q
        for s in range(t):
            Q2 = _block(f, k, n, s, T)
            a2 = joint.a[joint.segment[s], first:last]
            for i in range(n):
                for j in range(n):
                    value = 0.0
                    for m in range(n):
                        value += Y[t, i, m] * Q2[m, j]
                    f.K[t * S + receiver[i], s * S + receiver[j]] -= a[i] * value * a2[j]


@compiled
def factorise(
    joint: Joint,
    rows: Rows,
    x: Iterate,
    z: Iterate,
    curve: FloatArray,
    rank_one: FloatArray,
    effort: Effort,
    f: Factors,
) -> bool:
    """Fill the factors; curve[t, i] and rank_one[t] are the Hessian of step t's objective in the data held.

    False if time is over, or if a number is not finite.
    """
    T, S = rows.theta.shape
    f.K[:, :] = 0.0
    for k in range(joint.B.shape[1]):
        _factor_sender(joint, rows, x, z, k, f)
        if k % 64 == 63 and is_over(effort):
            return False
    n = T * S
    for i in range(n):
        for j in range(i):
            value = f.K[i, j] if i // S != j // S else 0.5 * (f.K[i, j] + f.K[j, i])
            f.K[i, j] = value
            f.K[j, i] = value
    for t in range(T):
        H = f.H[t]
        H[:, :] = rank_one[t]
        for i in range(S):
            H[i, i] += curve[t, i]
            f.root[t * S + i] = np.sqrt(z.q[t, i] / x.q[t, i]) if rows.theta[t, i] > 0.0 else 0.0
    for g in range(rows.ends.size):
        for i in range(S):
            if rows.room[g, i] > 0.0:
                f.H[rows.ends[g], i, i] += z.h[g, i] / x.h[g, i]
    for t in range(T):
        _factor_small(f.H[t])
    return _form_E(rows, f) and _factor(f.E, effort)


@compiled
def _factor_small(A: FloatArray) -> None:
    """Lower Cholesky factor in place; a zero pivot (no curvature) leaves a zero column."""
    n = A.shape[0]
    for j in range(n):
        pivot = A[j, j]
        for m in range(j):
            pivot -= A[j, m] * A[j, m]
        root = np.sqrt(max(pivot, 0.0))
        A[j, j] = root
        for i in range(j + 1, n):
            value = A[i, j]
            for m in range(j):
                value -= A[i, m] * A[j, m]
            A[i, j] = value / root if root > 0.0 else 0.0
        for i in range(j):
            A[i, j] = 0.0


@compiled
def _apply_F(rows: Rows, f: Factors, b: FloatArray, out: FloatArray) -> None:
    """F b: first Hᵀ of the cumulated b, then √Ω b of the rows that exist."""
    T, S = rows.theta.shape
    held = np.zeros(S)
    for t in range(T):
        for i in range(S):
            held[i] += b[t * S + i]
        for j in range(S):
            value = 0.0
            for i in range(j, S):
                value += f.H[t, i, j] * held[i]
            out[t * S + j] = value
    at = T * S
    for j in range(T * S):
        if rows.theta[j // S, j % S] > 0.0:
            out[at] = f.root[j] * b[j]
            at += 1


@compiled
def _apply_FT(rows: Rows, f: Factors, y: FloatArray, out: FloatArray) -> None:
    T, S = rows.theta.shape
    held = np.zeros(S)
    for t in range(T - 1, -1, -1):
        for i in range(S):
            for j in range(i + 1):
                held[i] += f.H[t, i, j] * y[t * S + j]
        for i in range(S):
            out[t * S + i] = held[i]
    at = T * S
    for j in range(T * S):
        if rows.theta[j // S, j % S] > 0.0:
            out[j] += f.root[j] * y[at]
            at += 1


@compiled
def _form_E(rows: Rows, f: Factors) -> bool:
    """Write I + F K Fᵀ into E; False if it is not finite."""
    n = f.K.shape[0]
    N = f.E.shape[0]
    half = np.empty((n, N))
    for i in range(n):
        _apply_F(rows, f, f.K[i], half[i])
    column = np.empty(n)
    for j in range(N):
        for i in range(n):
            column[i] = half[i, j]
        _apply_F(rows, f, column, f.E[j])
    total = 0.0
    for j in range(N):
        for i in range(j):
            value = 0.5 * (f.E[i, j] + f.E[j, i])
            f.E[i, j] = value
            f.E[j, i] = value
        f.E[j, j] = 1.0 + max(f.E[j, j], 0.0)
        total += f.E[j, j]
    return bool(np.isfinite(total))


@_summing
def _factor(E: FloatArray, effort: Effort) -> bool:
    """Cholesky factor of a positive definite matrix, in place, lower triangle; False if time is over."""
    n = E.shape[0]
    for j in range(n):
        value = E[j, j]
        for m in range(j):
            value -= E[j, m] * E[j, m]
        root = np.sqrt(value)
        E[j, j] = root
        for i in range(j + 1, n):
            value = 0.0
            for m in range(j):
                value += E[i, m] * E[j, m]
            E[i, j] = (E[i, j] - value) / root
        if j % 64 == 63 and is_over(effort):
            return False
    return True


@compiled
def _apply_inverse(joint: Joint, rows: Rows, f: Factors, r: FloatArray, out: FloatArray) -> None:
    """M⁻¹ r, sender by sender."""
    T = rows.theta.shape[0]
    for k in range(joint.B.shape[1]):
        first, last = joint.offsets[k], joint.offsets[k + 1]
        n = last - first
        J = f.J[f.starts[k] : f.starts[k + 1]].reshape(n, n)
        total = np.zeros(n)
        price = np.zeros(n)
        for t in range(T):
            Q = _block(f, k, n, t, T)
            for i in range(n):
                for j in range(n):
                    total[i] += Q[i, j] * r[t, first + j]
        for i in range(n):
            for j in range(n):
                price[i] += J[i, j] * total[j]
        for t in range(T):
            Q = _block(f, k, n, t, T)
            for i in range(n):
                value = 0.0
                for j in range(n):
                    value += Q[i, j] * (r[t, first + j] - price[j])
                out[t, first + i] = value


@compiled
def direction(joint: Joint, rows: Rows, f: Factors, r: FloatArray, ds: FloatArray) -> None:
    """Solve (M + UᵀWU) ds = r with the factors at hand; r is overwritten."""
    T, S = rows.theta.shape
    n, N = f.K.shape[0], f.E.shape[0]
    _apply_inverse(joint, rows, f, r, ds)
    b = np.zeros(n)
    for t in range(T):
        a = joint.a[joint.segment[t]]
        for l in range(a.size):
            b[t * S + joint.receiver[l]] += a[l] * ds[t, l]
    y = np.empty(N)
    _apply_F(rows, f, b, y)
    for i in range(N):
        value = y[i]
        for m in range(i):
            value -= f.E[i, m] * y[m]
        y[i] = value / f.E[i, i]
    for i in range(N - 1, -1, -1):
        y[i] /= f.E[i, i]
        for m in range(i):
            y[m] -= f.E[i, m] * y[i]
    _apply_FT(rows, f, y, b)
    for t in range(T):
        a = joint.a[joint.segment[t]]
        for l in range(a.size):
            r[t, l] -= a[l] * b[t * S + joint.receiver[l]]
    _apply_inverse(joint, rows, f, r, ds)
