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
steps first, has sent everything. Where conditions are the same in all steps, so is what such a sender earns.
"""

from typing import NamedTuple

import numpy as np

from solver.arrays import FloatArray, IntArray
from solver.kernels.clock import is_over
from solver.kernels.compile import compiled, inlined, lean
from solver.kernels.joint import Joint
from solver.kernels.knapsack import best_first, limited_earnings
from solver.kernels.layout import Effort

__all__ = ["Prices", "Response", "bound_at", "improve_prices", "net_worths", "new_response"]

_GROWTH = 1.5
_SHRINKAGE = 0.5
_USED = 1e-9
# After so many passes without a gain of this share of the gap, more passes would gain nothing either.
_PATIENCE = 5
_GAIN = 0.01


class Prices(NamedTuple):
    """μ, flat in (step, receiver), ν, flat in (segment, receiver), and c of each pair."""

    receiving: FloatArray
    holding: FloatArray
    once: FloatArray


class Response(NamedTuple):
    """Net worths, what each pair would send at them and what would arrive; the last four are scratch space.

    `senders` are those whose steps are looked at one by one.
    """

    net: FloatArray
    sent: FloatArray
    R: FloatArray
    senders: IntArray
    rooms: FloatArray
    order: IntArray
    sums: FloatArray
    more: FloatArray


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


@inlined
def _earn(joint: Joint, t: int, c: FloatArray, response: Response) -> float:
    """What the senders at hand earn in step t; adds what they would send, and what would arrive, to the response."""
    g = joint.segment[t]
    offsets, a, psi = joint.offsets, joint.a[g], joint.psi[g]
    net, sent, R, rooms = response.net[t], response.sent, response.R[t], response.rooms
    value, y, scratch, at_once = rooms[0], rooms[1], rooms[2], rooms[3]
    total = 0.0
    for k in response.senders:
        first, last = offsets[k], offsets[k + 1]
        for l in range(first, last):
            value[l] = a[l] * net[joint.receiver[l]] - joint.price[g, l] - c[l] if a[l] > 0.0 else 0.0
        if last - first == 1:
            l = first
            most = at_once[l]
            total += max(value[l], 0.0) * most
            # Of the steps at the price itself, the earliest ones take what the pair still has.
            worthwhile = a[l] > 0.0 and value[l] >= -1e-12 * (c[l] + joint.price[g, l])
            y[l] = min(most, max(joint.limit[l] - sent[l], 0.0)) if worthwhile else 0.0
        else:
            found, exact = best_first(first, last, value, psi, joint.B[g, k], joint.limit, y, scratch)
            if not exact:
                found = limited_earnings(first, last, value, psi, joint.B[g, k], joint.limit, scratch)
            total += found
        for l in range(first, last):
            sent[l] += y[l]
            R[joint.receiver[l]] += a[l] * y[l]
    return total


@lean
def _sort_steps(net: FloatArray, order: IntArray) -> None:
    """Write the steps in falling order of net worth, for each receiver; worths mostly fall from step to step."""
    for i in range(net.shape[1]):
        for t in range(net.shape[0]):
            at = t
            while at > 0 and net[order[at - 1, i], i] < net[t, i]:
                order[at, i] = order[at - 1, i]
                at -= 1
            order[at, i] = t


@lean
def _price_lone_pairs(joint: Joint, net: FloatArray, order: IntArray, c: FloatArray) -> None:
    """Write the best price of sending once for every sender with one pair."""
    for k in range(joint.B.shape[1]):
        if joint.offsets[k + 1] - joint.offsets[k] == 1:
            l = joint.offsets[k]
            i = joint.receiver[l]
            left = joint.limit[l]
            c[l] = 0.0
            for n in range(net.shape[0]):
                t = order[n, i]
                g = joint.segment[t]
                left -= _most_at_once(joint, g, k, l)
                if left <= 0.0:
                    c[l] = max(joint.a[g, l] * net[t, i] - joint.price[g, l], 0.0)
                    break


@inlined
def _worthwhile(net: FloatArray, order: IntArray, i: int, least: float) -> int:
    """In how many steps receiver i's net worth is not below the least one."""
    low, high = 0, net.shape[0]
    if net[order[high - 1, i], i] >= least:
        return int(high)
    while low < high:
        middle = (low + high) // 2
        if net[order[middle, i], i] >= least:
            low = middle + 1
        else:
            high = middle
    return low


