"""What sets of devices would hold after offloading, in closed form; `sampler.objectives.holdings` derives it."""

import math
from typing import NamedTuple

import numpy as np

from sampler.kernels.compile import compiled
from solver.arrays import FloatArray, IntArray

__all__ = ["Claims", "Flows", "Sums", "arriving", "flows_along", "mean_reach", "pool", "sent_once"]


@compiled
def mean_reach(s: float, T: int) -> float:
    """Mean over t = 1..T of 1 − (1 − s)^t, the part of a link's data that has arrived if each step sends a share s."""
    if s >= 1.0:
        return 1.0
    if s * T < 1e-6:
        # The closed form below would lose its digits.
        return 0.5 * s * (T + 1)
    return 1.0 + (1.0 - s) * math.expm1(T * math.log1p(-s)) / (s * T)


class Flows(NamedTuple):
    """What may flow along the links of a network, and what the devices hold and can take.

    The links into device i are incoming[i]:incoming[i + 1]. Link l from `source` to `target` brings `most` useful
    datapoints, on the mean over the steps if senders redraw, and in all if they send once; `weight` is its claim to a
    part of the sender's budget. `steps` is T if senders send once, and `pace` then the number of steps in which the
    sender could send all its data over the link alone; with redrawing senders `steps` is 0, and `pace` says how what
    arrives falls with the link's part (see `arriving`). `data` and `room` are of each device: what it holds, and what
    it can take on the mean over the steps.
    """

    incoming: IntArray
    source: IntArray
    target: IntArray
    most: FloatArray
    pace: FloatArray
    weight: FloatArray
    data: FloatArray
    room: FloatArray
    steps: int


class Claims(NamedTuple):
    """Of each device as a sender: the sums over its links to the set of their weights and, if it sends once, paces."""

    weight: FloatArray
    pace: FloatArray


@compiled
def sent_once(pace: float, everything: float, T: int) -> float:
    """The mean part that has arrived in T steps of data that takes `pace` steps, and all of which has by `everything`.

    By step t < h the part t/pace has arrived and from step h on all of it, h = min(pace, everything).
    """
    h = min(max(min(pace, everything), 1.0), T + 1.0)
    late = 0.5 * h * (h - 1.0) / pace if pace > 1.0 else 0.0
    return (late + T + 1.0 - h) / T


@compiled
def arriving(flows: Flows, l: int, W: float, M: float) -> float:
    """What arrives on the mean over link l if the claims on its sender sum to W (weights) and M (paces)."""
    w = flows.weight[l]
    if w <= 0.0:
        return 0.0
    b = flows.pace[l]
    if flows.steps > 0:
        return float(flows.most[l] * sent_once(b * W / w, M, flows.steps))
    return float(flows.most[l] * (1.0 + b) * w / (W + b * w))


@compiled
def flows_along(share: FloatArray, similarity: FloatArray, T: int, flows: Flows) -> None:
    """Write `most`, `pace` and `weight` of every link.

    `pace` comes with the steps that the link needs alone, and `share` is the share of its data that fits a step. A
    receiver whose senders could bring more than it has room for claims less of each.
    """
    for i in range(flows.incoming.size - 1):
        total = 0.0
        for l in range(flows.incoming[i], flows.incoming[i + 1]):
            s = share[l]
            if T == 0 or s <= 0.0:
                continue
            fresh = 1.0 - similarity[l]
            whole = flows.data[flows.source[l]] * fresh
            if flows.steps > 0:
                flows.most[l] = whole
                total += whole * sent_once(flows.pace[l], flows.pace[l], T)
            else:
                reach = mean_reach(s, T)
                flows.most[l] = whole * reach
                flows.pace[l] = max(0.5 * s * (T + 1) / reach - 1.0, 0.0)
                total += flows.most[l]
            flows.weight[l] = (fresh * s) ** 2
        if total > flows.room[i]:
            for l in range(flows.incoming[i], flows.incoming[i + 1]):
                flows.weight[l] *= flows.room[i] / total


class Sums(NamedTuple):
    """For each set, with h_k its datapoints from device k: Σ h_k, Σ h_k·features_k and Σ weight_k·h_k²."""

    amount: FloatArray
    sums: FloatArray
    squares: FloatArray


class _Reached(NamedTuple):
    """Scratch, by device: the last set it is in, the last set that reaches it, its links' claims there, and h_k."""

    member: IntArray
    seen: IntArray
    claims: Claims
    held: FloatArray


@compiled
def _reach(flows: Flows, sets: IntArray, j: int, reached: _Reached, touched: IntArray) -> int:
    """List the devices whose data set j can hold, add up the claims on each, and return how many they are.

    A member of the set holds its own data; of the others nothing has arrived yet.
    """
    member, seen, claims, held = reached
    n_touched = 0
    for i in sets[j]:
        member[i] = j
    for i in sets[j]:
        held[i] = flows.data[i]
        touched[n_touched] = i
        n_touched += 1
        for l in range(flows.incoming[i], flows.incoming[i + 1]):
            k = flows.source[l]
            if member[k] == j:
                continue
            if seen[k] != j:
                seen[k] = j
                claims.weight[k] = 0.0
                claims.pace[k] = 0.0
                held[k] = 0.0
                touched[n_touched] = k
                n_touched += 1
            claims.weight[k] += flows.weight[l]
            claims.pace[k] += flows.pace[l]
    return n_touched


@compiled
def _receive(flows: Flows, i: int, j: int, reached: _Reached, arrived: FloatArray) -> None:
    """Add to h_k what member i of set j receives from device k, scaled down to the room that i has."""
    member, _, claims, held = reached
    first, last = flows.incoming[i], flows.incoming[i + 1]
    total = 0.0
    for l in range(first, last):
        k = flows.source[l]
        if member[k] == j:
            continue
        arrived[l - first] = arriving(flows, l, claims.weight[k], claims.pace[k])
        total += arrived[l - first]
    fits = 1.0 if total <= flows.room[i] else flows.room[i] / total
    for l in range(first, last):
        k = flows.source[l]
        if member[k] != j:
            held[k] += fits * arrived[l - first]


@compiled
def pool(sets: IntArray, flows: Flows, features: FloatArray, weight: FloatArray, out: Sums) -> None:
    """Write the sums over what each set would hold after offloading."""
    n = flows.data.size
    reached = _Reached(np.full(n, -1), np.full(n, -1), Claims(np.zeros(n), np.zeros(n)), np.zeros(n))
    most = 0
    for i in range(n):
        most = max(most, flows.incoming[i + 1] - flows.incoming[i])
    arrived = np.empty(most)
    touched = np.empty(n, np.int64)
    for j in range(sets.shape[0]):
        n_touched = _reach(flows, sets, j, reached, touched)
        for i in sets[j]:
            _receive(flows, i, j, reached, arrived)
        out.amount[j] = 0.0
        out.squares[j] = 0.0
        out.sums[j, :] = 0.0
        for position in range(n_touched):
            k = touched[position]
            h = reached.held[k]
            out.amount[j] += h
            out.squares[j] += weight[k] * h * h
            for c in range(features.shape[1]):
                out.sums[j, c] += h * features[k, c]
