"""Presolve: what can be decided before any iteration.

Each rule keeps at least one optimal plan, because the objective falls in every R_i:

1. A link that can carry nothing (Λ = 1, no budget, a full receiver) is dropped.
2. A sender with a single open link sends all it can, since only the receiver's cap limits it. Its flow is pooled
   into `free[i]`, the datapoints that receiver i gets from such senders.
3. A receiver whose pool alone fills its cap is full. The other senders need not serve it, so their links to it
   are dropped. That may leave them with a single link, so rule 2 is applied again, until nothing changes.

What remains are senders with two or more open links, to receivers with room left beyond their pool.
"""

from solver.arrays import BoolArray, FloatArray, IntArray
from solver.kernels.compile import compiled
from solver.kernels.layout import Step

__all__ = ["DROPPED", "POOLED", "SHARED", "presolve"]

DROPPED = 0
POOLED = 1
SHARED = 2


@compiled
def presolve(step: Step, most: FloatArray, role: IntArray, free: FloatArray, full: BoolArray) -> int:
    """Sort links into DROPPED, POOLED and SHARED (written to `role`) and return how many are SHARED.

    `most[l]` becomes the useful datapoints link l can carry on its own, `free[i]` the pooled ones, `full[i]`
    whether they fill the cap.
    """
    offsets, receiver, a, psi, B, cap = step.offsets, step.receiver, step.a, step.psi, step.B, step.cap
    n_senders = B.size
    for i in range(cap.size):
        free[i] = 0.0
        full[i] = cap[i] <= 0.0
    for k in range(n_senders):
        for l in range(offsets[k], offsets[k + 1]):
            share = 1.0 if psi[l] <= B[k] else B[k] / psi[l]
            most[l] = a[l] * share
            role[l] = SHARED if most[l] > 0.0 else DROPPED
    changed = True
    while changed:
        changed = False
        for k in range(n_senders):
            n_open = 0
            single = -1
            for l in range(offsets[k], offsets[k + 1]):
                if role[l] == SHARED:
                    if full[receiver[l]]:
                        role[l] = DROPPED
                    else:
                        n_open += 1
                        single = l
            if n_open == 1:
                role[single] = POOLED
                i = receiver[single]
                free[i] += most[single]
                if free[i] >= cap[i]:
                    full[i] = True
                    changed = True
    n_shared = 0
    for l in range(a.size):
        if role[l] == SHARED:
            n_shared += 1
    return n_shared
