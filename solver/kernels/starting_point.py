"""Where the interior-point method starts."""

import numpy as np

from solver.arrays import FloatArray
from solver.kernels.compile import compiled, inlined, lean
from solver.kernels.layout import Point, Reduced, Step
from solver.kernels.newton import row_sums
from solver.kernels.objective import gradient
from solver.kernels.pairs import as_point

__all__ = ["starting_point"]

_START_PRICE = 1.5


@compiled
def starting_point(step: Step, reduced: Reduced) -> Point:
    """A point well inside the constraints, with dual feasible multipliers.

    Each sender's rows are priced above the value of its best link, and z is the difference. The products of the pairs
    then differ by small factors only, however much values differ among senders and links.
    """
    groups, receiver = reduced.groups, reduced.receiver
    u, c, d, cap = reduced.u, reduced.c, reduced.d, reduced.room
    last = groups[-1].view(np.int64)
    n_senders = last[0] + last[1]
    point = as_point(u.size, n_senders, cap.size, reduced.top.size)
    s, w, q, mu = point.s, point.w, point.q, point.mu
    g = np.empty(cap.size)
    _centre(reduced, s)
    R = np.zeros(cap.size)
    for l in range(u.size):
        R[receiver[l]] += u[l] * s[l]
    for t in range(groups.shape[0]):
        row_sums(groups, t, c, s, w[0])
        row_sums(groups, t, d, s, w[1])
    gradient(reduced.base + R, step.D_hat, step.G, step.gamma, g)
    tau = 0.0
    for l in range(u.size):
        tau -= g[receiver[l]] * u[l] * s[l]
    tau = max(tau / u.size, 1e-300)
    for i in range(cap.size):
        mu[i] = max(min(reduced.weight[i] * tau / (cap[i] - R[i]), -0.5 * g[i]), 1e-300)
    for k in range(n_senders):
        w[0, k] = 1.0 - w[0, k]
        w[1, k] = 1.0 - w[1, k]
    for i in range(cap.size):
        q[i] = cap[i] - R[i]
    if reduced.top.size > 0:
        _price_limits(reduced, g, tau, point)
    else:
        _price_rows(reduced, g, tau, point)
    return point


@inlined
def _value(reduced: Reduced, g: FloatArray, mu: FloatArray, l: int) -> float:
    """What s_l = 1 gains after the prices of its receiver's cap and of itself."""
    i = reduced.receiver[l]
    value = reduced.u[l] * (-g[i] - mu[i])
    if reduced.pi.size > 0:
        value -= reduced.pi[l]
    return float(value)


@lean
def _price_limits(reduced: Reduced, g: FloatArray, tau: float, point: Point) -> None:
    """Dual feasible multipliers where links have limits: they take up each link's value, so rows cost little."""
    groups, c, d, lam = reduced.groups, reduced.c, reduced.d, point.lam
    for t in range(groups.shape[0]):
        k0, m, l0, n, rows = groups[t]
        for k in range(m):
            lam[0, k0 + k] = tau / point.w[0, k0 + k]
            lam[1, k0 + k] = tau / point.w[1, k0 + k] if rows == 2 else 0.0
            for j in range(n):
                l = l0 + j * m + k
                value = _value(reduced, g, point.mu, l)
                point.t[l] = reduced.top[l] - point.s[l]
                point.y[l] = max(value, 0.0) + tau
                point.z[l] = c[l] * lam[0, k0 + k] + d[l] * lam[1, k0 + k] + point.y[l] - value


@lean
def _price_rows(reduced: Reduced, g: FloatArray, tau: float, point: Point) -> None:
    """Dual feasible multipliers without limits: the rows are priced above the value of the sender's best link."""
    groups, c, d, lam = reduced.groups, reduced.c, reduced.d, point.lam
    # With prices, a sender may have no link with a positive value.
    least = tau if reduced.pi.size > 0 else 1e-300
    for t in range(groups.shape[0]):
        k0, m, l0, n, rows = groups[t]
        for k in range(m):
            price = least
            for j in range(n):
                l = l0 + j * m + k
                price = max(price, _value(reduced, g, point.mu, l) / (c[l] + d[l]))
            price *= _START_PRICE
            lam[0, k0 + k] = price
            lam[1, k0 + k] = price if rows == 2 else 0.0
            for j in range(n):
                l = l0 + j * m + k
                point.z[l] = (c[l] + d[l]) * price - _value(reduced, g, point.mu, l)


@compiled
def _centre(reduced: Reduced, s: FloatArray) -> None:
    """Write an s well inside: every sender uses part of its rows, every receiver part of its room."""
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
            if reduced.top.size > 0:
                share = min(share, 0.5)
            for j in range(n):
                l = l0 + j * m + k
                s[l] = share
                R[receiver[l]] += u[l] * share
    for l in range(u.size):
        i = receiver[l]
        if R[i] > 0.8 * cap[i]:
            s[l] *= 0.8 * cap[i] / R[i]
