"""The links of a step problem: from unsampled devices with data to sampled ones, grouped by sender."""

import numpy as np

from solver.arrays import FloatArray, IntArray
from solver.kernels.compile import compiled

__all__ = ["group_by_sender"]


@compiled
def group_by_sender(
    incoming: IntArray,
    source: IntArray,
    similarity: FloatArray,
    cost: FloatArray,
    data: FloatArray,
    budget: FloatArray,
    sampled: IntArray,
) -> tuple[IntArray, IntArray, IntArray, IntArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return the columns of `Subgraph` from `offsets` to `budget`: eqs. (13)–(15) as a list of links.

    The links offsets[k]:offsets[k + 1] are those of one sender, ascending in `receiver`, the position of the target in
    `sampled`. A counting sort over devices: O(devices + links into the sampled ones).
    """
    n = data.size
    is_sampled = np.zeros(n, np.bool_)
    for i in sampled:
        is_sampled[i] = True
    count = np.zeros(n, np.int64)
    n_links = 0
    for i in sampled:
        for l in range(incoming[i], incoming[i + 1]):
            k = source[l]
            if not is_sampled[k] and data[k] > 0.0:
                count[k] += 1
                n_links += 1
    n_senders = 0
    for k in range(n):
        if count[k] > 0:
            n_senders += 1
    allowed = np.empty(n_senders)
    offsets = np.zeros(n_senders + 1, np.int64)
    row = 0
    for k in range(n):
        if count[k] > 0:
            # Ψ/D, kept finite if a very large budget stands for "no limit".
            allowed[row] = min(budget[k] / data[k], 1e300)
            offsets[row + 1] = offsets[row] + count[k]
            # From here on, count[k] is where the sender's next link goes.
            count[k] = offsets[row]
            row += 1
    receiver, sender, target = np.empty(n_links, np.int64), np.empty(n_links, np.int64), np.empty(n_links, np.int64)
    held, fresh, psi = np.empty(n_links), np.empty(n_links), np.empty(n_links)
    for position in range(sampled.size):
        i = sampled[position]
        for l in range(incoming[i], incoming[i + 1]):
            k = source[l]
            if not is_sampled[k] and data[k] > 0.0:
                at = count[k]
                count[k] += 1
                receiver[at], sender[at], target[at] = position, k, i
                held[at], fresh[at], psi[at] = data[k], data[k] * (1.0 - similarity[l]), cost[l]
    return offsets, receiver, sender, target, held, fresh, psi, allowed
