"""Presolve: what can be decided before any iteration.

Each rule keeps at least one optimal plan, because the objective falls in every R_i:

1. A link that can carry nothing (Λ = 1, no budget, a full receiver) is dropped.
2. A sender with a single open link sends all it can, since only the receiver's cap limits it. Its flow is pooled
   into `free[i]`, the datapoints that receiver i gets from such senders.
3. A receiver whose pool alone fills its cap is full. The other senders need not serve it, so their links to it
   are dropped. That may leave them with a single link, so rule 2 is applied again, until nothing changes.

What remains are senders with two or more open links, to receivers with room left beyond their pool.

With limits, rule 2 holds for all open links of a sender that fit its rows together. With prices, rules 2 and 3 do not
hold. Instead a link is dropped if its price is above what it could gain at first, since later datapoints gain less.
"""

import numpy as np

from solver.arrays import BoolArray, FloatArray, IntArray
from solver.kernels.compile import compiled, lean
from solver.kernels.layout import Step
from solver.kernels.objective import gradient

__all__ = ["DROPPED", "POOLED", "SHARED", "presolve"]

DROPPED = 0
POOLED = 1
SHARED = 2


@compiled
def _open_links(step: Step, most: FloatArray, role: IntArray) -> None:
    """Write the most that each link can carry on its own, and whether it is SHARED or DROPPED at first."""
    a, psi, B = step.a, step.psi, step.B
    for k in range(B.size):
        for l in range(step.offsets[k], step.offsets[k + 1]):
            share = 1.0 if psi[l] <= B[k] else B[k] / psi[l]
            if step.limit.size > 0:
                share = min(share, step.limit[l])
            most[l] = a[l] * share
            role[l] = SHARED if most[l] > 0.0 else DROPPED
    if step.price.size > 0:
        g = np.empty(step.data.size)
        gradient(step.data, step.D_hat, step.G, step.gamma, g)
        for l in range(a.size):
            if step.price[l] >= -g[step.receiver[l]] * a[l]:
                role[l] = DROPPED


@lean
def _fits(step: Step, k: int, most: FloatArray, role: IntArray) -> bool:
    """Whether all open links of sender k can carry their most together."""
    share = 0.0
    budget = 0.0
    for l in range(step.offsets[k], step.offsets[k + 1]):
        if role[l] == SHARED:
            share += most[l] / step.a[l]
            budget += most[l] / step.a[l] * step.psi[l]
    return share <= 1.0 and budget <= step.B[k]


@compiled
def presolve(step: Step, most: FloatArray, role: IntArray, free: FloatArray, full: BoolArray) -> int:
    """Sort links into DROPPED, POOLED and SHARED (written to `role`) and return how many are SHARED.

    `most[l]` becomes the useful datapoints link l can carry on its own, `free[i]` the pooled ones, `full[i]`
    whether they fill the cap.
    """
    offsets, receiver, cap = step.offsets, step.receiver, step.cap
    limited, priced = step.limit.size > 0, step.price.size > 0
    for i in range(cap.size):
        free[i] = 0.0
        full[i] = cap[i] <= 0.0
    _open_links(step, most, role)
    changed = True
    while changed:
        changed = False
        for k in range(step.B.size):
            n_open = 0
            for l in range(offsets[k], offsets[k + 1]):
                if role[l] == SHARED:
                    if full[receiver[l]]:
                        role[l] = DROPPED
                    else:
                        n_open += 1
            if n_open > 0 and not priced and (n_open == 1 or (limited and _fits(step, k, most, role))):
                for l in range(offsets[k], offsets[k + 1]):
                    if role[l] == SHARED:
                        role[l] = POOLED
                        i = receiver[l]
                        free[i] += most[l]
                        if free[i] >= cap[i]:
                            full[i] = True
                            changed = True
    n_shared = 0
    for l in range(role.size):
        if role[l] == SHARED:
            n_shared += 1
    return n_shared
