"""A bound on eq. (26) of a set that knows which senders its devices share; `sampler.objectives.surrogate` derives it.

Up to time t a link carries at most the share m_l(t) of its sender's data, and the links of sender k together at most t
of it, at a cost of at most t·B_k. For weights v_i ≥ 0 of a useful datapoint at receiver i, sender k then earns at most

    e_k = max Σ_l v_i a_l y_l   subject to   0 ≤ y_l ≤ m_l(t),  Σ_l y_l ≤ t,  Σ_l ψ_l y_l ≤ t·B_k,

and either row alone bounds it: a fractional knapsack that takes the best links first.
"""

import math
from typing import NamedTuple

import numpy as np

from sampler.kernels.compile import compiled
from solver.arrays import BoolArray, FloatArray, IntArray
from solver.kernels.clock import is_over
from solver.kernels.layout import Effort

__all__ = ["Moments", "Senders", "least_values"]

# The bound is linear in what arrives. It is taken at what the senders sent to, and then once more.
_PASSES = 2


class Senders(NamedTuple):
    """The links by receiver, with a_l = D_k(1 − λ), ψ_l and s_l = min(1, B_k/ψ_l), and B_k = Ψ_k/D_k of each device.

    Of each device also D_i, θ_i, and the room beyond D_i. `once` says whether senders send once.
    """

    incoming: IntArray
    source: IntArray
    fresh: FloatArray
    cost: FloatArray
    share: FloatArray
    budget: FloatArray
    data: FloatArray
    theta: FloatArray
    room: FloatArray
    once: bool


class Moments(NamedTuple):
    """Times t, the weights of terms (a) and (b) there, and (N, times) what all senders of a device bring it by then."""

    times: FloatArray
    sampling: FloatArray
    statistical: FloatArray
    arriving: FloatArray


class _Shared(NamedTuple):
    """The links of a set that compete, grouped by sender: link, position of the receiver, and scratch."""

    offsets: IntArray
    link: IntArray
    place: IntArray
    most: FloatArray
    sent: FloatArray
    worth: FloatArray


@compiled
def _find_shared(by: Senders, row: IntArray, count: IntArray, member: BoolArray) -> tuple[_Shared, int]:
    """List the links from senders with several links into the set, and after them those from members, which are idle.

    Also returns how many senders are shared. `count` and `member`, by device, are zero before and after.
    """
    n_links = 0
    for i in row:
        member[i] = True
        n_links += by.incoming[i + 1] - by.incoming[i]
        for l in range(by.incoming[i], by.incoming[i + 1]):
            count[by.source[l]] += 1
    offsets, link, place = np.zeros(n_links + 2, np.int64), np.empty(n_links, np.int64), np.empty(n_links, np.int64)
    # First the senders are numbered where they are met first: count becomes −1 less the next free place.
    n_senders, n, idle = 0, 0, 0
    for i in row:
        for l in range(by.incoming[i], by.incoming[i + 1]):
            k = by.source[l]
            if member[k]:
                idle += 1
            elif count[k] > 1:
                offsets[n_senders] = n
                n, count[k] = n + count[k], -1 - n
                n_senders += 1
    offsets[n_senders] = n
    offsets[n_senders + 1] = n + idle
    rest = n
    for position in range(row.size):
        for l in range(by.incoming[row[position]], by.incoming[row[position] + 1]):
            k = by.source[l]
            if member[k]:
                link[rest], place[rest] = l, position
                rest += 1
            elif count[k] < 0:
                link[-1 - count[k]], place[-1 - count[k]] = l, position
                count[k] -= 1
    for i in row:
        member[i] = False
        for l in range(by.incoming[i], by.incoming[i + 1]):
            count[by.source[l]] = 0
    size = n + idle
    return _Shared(offsets[: n_senders + 2], link, place, np.empty(size), np.empty(size), np.empty(size)), n_senders


