"""Less sending for the same useful data: eq. (26) does not price what is sent, so a step has many optimal plans.

Of Φ_l = 1, D_k datapoints are sent and a_l of them are useful, so a_l/D_k = 1 − Λ_l is the yield of link l. A receiver
that is full may get the same useful data over links of a higher yield, if their senders can send more. Moving it lowers
what is sent and leaves R, the objective and its certificate as they are. For each full receiver the links are gone
through from both ends of their order by yield. What a sender no longer sends may be of use to another receiver, so this
is repeated for those that it has links to. A receiver that is not full has taken all that its
senders can give.

If no sender is at its limit, the plan found sends least. Else a better one may exist that moves data of several
receivers at once.
"""

import math
from typing import NamedTuple

import numpy as np

from solver.arrays import BoolArray, FloatArray, IntArray
from solver.kernels.compile import compiled, inlined, lean
from solver.kernels.copying import copy_into
from solver.kernels.layout import Step

__all__ = ["send_less"]

_PASSES = 10
_FULL = 1.0 - 1e-9
# Smaller gains and smaller fractions are left alone.
_GAIN = 1.0 + 1e-6
_LEAST = 1e-9


class _Into(NamedTuple):
    """The links into full receivers: those of receiver i are links[starts[i]:starts[i + 1]], with these yields.

    Where `sorted`, the highest yield comes first.
    """

    starts: IntArray
    links: IntArray
    gain: FloatArray
    sorted: BoolArray


class _Left(NamedTuple):
    """The sender of each link, what the senders have left, and the receivers that have to be looked at."""

    sender: IntArray
    share: FloatArray
    budget: FloatArray
    waiting: BoolArray


@compiled
def _links_into(step: Step, waiting: BoolArray) -> _Into:
    """The links into the receivers that wait."""
    starts = np.zeros(waiting.size + 1, np.int64)
    for l in range(step.a.size):
        if waiting[step.receiver[l]] and step.a[l] > 0.0:
            starts[step.receiver[l] + 1] += 1
    for i in range(waiting.size):
        starts[i + 1] += starts[i]
    links = np.empty(starts[-1], np.int64)
    gain = np.empty(links.size)
    end = starts[:-1].copy()
    for l in range(step.a.size):
        i = step.receiver[l]
        if waiting[i] and step.a[l] > 0.0:
            links[end[i]] = l
            gain[end[i]] = step.a[l] / step.load[l]
            end[i] += 1
    return _Into(starts, links, gain, np.zeros(waiting.size, np.bool_))


@inlined
def _more(step: Step, l: int, left: _Left, phi: FloatArray) -> float:
    """How much Φ_l may rise by what its sender has left."""
    k = left.sender[l]
    more = left.share[k]
    if step.limit.size > 0:
        more = min(more, step.limit[l] - phi[l])
    # Most budgets are far from that, and a division takes long. Rounding may have left less than nothing.
    budget = max(left.budget[k], 0.0)
    if step.psi[l] * more > budget:
        more = budget / step.psi[l]
    return float(more)


@lean
def _can_gain(step: Step, into: _Into, i: int, left: _Left, phi: FloatArray) -> bool:
    """Whether a link into receiver i could carry more and yields more than one that carries something."""
    best, worst = 0.0, math.inf
    for m in range(into.starts[i], into.starts[i + 1]):
        l = into.links[m]
        if phi[l] > 0.0:
            worst = min(worst, into.gain[m])
        if into.gain[m] > best and _more(step, l, left, phi) > _LEAST:
            best = into.gain[m]
    return best > worst * _GAIN


@compiled
def _sort(into: _Into, i: int) -> None:
    """Sort the links into receiver i by yield, the highest first."""
    first, last = into.starts[i], into.starts[i + 1]
    links, gain = into.links[first:last], into.gain[first:last]
    order = np.argsort(-gain)
    copy_into(links, links[order])
    copy_into(gain, gain[order])
    into.sorted[i] = True


@lean
def _release(step: Step, left: _Left, l: int, less: float) -> None:
    """Give the sender of link l back what it no longer sends; the receivers that it has links to may want it."""
    k = left.sender[l]
    left.share[k] += less
    left.budget[k] += step.psi[l] * less
    for other in range(step.offsets[k], step.offsets[k + 1]):
        if other != l:
            left.waiting[step.receiver[other]] = True


@lean
def _exchange(step: Step, into: _Into, i: int, left: _Left, phi: FloatArray) -> bool:
    """Move data of receiver i, whose links are sorted, to links of higher yield; returns whether anything moved."""
    a = step.a
    moved = False
    first, last = into.starts[i], into.starts[i + 1] - 1
    while first < last and into.gain[first] > into.gain[last] * _GAIN:
        h, l = into.links[first], into.links[last]
        if phi[l] <= 0.0:
            last -= 1
            continue
        more = _more(step, h, left, phi)
        if more <= _LEAST:
            first += 1
            continue
        less = phi[l]
        if more * a[h] >= less * a[l]:
            more = less * a[l] / a[h]
            last -= 1
        else:
            less = more * a[h] / a[l]
            first += 1
        phi[h] += more
        phi[l] = max(phi[l] - less, 0.0)
        left.share[left.sender[h]] -= more
        left.budget[left.sender[h]] -= step.psi[h] * more
        _release(step, left, l, less)
        moved = True
    return moved


@compiled
def _what_is_left(step: Step, phi: FloatArray, waiting: BoolArray) -> _Left:
    """The senders' shares and budgets without what Φ uses."""
    left = _Left(np.empty(phi.size, np.int64), np.ones(step.B.size), step.B.copy(), waiting)
    for k in range(step.B.size):
        for l in range(step.offsets[k], step.offsets[k + 1]):
            left.sender[l] = k
            left.share[k] -= phi[l]
            left.budget[k] -= step.psi[l] * phi[l]
    return left


@compiled
def send_less(step: Step, R: FloatArray, phi: FloatArray) -> None:
    """Change Φ so that it sends less and brings the same useful data R."""
    waiting = np.empty(R.size, np.bool_)
    n_waiting = 0
    for i in range(R.size):
        waiting[i] = R[i] > 0.0 and R[i] >= step.cap[i] * _FULL
        n_waiting += waiting[i]
    if n_waiting == 0:
        return
    into = _links_into(step, waiting)
    left = _what_is_left(step, phi, waiting)
    for _ in range(_PASSES):
        moved = False
        for i in range(R.size):
            if waiting[i]:
                waiting[i] = False
                if not into.sorted[i] and _can_gain(step, into, i, left, phi):
                    _sort(into, i)
                if into.sorted[i] and _exchange(step, into, i, left, phi):
                    moved = True
        if not moved:
            break
