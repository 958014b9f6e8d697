"""The links of a step problem: from unsampled devices with data to sampled ones, grouped by sender."""

import numpy as np

from solver.arrays import FloatArray, IntArray
from solver.kernels.compile import compiled

__all__ = ["group_by_sender"]


@compiled
def group_by_sender(
    incoming: IntArray, source: IntArray, data: FloatArray, sampled: IntArray
) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Return (senders, offsets, receiver, link): eqs. (13)–(15) as a list of links.

    `link[offsets[k]:offsets[k + 1]]` are the links of device `senders[k]`, ascending in `receiver`, the position
    of the target in `sampled`. A counting sort over devices: O(devices + links into the sampled ones).
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
    senders = np.empty(n_senders, np.int64)
    offsets = np.zeros(n_senders + 1, np.int64)
    row = 0
    for k in range(n):
        if count[k] > 0:
            senders[row] = k
            offsets[row + 1] = offsets[row] + count[k]
            # From here on, count[k] is where the sender's next link goes.
            count[k] = offsets[row]
            row += 1
    receiver = np.empty(n_links, np.int64)
    link = np.empty(n_links, np.int64)
    for position in range(sampled.size):
        i = sampled[position]
        for l in range(incoming[i], incoming[i + 1]):
            k = source[l]
            if not is_sampled[k] and data[k] > 0.0:
                receiver[count[k]] = position
                link[count[k]] = l
                count[k] += 1
    return senders, offsets, receiver, link