@compiled
def _fill(by: Senders, shared: _Shared, first: int, last: int, most: float, v: FloatArray, costly: bool) -> float:
    """What a sender earns at most under one row, that of costs if `costly`; writes what is sent of each link's data."""
    for j in range(first, last):
        shared.sent[j] = 0.0
        l = shared.link[j]
        value = v[shared.place[j]] * by.fresh[l]
        weight = by.cost[l] if costly else 1.0
        shared.worth[j] = value / weight if weight > 0.0 else math.inf
    earned = 0.0
    while True:
        best = -1
        for j in range(first, last):
            if shared.worth[j] > 0.0 and (best < 0 or shared.worth[j] > shared.worth[best]):
                best = j
        if best < 0:
            return earned
        l = shared.link[best]
        weight = by.cost[l] if costly else 1.0
        y = shared.most[best]
        if weight * y > most:
            y = most / weight
        most = max(most - weight * y, 0.0)
        shared.worth[best] = 0.0
        shared.sent[best] = y
        earned += v[shared.place[best]] * by.fresh[l] * y


@compiled
def _earn(by: Senders, shared: _Shared, n_senders: int, t: float, v: FloatArray, received: FloatArray) -> float:
    """Σ_k e_k over the shared senders, or more; adds to `received` what they send."""
    total = 0.0
    for k in range(n_senders):
        first, last = shared.offsets[k], shared.offsets[k + 1]
        budget = t * by.budget[by.source[shared.link[first]]]
        earned = _fill(by, shared, first, last, t, v, False)
        spent = 0.0
        for j in range(first, last):
            spent += by.cost[shared.link[j]] * shared.sent[j]
        if spent > budget:
            earned = min(earned, _fill(by, shared, first, last, budget, v, True))
        total += earned
        for j in range(first, last):
            received[shared.place[j]] += by.fresh[shared.link[j]] * shared.sent[j]
    return total


@compiled
def _least(
    by: Senders, row: IntArray, shared: _Shared, n_senders: int, at: Moments, j: int, unsampled: float, noise: float
) -> float:
    """The weighted terms (a) and (b) at moment j are at least this."""
    t, size = at.times[j], row.size
    alone, cap, received, v = np.empty(size), np.empty(size), np.empty(size), np.empty(size)
    for p in range(size):
        i = row[p]
        alone[p] = at.arriving[i, j]
        cap[p] = min(t * by.theta[i], by.room[i])
        received[p] = min(alone[p], cap[p])
    for m in range(shared.most.size):
        l = shared.link[m]
        s = by.share[l]
        shared.most[m] = min(1.0, t * s) if by.once else 1.0 - (1.0 - s) ** t
        alone[shared.place[m]] -= by.fresh[l] * shared.most[m]
    full = np.zeros(size, np.bool_)
    best = -math.inf
    for _ in range(_PASSES):
        held, roots = unsampled, 0.0
        for p in range(size):
            held += by.data[row[p]] + received[p]
            roots += 1.0 / math.sqrt(by.data[row[p]] + received[p])
        value = at.sampling[j] * unsampled / held + at.statistical[j] * noise / size * roots
        bound = value
        for p in range(size):
            x = by.data[row[p]] + received[p]
            v[p] = at.sampling[j] * unsampled / held / held + at.statistical[j] * 0.5 * noise / size / (
                x * math.sqrt(x)
            )
            # A full receiver has no use for more: what it has is all it can have, and its senders are free for others.
            bound += v[p] * (received[p] - (cap[p] if full[p] else max(alone[p], 0.0)))
            received[p] = max(alone[p], 0.0)
            if full[p]:
                v[p] = 0.0
        bound -= _earn(by, shared, n_senders, t, v, received)
        best = max(best, bound)
        for p in range(size):
            full[p] = full[p] or received[p] >= cap[p]
            received[p] = min(received[p], cap[p]) if not full[p] else cap[p]
    return best


@compiled
def least_values(
    sets: IntArray, by: Senders, at: Moments, unsampled: FloatArray, noise: float, effort: Effort, least: FloatArray
) -> None:
    """Write a lower bound on eq. (26) of each set; when time is over, −∞."""
    count, member = np.zeros(by.data.size, np.int64), np.zeros(by.data.size, np.bool_)
    for r in range(sets.shape[0]):
        least[r] = -math.inf
        if not is_over(effort):
            shared, n_senders = _find_shared(by, sets[r], count, member)
            least[r] = 0.0
            for j in range(at.times.size):
                least[r] += _least(by, sets[r], shared, n_senders, at, j, unsampled[r], noise)