@lean
def _earn_alone(joint: Joint, c: FloatArray, response: Response) -> float:
    """What senders with one pair earn in all steps of one segment; writes their prices and adds to the response.

    A pair sends all it can in the steps of the highest net worth. So sums over the sorted steps tell what it earns, and
    `more`, the differences between sorted steps, what arrives.
    """
    net, sent, R, order = response.net, response.sent, response.R, response.order
    sums, more = response.sums, response.more
    n_steps, S = net.shape
    sums[0] = 0.0
    more[:] = 0.0
    for n in range(n_steps):
        for i in range(S):
            sums[n + 1, i] = sums[n, i] + net[order[n, i], i]
    total = 0.0
    for k in range(joint.B.shape[1]):
        l = joint.offsets[k]
        if joint.offsets[k + 1] - l != 1:
            continue
        c[l] = 0.0
        most = _most_at_once(joint, 0, k, l)
        if most <= 0.0:
            continue
        i, a, price, limit = joint.receiver[l], joint.a[0, l], joint.price[0, l], joint.limit[l]
        steps = _worthwhile(net, order, i, price / a)
        whole = int(min(limit / most, float(steps)))
        total += most * (a * sums[whole, i] - price * whole)
        sent[l] = most * whole
        more[0, i] += a * most
        more[whole, i] -= a * most
        if whole < steps:
            rest = max(limit - sent[l], 0.0)
            c[l] = max(a * net[order[whole, i], i] - price, 0.0)
            total += rest * c[l]
            sent[l] = limit
            more[whole, i] += a * rest
            more[whole + 1, i] -= a * rest
    for i in range(S):
        arriving = 0.0
        for n in range(n_steps):
            arriving += more[n, i]
            R[order[n, i], i] += max(arriving, 0.0)
    return total


@lean
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
def new_response(joint: Joint) -> Response:
    """Room for a response."""
    n_steps, S = joint.segment.size, joint.theta.shape[1]
    n_pairs = joint.limit.size
    senders = np.arange(joint.B.shape[1])
    if joint.B.shape[0] == 1:
        senders = senders[np.diff(joint.offsets) > 1]
    return Response(
        np.empty((n_steps, S)),
        np.empty(n_pairs),
        np.empty((n_steps, S)),
        senders,
        np.empty((4, n_pairs)),
        np.empty((n_steps, S), np.int64),
        np.empty((n_steps + 1, S)),
        np.empty((n_steps + 1, S)),
    )


@lean
def bound_at(joint: Joint, V: FloatArray, prices: Prices, response: Response) -> float:
    """The bound on max Σ V·R that these prices give; writes the response to them.

    It cuts μ to what it can take off, and replaces the prices of senders with one pair by the best ones.
    """
    net, senders, rooms, order = response.net, response.senders, response.rooms, response.order
    found = net_worths(joint, V, prices.receiving, prices.holding, net)
    _sort_steps(net, order)
    response.sent[:] = 0.0
    response.R[:] = 0.0
    if joint.B.shape[0] == 1:
        found += _earn_alone(joint, prices.once, response)
    else:
        _price_lone_pairs(joint, net, order, prices.once)
    for k in senders:
        for l in range(joint.offsets[k], joint.offsets[k + 1]):
            found += prices.once[l] * joint.limit[l]
    for t in range(net.shape[0]):
        g = joint.segment[t]
        if t == 0 or joint.segment[t - 1] != g:
            for k in senders:
                for l in range(joint.offsets[k], joint.offsets[k + 1]):
                    rooms[3, l] = _most_at_once(joint, g, k, l)
        found += _earn(joint, t, prices.once, response)
    return found


@compiled
def improve_prices(
    joint: Joint,
    V: FloatArray,
    prices: Prices,
    response: Response,
    most: float,
    enough: float,
    step: float,
    passes: int,
    effort: Effort,
) -> float:
    """Return the least bound on max Σ V·R in so many passes, or one that is at most `enough`.

    The search goes on from these prices, which give the bound `most`, and from the response to them. It overwrites
    both. Prices move by `step` times the worth at first.
    """
    S = V.shape[1]
    mu, nu, c = prices
    receiving = _Moves(mu, step * V.copy().ravel(), np.zeros(mu.size))
    holding = _Moves(nu, np.empty(nu.size), np.zeros(nu.size))
    once = _Moves(c, np.empty(c.size), np.zeros(c.size))
    for j in range(nu.size):
        holding.size[j] = step * V[0, j % S]
    for l in range(c.size):
        once.size[l] = step * V[0, joint.receiver[l]] * joint.a[:, l].max()
    mark = most
    for n in range(1, passes + 1):
        if most <= enough or is_over(effort):
            break
        _move_all(joint, response.sent, response.R, receiving, holding, once)
        most = min(most, bound_at(joint, V, prices, response))
        if n % _PATIENCE == 0:
            if mark - most < _GAIN * (most - enough):
                break
            mark = most
    return most


@lean
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
