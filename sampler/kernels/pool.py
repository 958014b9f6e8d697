"""What sets of devices would hold after offloading, in closed form; `sampler.objectives.holdings` derives it."""

import math
from typing import NamedTuple

import numpy as np

from sampler.kernels.compile import compiled
from solver.arrays import FloatArray, IntArray

__all__ = ["Flows", "Sums", "mean_reach", "mean_reaches", "pool"]


@compiled
def mean_reach(s: float, T: int) -> float:
    """Mean over t = 1..T of 1 − (1 − s)^t, the part of a link's data that has arrived if each step sends a share s."""
    if s >= 1.0:
        return 1.0
    if s * T < 1e-6:
        # The closed form below would lose its digits.
        return 0.5 * s * (T + 1)
    return 1.0 + (1.0 - s) * math.expm1(T * math.log1p(-s)) / (s * T)


@compiled
def mean_reaches(s: FloatArray, T: int) -> FloatArray:
    """`mean_reach` of every share."""
    reach = np.empty(s.size)
    for l in range(s.size):
        reach[l] = mean_reach(s[l], T)
    return reach


class Flows(NamedTuple):
    """What may flow along the links of a network, and what the devices hold and can take.

    The links into device i are incoming[i]:incoming[i + 1]. Link l comes from `source`, sends the share `share` of the
    source's data in every step, and has `fresh` datapoints that are new to the target. `once` and `twice` are its mean
    reach if the source has one or two sampled receivers. `data` and `room` are of each device: what it holds, and what
    it can take on the mean over the T steps.
    """

    incoming: IntArray
    source: IntArray
    share: FloatArray
    once: FloatArray
    twice: FloatArray
    fresh: FloatArray
    data: FloatArray
    room: FloatArray
    T: int


class Sums(NamedTuple):
    """For each set, with h_k its datapoints from device k: Σ h_k, Σ h_k·features_k and Σ weight_k·h_k²."""

    amount: FloatArray
    sums: FloatArray
    squares: FloatArray


class _Reached(NamedTuple):
    """Scratch, by device: the last set it is in, the last set that reaches it, its receivers there, and h_k."""

    member: IntArray
    seen: IntArray
    receivers: IntArray
    held: FloatArray


@compiled
def _reach(flows: Flows, sets: IntArray, j: int, reached: _Reached, touched: IntArray) -> int:
    """List the devices whose data set j can hold, count the receivers of each, and return how many they are.

    A member of the set holds its own data; of the others nothing has arrived yet.
    """
    member, seen, receivers, held = reached
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
                receivers[k] = 0
                held[k] = 0.0
                touched[n_touched] = k
                n_touched += 1
            receivers[k] += 1
    return n_touched


@compiled
def _receive(flows: Flows, i: int, j: int, reached: _Reached, arriving: FloatArray) -> None:
    """Add to h_k what member i of set j receives from device k, scaled down to the room that i has."""
    member, _, receivers, held = reached
    first, last = flows.incoming[i], flows.incoming[i + 1]
    total = 0.0
    for l in range(first, last):
        k = flows.source[l]
        if member[k] == j:
            continue
        if receivers[k] == 1:
            part = flows.once[l]
        elif receivers[k] == 2:
            part = flows.twice[l]
        else:
            part = mean_reach(flows.share[l] / receivers[k], flows.T)
        arriving[l - first] = flows.fresh[l] * part
        total += flows.fresh[l] * part
    fits = 1.0 if total <= flows.room[i] else flows.room[i] / total
    for l in range(first, last):
        k = flows.source[l]
        if member[k] != j:
            held[k] += fits * arriving[l - first]


@compiled
def pool(sets: IntArray, flows: Flows, features: FloatArray, weight: FloatArray, out: Sums) -> None:
    """Write the sums over what each set would hold after offloading."""
    n = flows.data.size
    reached = _Reached(np.full(n, -1), np.full(n, -1), np.zeros(n, np.int64), np.zeros(n))
    most = 0
    for i in range(n):
        most = max(most, flows.incoming[i + 1] - flows.incoming[i])
    arriving = np.empty(most)
    touched = np.empty(sets.shape[1] * (most + 1), np.int64)
    for j in range(sets.shape[0]):
        n_touched = _reach(flows, sets, j, reached, touched)
        for i in sets[j]:
            _receive(flows, i, j, reached, arriving)
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
