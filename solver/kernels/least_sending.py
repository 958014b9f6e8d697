"""Less sending for the same useful data: eq. (26) does not price what is sent, so a step has many optimal plans.

Of Φ_l = 1, D_k datapoints are sent and a_l of them are useful, so a_l/D_k = 1 − Λ_l is the yield of link l. A receiver
that is full may get the same useful data over links of a higher yield, if their senders can send more. Moving it lowers
what is sent and leaves R, the objective and its certificate as they are. For each full receiver the links are gone
through from both ends of their order by yield. What a sender no longer sends may be of use to another receiver, so this
is repeated. A receiver that is not full has taken all that its senders can give.

If no sender is at its limit, the plan found sends least. Else a better one may exist that moves data of several
receivers at once.
"""

import numpy as np

from solver.arrays import FloatArray, IntArray
from solver.kernels.compile import compiled, inlined
from solver.kernels.copying import copy_into
from solver.kernels.layout import Step

__all__ = ["send_less"]

_PASSES = 10
_FULL = 1.0 - 1e-9
# Smaller gains and smaller fractions are left alone.
_GAIN = 1.0 + 1e-6
_LEAST = 1e-9


@compiled
def _by_yield(step: Step, R: FloatArray) -> tuple[IntArray, IntArray]:
    """The links into full receivers, highest yield first: those of receiver i are order[starts[i]:starts[i + 1]]."""
    wanted = np.empty(R.size, np.bool_)
    for i in range(R.size):
        wanted[i] = R[i] > 0.0 and R[i] >= step.cap[i] * _FULL
    starts = np.zeros(R.size + 1, np.int64)
    for l in range(step.a.size):
        if wanted[step.receiver[l]] and step.a[l] > 0.0:
            starts[step.receiver[l] + 1] += 1
    for i in range(R.size):
        starts[i + 1] += starts[i]
    order = np.empty(starts[-1], np.int64)
    end = starts[:-1].copy()
    for l in range(step.a.size):
        i = step.receiver[l]
        if wanted[i] and step.a[l] > 0.0:
            order[end[i]] = l
            end[i] += 1
    for i in range(R.size):
        own = order[starts[i] : starts[i + 1]]
        copy_into(own, own[np.argsort(-(step.a[own] / step.load[own]))])
    return starts, order


@inlined
def _more(step: Step, l: int, share: float, budget: float, phi: FloatArray) -> float:
    """How much Φ_l may rise by what its sender has left."""
    more = share
    if step.limit.size > 0:
        more = min(more, step.limit[l] - phi[l])
    if step.psi[l] > 0.0:
        more = min(more, budget / step.psi[l])
    return more


@compiled
def _exchange(
    step: Step, own: IntArray, sender: IntArray, share: FloatArray, budget: FloatArray, phi: FloatArray
) -> bool:
    """Move a receiver's data to links of higher yield; returns whether anything moved."""
    a, psi, load = step.a, step.psi, step.load
    moved = False
    first, last = 0, own.size - 1
    while first < last:
        h, l = own[first], own[last]
        if a[h] / load[h] <= a[l] / load[l] * _GAIN:
            break
        if phi[l] <= 0.0:
            last -= 1
            continue
        k = sender[h]
        more = _more(step, h, share[k], budget[k], phi)
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
        moved = True
        phi[h] += more
        phi[l] = max(phi[l] - less, 0.0)
        share[k] -= more
        budget[k] -= psi[h] * more
        share[sender[l]] += less
        budget[sender[l]] += psi[l] * less
    return moved


@compiled
def send_less(step: Step, R: FloatArray, phi: FloatArray) -> None:
    """Change Φ so that it sends less and brings the same useful data R."""
    starts, order = _by_yield(step, R)
    if order.size == 0:
        return
    sender = np.empty(phi.size, np.int64)
    share = np.ones(step.B.size)
    budget = step.B.copy()
    for k in range(step.B.size):
        for l in range(step.offsets[k], step.offsets[k + 1]):
            sender[l] = k
            share[k] -= phi[l]
            budget[k] -= step.psi[l] * phi[l]
    for _ in range(_PASSES):
        moved = False
        for i in range(R.size):
            if _exchange(step, order[starts[i] : starts[i + 1]], sender, share, budget, phi):
                moved = True
        if not moved:
            break
