"""A search for better prices of the whole horizon's rows: each moves towards the price at which its row is just used.

Prices μ_i(t) of a step's receiving, ν_i(g) of holding at the end of segment g, and c_l of sending over a pair only once
bound what all senders can earn from worths V_i(t):

    max Σ V·R ≤ Σ μ_i(t) θ_i(t) + Σ ν_i(g) room_i(g) + Σ c_l u_l + Σ_{k,t} e_kt(net, c),
    net_i(t) = V_i(t) − μ_i(t) − Σ_{g ≥ g(t)} ν_i(g),

where e_kt is what sender k earns in step t if pair l pays a_l·net_i(t) − c_l, less its price by the weights
(`solver.kernels.knapsack`). Every choice is valid, and the least sum counts. What the senders would then send says
of each row whether it is used too much (its price rises) or too little (it falls). Each price has a step of its
own, which grows while the direction stays and shrinks when it turns (Rprop: Riedmiller and Braun, ICNN 1993). A
sender with one pair has its best c_l in closed form: the net worth of the step in which the pair, taking the best
steps first, has sent everything.
"""

import math
from typing import NamedTuple

import numpy as np

from solver.arrays import FloatArray
from solver.kernels.compile import compiled, inlined
from solver.kernels.joint import Joint
from solver.kernels.knapsack import limited_earnings

__all__ = ["improve_prices", "net_worths"]

_GROWTH = 1.5
_SHRINKAGE = 0.5
_USED = 1e-9
# After so many passes without a gain of this share of the gap, more passes would gain nothing either.
_PATIENCE = 5
_GAIN = 0.01


class _Moves(NamedTuple):
    """Prices with the size and the last direction of their steps."""

    price: FloatArray
    size: FloatArray
    sign: FloatArray


@inlined
def _move(moves: _Moves, l: int, excess: float) -> None:
    """Raise the price if its row is used too much, else lower it."""
    sign = 1.0 if excess > 0.0 else -1.0
    if sign * moves.sign[l] > 0.0:
        moves.size[l] *= _GROWTH
    elif sign * moves.sign[l] < 0.0:
        moves.size[l] *= _SHRINKAGE
    moves.sign[l] = sign
    moves.price[l] = max(moves.price[l] + sign * moves.size[l], 0.0)


@inlined
def _most_at_once(joint: Joint, g: int, k: int, l: int) -> float:
    """The largest share that a pair can send in one step of segment g, alone."""
    most = joint.limit[l] if joint.a[g, l] > 0.0 else 0.0
    return joint.B[g, k] / joint.psi[g, l] if joint.psi[g, l] * most > joint.B[g, k] else most


@compiled
def _respond(
    first: int,
    last: int,
    value: FloatArray,
    psi: FloatArray,
    B: float,
    limit: FloatArray,
    y: FloatArray,
    left: FloatArray,
) -> None:
    """Write what a sender would about send at these values: the links that pay best for what is scarce come first."""
    share = 1.0
    budget = B
    for l in range(first, last):
        y[l] = 0.0
        left[l] = value[l]
    while share > 0.0:
        best = -1
        pay = 0.0
        for l in range(first, last):
            if left[l] > 0.0 and limit[l] > 0.0 and left[l] / max(psi[l] / B, 1.0) > pay:
                best = l
                pay = left[l] / max(psi[l] / B, 1.0)
        if best < 0:
            break
        taken = min(share, limit[best])
        if psi[best] * taken > budget:
            taken = max(budget, 0.0) / psi[best]
        y[best] = taken
        share -= taken
        budget -= psi[best] * taken
        left[best] = 0.0


@compiled
def _earn(
    joint: Joint, g: int, net: FloatArray, c: FloatArray, sent: FloatArray, R: FloatArray, rooms: FloatArray
) -> float:
    """What all senders earn in a step of segment g; adds what they would send to `sent` and writes R."""
    offsets, a, psi = joint.offsets, joint.a[g], joint.psi[g]
    value, y, scratch = rooms[0], rooms[1], rooms[2]
    total = 0.0
    R[:] = 0.0
    for k in range(joint.B.shape[1]):
        first, last = offsets[k], offsets[k + 1]
        for l in range(first, last):
            value[l] = a[l] * net[joint.receiver[l]] - joint.price[g, l] - c[l] if a[l] > 0.0 else 0.0
        if last - first == 1:
            l = first
            most = _most_at_once(joint, g, k, l)
            total += max(value[l], 0.0) * most
            # Of the steps at the price itself, the earliest ones take what the pair still has.
            worthwhile = a[l] > 0.0 and value[l] >= -1e-12 * (c[l] + joint.price[g, l])
            y[l] = min(most, max(joint.limit[l] - sent[l], 0.0)) if worthwhile else 0.0
        else:
            total += limited_earnings(first, last, value, psi, joint.B[g, k], joint.limit, scratch)
            _respond(first, last, value, psi, joint.B[g, k], joint.limit, y, scratch)
        for l in range(first, last):
            sent[l] += y[l]
            R[joint.receiver[l]] += a[l] * y[l]
    return total


