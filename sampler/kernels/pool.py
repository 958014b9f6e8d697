"""What sets of devices would hold after offloading, in closed form; `sampler.objectives.holdings` derives it."""

import math
from typing import NamedTuple

import numpy as np

from sampler.kernels.compile import compiled
from solver.arrays import FloatArray, IntArray

__all__ = ["Flows", "Sums", "arriving", "flows_along", "mean_reach", "pool"]


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
    datapoints, on the mean over the steps, if its sender sends to no other device; `weight` is its claim to a part of
    the sender's budget, and `bend` says how what arrives falls with that part (see `arriving`). `data` and `room` are
    of each device: what it holds, and what it can take on the mean over the steps.
    """

    incoming: IntArray
    source: IntArray
    target: IntArray
    most: FloatArray
    bend: FloatArray
    weight: FloatArray
    data: FloatArray
    room: FloatArray


@compiled
def arriving(flows: Flows, l: int, W: float) -> float:
    """What arrives on the mean over link l if its weight is a part of the sender's weights W over all its receivers."""
    if flows.weight[l] <= 0.0:
        return 0.0
    b = flows.bend[l]
    return float(flows.most[l] * (1.0 + b) * flows.weight[l] / (W + b * flows.weight[l]))


@compiled
def flows_along(share: FloatArray, similarity: FloatArray, held: FloatArray, T: int, flows: Flows) -> None:
    """Write `most`, `bend` and `weight` of every link, given the share that fits a step and the sender's data."""
    for l in range(share.size):
        s = share[l]
        if T == 0 or s <= 0.0:
            continue
        reach = mean_reach(s, T)
        fresh = 1.0 - similarity[l]
        flows.most[l] = held[flows.source[l]] * fresh * reach
        flows.bend[l] = max(0.5 * s * (T + 1) / reach - 1.0, 0.0)
        flows.weight[l] = (fresh * s) ** 2


class Sums(NamedTuple):
    """For each set, with h_k its datapoints from device k: Σ h_k, Σ h_k·features_k and Σ weight_k·h_k²."""

    amount: FloatArray
    sums: FloatArray
    squares: FloatArray


class _Reached(NamedTuple):
    """Scratch, by device: the last set it is in, the last set that reaches it, its links' weights there, and h_k."""

    member: IntArray
    seen: IntArray
    weights: FloatArray
    held: FloatArray


@compiled
def _reach(flows: Flows, sets: IntArray, j: int, reached: _Reached, touched: IntArray) -> int:
    """List the devices whose data set j can hold, add up the weights of each, and return how many they are.

    A member of the set holds its own data; of the others nothing has arrived yet.
    """
    member, seen, weights, held = reached
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
                weights[k] = 0.0
                held[k] = 0.0
                touched[n_touched] = k
                n_touched += 1
            weights[k] += flows.weight[l]
    return n_touched


@compiled
def _receive(flows: Flows, i: int, j: int, reached: _Reached, arrived: FloatArray) -> None:
    """Add to h_k what member i of set j receives from device k, scaled down to the room that i has."""
    member, _, weights, held = reached
    first, last = flows.incoming[i], flows.incoming[i + 1]
    total = 0.0
    for l in range(first, last):
        k = flows.source[l]
        if member[k] == j:
            continue
        arrived[l - first] = arriving(flows, l, weights[k])
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
    reached = _Reached(np.full(n, -1), np.full(n, -1), np.zeros(n), np.zeros(n))
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
