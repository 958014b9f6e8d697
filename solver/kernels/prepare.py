"""Presolve, and the layout of what it leaves for the interior-point method."""

import numpy as np

from solver.arrays import FloatArray, IntArray
from solver.kernels.compile import compiled, inlined
from solver.kernels.layout import Presolved, Reduced, Step
from solver.kernels.presolve import SHARED, presolve

__all__ = ["prepare"]

# A receiver's weight in the barrier, for each link into it: caps that sum up many small links stay as central as these.
_WEIGHT_OF_A_LINK = 0.03


@inlined
def _rows_of(first: int, last: int, role: IntArray, psi: FloatArray, B: float) -> tuple[int, int]:
    """How many links of a sender are shared, and whether it needs one row or two.

    If ψ ≥ B on every link, the budget row implies the share row. If ψ ≤ B on every link, the share row implies the
    budget row.
    """
    n_open = 0
    by_share = False
    by_budget = False
    for l in range(first, last):
        if role[l] == SHARED:
            n_open += 1
            if psi[l] < B:
                by_share = True
            elif psi[l] > B:
                by_budget = True
    return n_open, 2 if by_share and by_budget else 1


@compiled
def _room(step: Step, most: FloatArray, role: IntArray, free: FloatArray) -> FloatArray:
    """What each receiver can take beyond the pooled data.

    A cap far above everything that could arrive would only cost digits, so it is cut down. A receiver without shared
    links gets any positive number.
    """
    room = np.zeros(step.cap.size)
    for l in range(most.size):
        if role[l] == SHARED:
            room[step.receiver[l]] += most[l]
    for i in range(room.size):
        room[i] = min(step.cap[i] - free[i], 2.0 * room[i]) if room[i] > 0.0 else 1.0
    return room


@compiled
def _weights(receiver: IntArray, n_receivers: int) -> FloatArray:
    """Each receiver's weight in the barrier, at least 1."""
    weight = np.zeros(n_receivers)
    for l in range(receiver.size):
        weight[receiver[l]] += _WEIGHT_OF_A_LINK
    for i in range(n_receivers):
        weight[i] = max(weight[i], 1.0)
    return weight


@compiled
def _tops(step: Step, found: Presolved, u: FloatArray) -> FloatArray:
    """The most that each s may be by its link's limit; empty if no limit is stricter than the sender's rows.

    A limit that is not stricter is doubled: two equal constraints would share their multiplier as they like.
    """
    n_strict = 0
    top = np.empty(u.size if step.limit.size > 0 else 0)
    for m in range(top.size):
        l = found.links[m]
        top[m] = found.most[l] / u[m]
        if found.most[l] < step.limit[l] * step.a[l] or step.limit[l] >= 1.0:
            top[m] *= 2.0
        else:
            n_strict += 1
    return top if n_strict > 0 else top[:0]


@compiled
def _group_senders(step: Step, role: IntArray) -> tuple[IntArray, IntArray]:
    """Sort senders into groups of equal (rows, shared links).

    Returns `groups` as `interior_point` explains it, and each sender's group (−1 for a sender without shared links).
    """
    offsets, B = step.offsets, step.B
    n_receivers = step.cap.size
    kinds = 2 * (n_receivers + 1)
    group_of = np.empty(B.size, np.int64)
    size = np.zeros(kinds, np.int64)
    for k in range(B.size):
        n_open, rows = _rows_of(offsets[k], offsets[k + 1], role, step.psi, B[k])
        group_of[k] = -1
        if n_open > 0:
            group_of[k] = (rows - 1) * (n_receivers + 1) + n_open
            size[group_of[k]] += 1
    n_groups = 0
    for kind in range(kinds):
        if size[kind] > 0:
            n_groups += 1
    groups = np.empty((n_groups, 5), np.int64)
    number = np.zeros(kinds, np.int64)
    t = 0
    k0 = 0
    l0 = 0
    for kind in range(kinds):
        if size[kind] > 0:
            n = kind % (n_receivers + 1)
            groups[t, 0] = k0
            groups[t, 1] = size[kind]
            groups[t, 2] = l0
            groups[t, 3] = n
            groups[t, 4] = 1 + kind // (n_receivers + 1)
            number[kind] = t
            k0 += size[kind]
            l0 += n * size[kind]
            t += 1
    for k in range(B.size):
        if group_of[k] >= 0:
            group_of[k] = number[group_of[k]]
    return groups, group_of


@compiled
def prepare(step: Step) -> tuple[Presolved, Reduced]:
    """Presolve and lay out the reduced problem: senders grouped by their number of rows, then of links."""
    offsets, receiver, a, psi, B = step.offsets, step.receiver, step.a, step.psi, step.B
    most = np.empty(a.size)
    role = np.empty(a.size, np.int64)
    free = np.empty(step.cap.size)
    full = np.empty(step.cap.size, np.bool_)
    n_shared = presolve(step, most, role, free, full)
    room = _room(step, most, role, free)
    base = step.data + np.minimum(free, step.cap)
    links = np.empty(n_shared, np.int64)
    target = np.empty(n_shared, np.int64)
    u = np.empty(n_shared)
    c = np.empty(n_shared)
    d = np.empty(n_shared)
    groups, group_of = _group_senders(step, role)
    placed = np.zeros(groups.shape[0], np.int64)
    for k in range(B.size):
        t = group_of[k]
        if t < 0:
            continue
        at = groups[t, 2] + placed[t]
        placed[t] += 1
        for l in range(offsets[k], offsets[k + 1]):
            if role[l] == SHARED:
                links[at] = l
                target[at] = receiver[l]
                u[at] = min(most[l], room[receiver[l]])
                c[at] = u[at] / a[l]
                d[at] = c[at] * psi[l] / B[k] if psi[l] > 0.0 else 0.0
                if groups[t, 4] == 1:
                    c[at] = max(c[at], d[at])
                    d[at] = 0.0
                at += groups[t, 1]
    pi = np.empty(n_shared if step.price.size > 0 else 0)
    for m in range(pi.size):
        pi[m] = step.price[links[m]] * u[m] / a[links[m]]
    found = Presolved(role, most, free, full, links)
    top = _tops(step, found, u)
    weight = _weights(target, room.size)
    index = groups.view(np.uint64), target.view(np.uint64)
    return found, Reduced(index[0], index[1], u, c, d, room, base, pi, top, weight)
