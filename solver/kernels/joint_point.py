"""An iterate of the interior-point method for a whole horizon, and the linear maps between its parts."""

from typing import NamedTuple

import numpy as np

from solver.arrays import FloatArray
from solver.kernels.compile import compiled
from solver.kernels.joint import Joint
from solver.kernels.joint_rows import Rows

__all__ = ["Iterate", "arrivals", "as_iterate", "changes", "first_prices", "right_side", "slacks", "start_inside"]


class Iterate(NamedTuple):
    """One number for each complementary pair: fractions, senders' rows, pairs' rows, receiving, holding."""

    flat: FloatArray
    s: FloatArray
    w: FloatArray
    p: FloatArray
    q: FloatArray
    h: FloatArray


@compiled
def as_iterate(flat: FloatArray, rows: Rows) -> Iterate:
    """Name the parts of a flat array."""
    T, P = rows.most.shape
    K = rows.kinds.shape[2]
    S = rows.theta.shape[1]
    G = rows.room.shape[0]
    a = T * P
    b = a + 2 * T * K
    c = b + P
    d = c + T * S
    return Iterate(
        flat,
        flat[:a].reshape(T, P),
        flat[a:b].reshape(2, T, K),
        flat[b:c],
        flat[c:d].reshape(T, S),
        flat[d : d + G * S].reshape(G, S),
    )


@compiled
def arrivals(joint: Joint, y: FloatArray, R: FloatArray) -> None:
    """Write R_i(t)."""
    R[:, :] = 0.0
    for t in range(R.shape[0]):
        a = joint.a[joint.segment[t]]
        for l in range(a.size):
            R[t, joint.receiver[l]] += a[l] * y[t, l]


@compiled
def slacks(joint: Joint, rows: Rows, y: FloatArray, R: FloatArray, out: Iterate) -> None:
    """Write what the fractions y leave of every row that exists; 1 for the others."""
    T, S = R.shape
    for t in range(T):
        d = rows.d[joint.segment[t]]
        for k in range(rows.kinds.shape[2]):
            share = 1.0
            budget = 1.0
            for l in range(joint.offsets[k], joint.offsets[k + 1]):
                share -= y[t, l]
                budget -= d[l] * y[t, l]
            out.w[0, t, k] = share if rows.kinds[0, t, k] else 1.0
            out.w[1, t, k] = budget if rows.kinds[1, t, k] else 1.0
    for l in range(out.p.size):
        left = joint.limit[l]
        for t in range(T):
            left -= y[t, l]
        out.p[l] = left if rows.once[l] else 1.0
    for i in range(S):
        total = 0.0
        for t in range(T):
            g = joint.segment[t]
            total += R[t, i]
            out.q[t, i] = rows.theta[t, i] - R[t, i] if rows.theta[t, i] > 0.0 else 1.0
            if rows.ends[g] == t:
                out.h[g, i] = rows.room[g, i] - total if rows.room[g, i] > 0.0 else 1.0


@compiled
def changes(joint: Joint, rows: Rows, ds: FloatArray, x: Iterate, rho: Iterate, R: FloatArray) -> None:
    """Write the relative change of every primal number for the step ds."""
    T, S = R.shape
    arrivals(joint, ds, R)
    for t in range(T):
        d = rows.d[joint.segment[t]]
        for l in range(ds.shape[1]):
            rho.s[t, l] = ds[t, l] / x.s[t, l] if rows.most[t, l] > 0.0 else 0.0
        for k in range(rows.kinds.shape[2]):
            share = 0.0
            budget = 0.0
            for l in range(joint.offsets[k], joint.offsets[k + 1]):
                share += ds[t, l]
                budget += d[l] * ds[t, l]
            rho.w[0, t, k] = -share / x.w[0, t, k] if rows.kinds[0, t, k] else 0.0
            rho.w[1, t, k] = -budget / x.w[1, t, k] if rows.kinds[1, t, k] else 0.0
    for l in range(ds.shape[1]):
        total = 0.0
        for t in range(T):
            total += ds[t, l]
        rho.p[l] = -total / x.p[l] if rows.once[l] else 0.0
    for i in range(S):
        total = 0.0
        for t in range(T):
            g = joint.segment[t]
            total += R[t, i]
            rho.q[t, i] = -R[t, i] / x.q[t, i] if rows.theta[t, i] > 0.0 else 0.0
            if rows.ends[g] == t:
                rho.h[g, i] = -total / x.h[g, i] if rows.room[g, i] > 0.0 else 0.0


