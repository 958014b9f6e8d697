"""The arithmetic of `sampler.gcn.rank_pass`, for some devices at a time, so that threads can share the work.

A device's numbers are always added up in the same order, whichever devices are computed together with it.
"""

import math
from typing import NamedTuple

import numpy as np

from sampler.kernels.compile import compiled
from solver.arrays import FloatArray, IntArray

__all__ = ["Gathering", "gather", "layer", "list_links", "mix", "weigh"]


class Gathering(NamedTuple):
    """D̃^(−1/2) Ã D̃^(−1/2) by rows: device i gathers from receivers[outgoing[i]:outgoing[i + 1]] and from itself."""

    outgoing: IntArray
    receivers: IntArray
    weight: FloatArray
    own: FloatArray


@compiled
def list_links(source: IntArray, outgoing: IntArray, links: IntArray) -> None:
    """List the links of every sender, ascending, by counting; `outgoing`, (N + 1,), comes with zeros."""
    for l in range(source.size):
        outgoing[source[l] + 1] += 1
    for k in range(outgoing.size - 1):
        outgoing[k + 1] += outgoing[k]
    place = outgoing[:-1].copy()
    for l in range(source.size):
        links[place[source[l]]] = l
        place[source[l]] += 1


@compiled
def _gather(by: Gathering, i: int, values: FloatArray, row: FloatArray) -> None:
    """Write what device i gathers of `values` (N, U)."""
    for u in range(row.size):
        row[u] = by.own[i] * values[i, u]
    for place in range(by.outgoing[i], by.outgoing[i + 1]):
        j, weight = by.receivers[place], by.weight[place]
        for u in range(row.size):
            row[u] += weight * values[j, u]


@compiled
def layer(
    devices: IntArray,
    by: Gathering,
    hidden: FloatArray,
    own: FloatArray,
    neighbours: FloatArray,
    plus: FloatArray,
    bent: bool,
    out: FloatArray,
) -> None:
    """Write H W_own + (D̃^(−1/2) Ã D̃^(−1/2) H) W_neighbours + plus of these devices, under a ReLU if `bent`.

    `plus` has a row for each device, or one for all.
    """
    row = np.empty(hidden.shape[1])
    least = 0.0 if bent else -np.inf
    for place in range(devices.size):
        i = devices[place]
        _gather(by, i, hidden, row)
        start = i if plus.shape[0] > 1 else 0
        for o in range(own.shape[1]):
            out[i, o] = plus[start, o]
        for u in range(row.size):
            here, around = hidden[i, u], row[u]
            for o in range(own.shape[1]):
                out[i, o] += here * own[u, o] + around * neighbours[u, o]
        for o in range(own.shape[1]):
            out[i, o] = max(out[i, o], least)


@compiled
def weigh(
    devices: IntArray,
    hidden: FloatArray,
    own: FloatArray,
    neighbours: FloatArray,
    plus: FloatArray,
    offered: FloatArray,
    out: FloatArray,
) -> None:
    """Write H W_neighbours, which devices offer to those that gather from them, and H W_own + plus."""
    for place in range(devices.size):
        i = devices[place]
        for o in range(own.shape[1]):
            offer, here = 0.0, plus[0, o]
            for u in range(hidden.shape[1]):
                offer += hidden[i, u] * neighbours[u, o]
                here += hidden[i, u] * own[u, o]
            offered[i, o] = offer
            out[i, o] = here


@compiled
def gather(devices: IntArray, by: Gathering, offered: FloatArray, bent: bool, out: FloatArray) -> None:
    """Add to `out` what these devices gather of what is offered, and apply the ReLU if `bent`."""
    row = np.empty(offered.shape[1])
    least = 0.0 if bent else -np.inf
    for place in range(devices.size):
        i = devices[place]
        _gather(by, i, offered, row)
        for o in range(row.size):
            out[i, o] = max(out[i, o] + row[o], least)


@compiled
def mix(first: int, last: int, counts: FloatArray, held: FloatArray, share: FloatArray, out: FloatArray) -> None:
    """Write what the mixture of the picked becomes with each of the devices from the first to before the last.

    Counts are by class and device, m = held + counts[:, i], and π is the network's mixture. Then out[:, i] becomes
    Σ_c √(m_c π_c), that divided by √Σ m, and Σ_c min(m_c/Σ m, π_c), 1 less the total variation distance of m and π.
    """
    amount = np.zeros(last - first)
    for i in range(first, last):
        out[0, i] = 0.0
        out[2, i] = 0.0
    # Device after device within a class: a sum over classes could not use the processor's vectors.
    for c in range(share.size):
        root = math.sqrt(share[c])
        for i in range(first, last):
            m = held[c] + counts[c, i]
            amount[i - first] += m
            out[0, i] += root * math.sqrt(m)
    for i in range(first, last):
        amount[i - first] = max(amount[i - first], 1e-300)
        out[1, i] = out[0, i] / math.sqrt(amount[i - first])
    for c in range(share.size):
        for i in range(first, last):
            out[2, i] += min((held[c] + counts[c, i]) / amount[i - first], share[c])
