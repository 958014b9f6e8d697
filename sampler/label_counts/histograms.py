"""Label counts with differential-privacy noise: estimates of the counts behind them.

A device adds Laplace noise of scale 1/ε to each of its C counts before it reports them. One datapoint more or less
changes one count by one, so this report is ε-differentially private. The noise has the variance σ² = 2/ε². Device k
holds D_k datapoints, so y_kc/D_k is its share of class c plus noise of variance v_k = σ²/D_k². Let q_k be the mixture
(shares ≥ 0 that add up to 1) nearest to y_k/D_k. It is moved towards the network's mixture π, where the noise of many
devices cancels out:

    p̂_k = π + τ²/(τ² + v_k) · (q_k − π),

with τ² the variance of the true shares around π, estimated by the excess of the observed variance over the noise (James
and Stein's rule as empirical Bayes). π is estimated from all counts together by the same rule, moved towards equal
shares. The smaller a device, or ε, the closer its estimate is to π.
"""

import numpy as np
from numpy.typing import NDArray

from solver.network import Devices

__all__ = ["class_counts", "tell_enough"]

FloatArray = NDArray[np.float64]

# Where the data's mean of τ²/(τ² + v_k) is lower, sets are better chosen by similarity, without the counts
# (`python -m benchmarks.noisy_histograms`).
_LEAST_TRUST = 0.3


def class_counts(devices: Devices) -> FloatArray | None:
    """Return (N, C) counts of classes: those given if they are exact, else estimates that add up to the data.

    Counts without a single class, or without any that is not zero, are none at all.
    """
    counts = devices.label_counts
    if counts is None or not counts.any():
        return None
    if devices.label_epsilon is None:
        return np.asarray(counts)
    estimated: FloatArray = devices.data[:, None] * _shrunk(devices, counts, devices.label_epsilon)[0]
    return estimated


def tell_enough(devices: Devices) -> bool:
    """Whether there are label counts, and their noise leaves enough of them to choose devices by."""
    counts = devices.label_counts
    if counts is None or not counts.any():
        return False
    if devices.label_epsilon is None:
        return True
    trust = _shrunk(devices, counts, devices.label_epsilon)[1]
    return float(trust @ devices.data) >= _LEAST_TRUST * float(devices.data.sum())


def _shrunk(devices: Devices, noisy: FloatArray, epsilon: float) -> tuple[FloatArray, FloatArray]:
    """Return p̂, (N, C) with rows that are mixtures, and τ²/(τ² + v_k) of each device."""
    noise = 2.0 / epsilon**2
    n, classes = noisy.shape
    equal = np.full(classes, 1.0 / classes)
    total = np.array([max(float(devices.data.sum()), 1.0)])
    network = _towards(equal, noisy.sum(axis=0, keepdims=True), total, n * noise)[0][0]
    # A device without data has no weight anywhere; 1 keeps its quotients finite.
    return _towards(network, noisy, np.where(devices.data > 0, devices.data, 1.0), noise)


def _towards(centre: FloatArray, noisy: FloatArray, data: FloatArray, noise: float) -> tuple[FloatArray, FloatArray]:
    """Return the mixtures nearest to noisy counts, (N, C), moved towards a mixture by their noise, and their trust."""
    # Σ_kc (y_kc − D_k π_c)² is C·(N·σ² + τ²·Σ_k D_k²) on average.
    excess = float(((noisy - data[:, None] * centre) ** 2).sum()) - noise * noisy.size
    spread = max(excess, 0.0) / (noisy.shape[1] * float((data**2).sum()))
    trust = spread * data**2 / (spread * data**2 + noise)
    return centre + trust[:, None] * (_nearest_mixtures(noisy / data[:, None]) - centre), trust


def _nearest_mixtures(rows: FloatArray) -> FloatArray:
    """Return for each row the nearest point, by Euclidean distance, whose entries are ≥ 0 and add up to 1."""
    descending = -np.sort(-rows, axis=1)
    # The entries of a row fall by a common amount, and those that would be negative become 0.
    excess = (np.cumsum(descending, axis=1) - 1.0) / np.arange(1, rows.shape[1] + 1)
    positive = np.maximum((descending > excess).sum(axis=1) - 1, 0)
    mixtures: FloatArray = np.maximum(rows - np.take_along_axis(excess, positive[:, None], axis=1), 0.0)
    return mixtures
