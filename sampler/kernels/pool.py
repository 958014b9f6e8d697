"""What sets of devices would hold after offloading, in closed form (`sampler.objectives.holdings` derives it)."""

import math

import numpy as np

from sampler.kernels.compile import compiled
from solver.arrays import FloatArray, IntArray

__all__ = ["mean_reach", "mean_reaches", "pool"]


@compiled
def mean_reach(s: float, T: int) -> float:
    """Mean over t = 1..T of 1 − (1 − s)^t: what part of a link's data has come, sending the share s at every step."""
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


@compiled
def pool(
    sets: IntArray,
    incoming: IntArray,
    source: IntArray,
    s: FloatArray,
    once: FloatArray,
    twice: FloatArray,
    fresh: FloatArray,
    data: FloatArray,
    room: FloatArray,
    T: int,
    features: FloatArray,
    weight: FloatArray,
    amount: FloatArray,
    sums: FloatArray,
    squares: FloatArray,
) -> None:
    """Write for each set Σ_k h_k, Σ_k h_k·features_k and Σ_k weight_k·h_k², h_k being what it holds of k's data.

    `once` and `twice` are the links' mean reach for a sender with one and with two sampled receivers.
    """
    n = data.size
    width = features.shape[1]
    size = sets.shape[1]
    member = np.full(n, -1)
    seen = np.full(n, -1)
    count = np.zeros(n, np.int64)
    held = np.zeros(n)
    most = 0
    for i in range(n):
        most = max(most, incoming[i + 1] - incoming[i])
    arriving = np.empty(most)
    touched = np.empty(size * (most + 1), np.int64)
    for j in range(sets.shape[0]):
        n_touched = 0
        for place in range(size):
            member[sets[j, place]] = j
        for place in range(size):
            i = sets[j, place]
            held[i] = data[i]
            touched[n_touched] = i
            n_touched += 1
            for l in range(incoming[i], incoming[i + 1]):
                k = source[l]
                if member[k] == j:
                    continue
                if seen[k] != j:
                    seen[k] = j
                    count[k] = 0
                    held[k] = 0.0
                    touched[n_touched] = k
                    n_touched += 1
                count[k] += 1
        for place in range(size):
            i = sets[j, place]
            total = 0.0
            for l in range(incoming[i], incoming[i + 1]):
                k = source[l]
                if member[k] == j:
                    continue
                if count[k] == 1:
                    part = once[l]
                elif count[k] == 2:
                    part = twice[l]
                else:
                    part = mean_reach(s[l] / count[k], T)
                arriving[l - incoming[i]] = fresh[l] * part
                total += fresh[l] * part
            fits = 1.0 if total <= room[i] else room[i] / total
            for l in range(incoming[i], incoming[i + 1]):
                k = source[l]
                if member[k] != j:
                    held[k] += fits * arriving[l - incoming[i]]
        amount[j] = 0.0
        squares[j] = 0.0
        sums[j, :] = 0.0
        for position in range(n_touched):
            k = touched[position]
            h = held[k]
            amount[j] += h
            squares[j] += weight[k] * h * h
            for c in range(width):
                sums[j, c] += h * features[k, c]