@compiled
def _price_lone_pairs(joint: Joint, net: FloatArray, c: FloatArray) -> None:
    """Write the best price of sending once for every sender with one pair."""
    order = np.empty(net.shape, np.int64)
    for i in range(net.shape[1]):
        order[:, i] = np.argsort(-net[:, i])
    for k in range(joint.B.shape[1]):
        if joint.offsets[k + 1] - joint.offsets[k] == 1:
            l = joint.offsets[k]
            i = joint.receiver[l]
            left = joint.limit[l]
            c[l] = 0.0
            for t in order[:, i]:
                g = joint.segment[t]
                left -= _most_at_once(joint, g, k, l)
                if left <= 0.0:
                    c[l] = max(joint.a[g, l] * net[t, i] - joint.price[g, l], 0.0)
                    break


@compiled
def net_worths(joint: Joint, V: FloatArray, mu: FloatArray, nu: FloatArray, net: FloatArray) -> float:
    """Write net = V − μ − Σν, and return Σ μ θ + Σ ν room; μ is cut to what it can take off."""
    n_steps, S = V.shape
    total = 0.0
    for i in range(S):
        held = 0.0
        g = joint.room.shape[0]
        for t in range(n_steps - 1, -1, -1):
            while g > joint.segment[t]:
                g -= 1
                held += nu[g * S + i]
                if nu[g * S + i] > 0.0:
                    total += nu[g * S + i] * joint.room[g, i]
            mu[t * S + i] = min(mu[t * S + i], max(V[t, i] - held, 0.0))
            if mu[t * S + i] > 0.0:
                total += mu[t * S + i] * joint.theta[g, i]
            net[t, i] = max(V[t, i] - held - mu[t * S + i], 0.0)
    return total


@compiled
def _bound(
    joint: Joint,
    V: FloatArray,
    receiving: _Moves,
    holding: _Moves,
    once: _Moves,
    net: FloatArray,
    sent: FloatArray,
    R: FloatArray,
    rooms: FloatArray,
) -> float:
    """The bound that these prices give; writes what the senders would send at them."""
    found = net_worths(joint, V, receiving.price, holding.price, net)
    _price_lone_pairs(joint, net, once.price)
    sent[:] = 0.0
    for l in range(sent.size):
        found += once.price[l] * joint.limit[l]
    for t in range(net.shape[0]):
        found += _earn(joint, joint.segment[t], net[t], once.price, sent, R[t], rooms)
    return found


@compiled
def improve_prices(
    joint: Joint, V: FloatArray, mu: FloatArray, nu: FloatArray, c: FloatArray, passes: int, step: float, enough: float
) -> float:
    """Return the least bound on max Σ V·R in so many passes from these prices, or one that is at most `enough`.

    μ is flat in (step, receiver), ν in (segment, receiver). Prices move by `step` times the worth at first.
    """
    n_steps, S = V.shape
    n_pairs = joint.limit.size
    receiving = _Moves(mu.copy(), step * V.copy().ravel(), np.zeros(mu.size))
    holding = _Moves(nu.copy(), np.empty(nu.size), np.zeros(nu.size))
    once = _Moves(c.copy(), np.empty(n_pairs), np.zeros(n_pairs))
    for j in range(nu.size):
        holding.size[j] = step * V[0, j % S]
    for l in range(n_pairs):
        once.size[l] = step * V[0, joint.receiver[l]] * joint.a[:, l].max()
    net, R = np.empty((n_steps, S)), np.empty((n_steps, S))
    sent, rooms = np.empty(n_pairs), np.empty((3, n_pairs))
    least, mark = math.inf, math.inf
    for n in range(passes):
        least = min(least, _bound(joint, V, receiving, holding, once, net, sent, R, rooms))
        if least <= enough:
            break
        if n % _PATIENCE == 0:
            if mark - least < _GAIN * (least - enough):
                break
            mark = least
        if n + 1 < passes:
            _move_all(joint, sent, R, receiving, holding, once)
    return least


@compiled
def _move_all(joint: Joint, sent: FloatArray, R: FloatArray, receiving: _Moves, holding: _Moves, once: _Moves) -> None:
    """Move every price after what the senders would send."""
    n_steps, S = R.shape
    for l in range(sent.size):
        if abs(sent[l] - joint.limit[l]) > _USED:
            _move(once, l, sent[l] - joint.limit[l])
    for i in range(S):
        total = 0.0
        for t in range(n_steps):
            g = joint.segment[t]
            total += R[t, i]
            _move(receiving, t * S + i, R[t, i] - joint.theta[g, i] * (1.0 + _USED))
            if t == n_steps - 1 or joint.segment[t + 1] != g:
                _move(holding, g * S + i, total - joint.room[g, i] * (1.0 + _USED))
