"""The arithmetic of `sampler.set_bound`, in its letters."""

import math

import numpy as np

from sampler.kernels.compile import compiled
from solver.arrays import FloatArray, IntArray
from solver.kernels.clock import is_over
from solver.kernels.layout import Effort

__all__ = ["add_arrivals", "add_sendable", "least_objective"]

# Devices between two looks at the clock.
_PORTION = 256
_HALVINGS = 24
# The fewest keys that wait to be sorted into the top.
_WAITING = 256


@compiled
def add_arrivals(
    incoming: IntArray,
    source: IntArray,
    similarity: FloatArray,
    cost: FloatArray,
    data: FloatArray,
    budget: FloatArray,
    steps: IntArray,
    unsent: FloatArray,
    arriving: FloatArray,
    effort: Effort,
) -> None:
    """Add to arriving[i, j] what the links into i can bring in steps[j] steps under constant conditions.

    A link brings D_k(1 − λ)·min(unsent, share·steps[j]), where share = min(1, Ψ_k/(D_k ψ)) fits a step; `unsent` is
    lowered by what it sends in all of the steps. When time is over, nothing is known of the devices that are left: ∞
    arrives at them.
    """
    last = steps.size - 1
    for i in range(incoming.size - 1):
        if i % _PORTION == 0 and is_over(effort):
            arriving[i:] = np.inf
            return
        for link in range(incoming[i], incoming[i + 1]):
            k = source[link]
            fresh = data[k] * (1.0 - similarity[link])
            needed = data[k] * cost[link]
            share = budget[k] / needed if needed > budget[k] else 1.0
            left = unsent[link]
            for j in range(steps.size):
                arriving[i, j] += fresh * min(left, share * steps[j])
            unsent[link] -= min(left, share * steps[last])


@compiled
def add_sendable(
    source: IntArray, fresh: FloatArray, needed: FloatArray, budget: FloatArray, steps: IntArray, sent: FloatArray
) -> None:
    """Add to sent[k, j] what k can send in steps[j] steps under constant conditions.

    In a step its useful data is at most that of its freshest link, and at most its budget times its best yield. In all
    steps it is at most what is fresh on all its links.
    """
    n = sent.shape[0]
    everything, freshest, best = np.zeros(n), np.zeros(n), np.zeros(n)
    for link in range(source.size):
        k = source[link]
        everything[k] += fresh[link]
        freshest[k] = max(freshest[k], fresh[link])
        if fresh[link] > 0.0:
            best[k] = max(best[k], fresh[link] / needed[link] if needed[link] > 0.0 else np.inf)
    for k in range(n):
        # ∞ for a device that sends for nothing, and not 0·∞ if its budget is 0.
        step = freshest[k] if best[k] == np.inf else min(freshest[k], budget[k] * best[k])
        for j in range(steps.size):
            sent[k, j] += min(step * steps[j], everything[k])


@compiled
def _smallest_of_top(key: FloatArray, size: int) -> float:
    """The `size`-th largest key: the keys above the smallest one of the top so far wait until they are sorted in."""
    waiting = np.empty(min(key.size, max(2 * size, _WAITING)))
    n = 0
    smallest = -np.inf
    for i in range(key.size):
        if key[i] > smallest:
            if n == waiting.size:
                smallest = np.partition(waiting, n - size)[n - size]
                n = 0
                for m in range(waiting.size):
                    if waiting[m] > smallest:
                        waiting[n] = waiting[m]
                        n += 1
                # The rest of the top are keys that equal the smallest one.
                waiting[n:size] = smallest
                n = size
            waiting[n] = key[i]
            n += 1
    return float(np.partition(waiting[:n], n - size)[n - size])


@compiled
def _top(key: FloatArray, one: FloatArray, two: FloatArray, size: int) -> tuple[float, float]:
    """The sums of two columns over the `size` largest keys."""
    smallest = _smallest_of_top(key, size)
    first, second, count = 0.0, 0.0, 0
    for i in range(key.size):
        if key[i] > smallest:
            first += one[i]
            second += two[i]
            count += 1
    for i in range(key.size):
        if count == size:
            break
        if key[i] == smallest:
            first += one[i]
            second += two[i]
            count += 1
    return first, second


@compiled
def _least_ratio(data: FloatArray, most: FloatArray, total: float, size: int, lowest: float) -> float:
    """ρ: at most A/B of every set, by Newton's method on min_𝒮 A − ρB (Dinkelbach 1967), from the `lowest` ratio on.

    From any ρ every set has A/B ≥ ρ + min(A − ρB)/W if that minimum is below 0, since B ≥ W.
    """
    rho = lowest
    for _ in range(2):
        own, received = _top(data + rho * most, data, most, size)
        rho = (total - own) / (total + received)
    own, received = _top(data + rho * most, data, most, size)
    missing = total - own - rho * (total + received)
    return max(lowest, min(rho, rho + missing / total), 0.0)


@compiled
def _best_received(data: float, most: float, cost: float, noise: float) -> float:
    """The R in [0, R̄] that minimises cost·R + noise·(D + R)^(−1/2)."""
    if cost <= 0.0:
        return most
    return float(min(max((noise / (2.0 * cost)) ** (2.0 / 3.0) - data, 0.0), most))


@compiled
def _price(data: FloatArray, most: FloatArray, together: float, worth: float, noise: float, size: int) -> float:
    """π > 0: the price at which the S devices that can receive most take no more than C; every price is valid."""
    least = _smallest_of_top(most, size)
    smallest = np.inf
    for i in range(data.size):
        if most[i] >= least:
            smallest = min(smallest, data[i])
    # From `worth` on devices take less than they can; at the upper end nobody takes anything.
    low, high = worth, worth + 0.5 * noise * smallest**-1.5
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        taken = 0.0
        for i in range(data.size):
            if most[i] >= least:
                taken += _best_received(data[i], most[i], middle - worth, noise)
        if taken > together:
            low = middle
        else:
            high = middle
    return float(high)


@compiled
def least_objective(
    data: FloatArray,
    received: FloatArray,
    together: FloatArray,
    total: float,
    norms: FloatArray,
    noises: FloatArray,
    size: int,
) -> float:
    """The bound: D and R̄ (candidates, moments), C of each moment, W, the sums of g and of γ/S over its steps, S."""
    constant = 0.0
    weight = np.zeros(data.size)
    least_outside = total - _top(data, data, data, size)[0]
    for j in range(norms.size):
        most = received[:, j].copy()
        wanted = _top(most, most, most, size)[0]
        highest = total + min(wanted, together[j])
        rho = _least_ratio(data, most, total, size, least_outside / highest)
        worth = norms[j] * rho / highest
        price = 0.0
        constant += norms[j] * (rho + total * (1.0 - rho) / highest)
        if wanted > together[j]:
            price = _price(data, most, together[j], worth, noises[j], size)
            constant -= price * together[j]
        for i in range(data.size):
            best = _best_received(data[i], most[i], price - worth, noises[j])
            weight[i] += norms[j] / highest * data[i] + (worth - price) * best - noises[j] / math.sqrt(data[i] + best)
    return constant - _top(weight, weight, weight, size)[0]