@compiled
def right_side(joint: Joint, rows: Rows, V: FloatArray, z: Iterate, own: Iterate, r: FloatArray) -> None:
    """Write the right side of the Newton step to products `own` times the present ones."""
    T, S = V.shape
    price = np.empty((T, S))
    for i in range(S):
        held = 0.0
        for t in range(T - 1, -1, -1):
            g = joint.segment[t]
            if rows.ends[g] == t:
                held += own.h[g, i] * z.h[g, i]
            price[t, i] = V[t, i] - held - own.q[t, i] * z.q[t, i]
    for t in range(T):
        g = joint.segment[t]
        for k in range(rows.kinds.shape[2]):
            share = own.w[0, t, k] * z.w[0, t, k]
            budget = own.w[1, t, k] * z.w[1, t, k]
            for l in range(joint.offsets[k], joint.offsets[k + 1]):
                r[t, l] = 0.0
                if rows.most[t, l] > 0.0:
                    r[t, l] = joint.a[g, l] * price[t, joint.receiver[l]] + own.s[t, l] * z.s[t, l]
                    r[t, l] -= share + rows.d[g, l] * budget + own.p[l] * z.p[l] + joint.price[g, l]


@compiled
def _start_senders(joint: Joint, rows: Rows, y: FloatArray) -> None:
    """Write fractions that use part of every sender's rows and of every pair's data."""
    T = y.shape[0]
    for t in range(T):
        d = rows.d[joint.segment[t]]
        for k in range(rows.kinds.shape[2]):
            share = 0.0
            budget = 0.0
            for l in range(joint.offsets[k], joint.offsets[k + 1]):
                share += rows.most[t, l]
                budget += d[l] * rows.most[t, l]
            for l in range(joint.offsets[k], joint.offsets[k + 1]):
                y[t, l] = 0.7 / max(share, budget, 1.0) * rows.most[t, l]
    for l in range(y.shape[1]):
        total = 0.0
        for t in range(T):
            total += y[t, l]
        if total > 0.7 * joint.limit[l]:
            for t in range(T):
                y[t, l] *= 0.7 * joint.limit[l] / total


@compiled
def start_inside(joint: Joint, rows: Rows, y: FloatArray, R: FloatArray) -> None:
    """Write fractions well inside all rows, and what arrives with them."""
    T, S = R.shape
    _start_senders(joint, rows, y)
    arrivals(joint, y, R)
    scale = np.ones((T, S))
    for i in range(S):
        held = 1.0
        total = 0.0
        for t in range(T):
            g = joint.segment[t]
            if rows.theta[t, i] > 0.0 and R[t, i] > 0.8 * rows.theta[t, i]:
                scale[t, i] = 0.8 * rows.theta[t, i] / R[t, i]
            total += R[t, i] * scale[t, i]
            if rows.ends[g] == t and rows.room[g, i] > 0.0 and total > 0.0:
                held = min(held, 0.8 * rows.room[g, i] / total)
        for t in range(T):
            scale[t, i] *= held
    for t in range(T):
        for l in range(y.shape[1]):
            y[t, l] *= scale[t, joint.receiver[l]]
    arrivals(joint, y, R)


@compiled
def first_prices(rows: Rows, earned: float, x: Iterate, z: Iterate) -> int:
    """Write multipliers with equal products, Σ x·z = `earned`; 0 where a row is missing. Returns how many there are."""
    z.flat[:] = 0.0
    for t in range(rows.most.shape[0]):
        for l in range(rows.most.shape[1]):
            z.s[t, l] = 1.0 if rows.most[t, l] > 0.0 else 0.0
        for k in range(rows.kinds.shape[2]):
            z.w[0, t, k] = 1.0 if rows.kinds[0, t, k] else 0.0
            z.w[1, t, k] = 1.0 if rows.kinds[1, t, k] else 0.0
        for i in range(rows.theta.shape[1]):
            z.q[t, i] = 1.0 if rows.theta[t, i] > 0.0 else 0.0
    for l in range(rows.once.size):
        z.p[l] = 1.0 if rows.once[l] else 0.0
    for g in range(rows.room.shape[0]):
        for i in range(rows.room.shape[1]):
            z.h[g, i] = 1.0 if rows.room[g, i] > 0.0 else 0.0
    n_pairs = 0
    for j in range(z.flat.size):
        if z.flat[j] > 0.0:
            n_pairs += 1
    for j in range(z.flat.size):
        if z.flat[j] > 0.0:
            z.flat[j] = max(abs(earned), 1e-300) / n_pairs / x.flat[j]
    return n_pairs
