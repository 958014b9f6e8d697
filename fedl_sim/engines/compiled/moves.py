"""Moving datapoints for one candidate set of a small network, by the rules of `fedl_sim.loop.holdings`.

All random numbers are drawn beforehand, for each step and link of the *network*. So all candidate sets of a realisation
use the same random numbers, and their losses differ only by the sets.
"""

import numpy as np

from fedl_sim.engines.compiled.options import kernel

__all__ = ["move_set"]


@kernel
def move_set(  # type: ignore[no-untyped-def]
    first, sampled, link, receiver, fractions, source, turn, rounding, covered
):
    """Carry out a plan; return each sampled device's slots and how many it holds at each step.

    Args:
        first: (N + 1,) device k holds slots first[k]:first[k + 1].
        sampled: (S,) devices.
        link: (L,) the network's link behind each planned link.
        receiver: (L,) position of its target in `sampled`.
        fractions: (T, L) Φ.
        source: sender of each of the network's links.
        turn: (T, links, D_max) a random order of each link's sender's datapoints.
        rounding: (T, links) uniform in [0, 1).
        covered: (links, D_max) which datapoints of the sender the target would drop at the start.
    """
    steps = fractions.shape[0]
    total = first[-1]
    slots = np.empty((sampled.size, total), np.int64)
    held = np.zeros((steps, sampled.size), np.int64)
    count = np.zeros(sampled.size, np.int64)
    for s in range(sampled.size):
        for slot in range(first[sampled[s]], first[sampled[s] + 1]):
            slots[s, count[s]] = slot
            count[s] += 1
    seen = np.empty((link.size, covered.shape[1]), np.bool_)
    for a in range(link.size):
        for j in range(covered.shape[1]):
            seen[a, j] = covered[link[a], j]
    for t in range(steps):
        for a in range(link.size):
            edge = link[a]
            k = source[edge]
            size = first[k + 1] - first[k]
            amount = fractions[t, a] * size
            sent = int(np.floor(amount))
            if rounding[t, edge] < amount - sent:
                sent += 1
            s = receiver[a]
            for j in range(min(sent, size)):
                point = turn[t, edge, j]
                if not seen[a, point]:
                    seen[a, point] = True
                    slots[s, count[s]] = first[k] + point
                    count[s] += 1
        for s in range(sampled.size):
            held[t, s] = count[s]
    return slots, held
