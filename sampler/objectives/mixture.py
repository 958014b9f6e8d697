"""How much data the sampled devices would train on, and how near its mixture of classes is to the network's.

With m_c the datapoints of class c that a set holds, mean over the steps (`sampler.holdings`), π_c the network's share
of the
class, and D_N all data:

    f(𝒮) = Σ_c π_c log(ε + m_c(𝒮)/(π_c D_N))  ≈  log(m(𝒮)/D_N) − KL(π ‖ mixture of 𝒮),

the logarithm of the amount minus the divergence between the mixtures. ε keeps it finite where a class is missing; it
is a small part of S/N, the share of the data that a set of average devices holds.
"""

import numpy as np
from numpy.typing import NDArray

from sampler.base import SamplingProblem
from sampler.errors import MissingLabelsError
from sampler.holdings import Holdings
from sampler.objectives.base import Objective

__all__ = ["Mixture", "MixtureDistance", "class_shares"]

# ε as a part of S/N; `python -m benchmarks.sampler_objectives` chose it on networks it does not report on.
_EPSILON = 0.01


class Mixture(Objective):
    """Amount and mixture after offloading, from `label_counts`."""

    def __init__(self, problem: SamplingProblem, *, epsilon: float = _EPSILON) -> None:
        devices = problem.schedule.network.devices
        shares, self._share = class_shares(problem)
        present = self._share > 0
        self._share = self._share[present]
        # In units of π_c·D_N, so that a set as good as the whole network has ones.
        scaled = shares[:, present] / (self._share * devices.data.sum())
        self._holdings = Holdings.of(problem, scaled)
        self._epsilon = epsilon * problem.sample_size / len(devices)

    def values(self, sets: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return f of each set."""
        value: NDArray[np.float64] = np.log(self._epsilon + self._holdings.pool(sets).sums) @ self._share
        return value


class MixtureDistance(Objective):
    """Minus the total variation distance between the mixture held after offloading and the network's."""

    def __init__(self, problem: SamplingProblem) -> None:
        shares, self._share = class_shares(problem)
        self._holdings = Holdings.of(problem, shares)

    def values(self, sets: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return −½ Σ_c |mixture_c − π_c| of each set."""
        pooled = self._holdings.pool(sets)
        value: NDArray[np.float64] = -0.5 * np.abs(pooled.sums / pooled.amount[:, None] - self._share).sum(axis=1)
        return value


def class_shares(problem: SamplingProblem) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return each device's mixture, (N, C) in rows that sum to one, and the network's, π.

    Counts may be any sketch that adds up; a device whose counts are all zero is taken to hold the network's mixture.

    Raises:
        MissingLabelsError: the network has no label counts.
    """
    devices = problem.schedule.network.devices
    if devices.label_counts is None or devices.label_counts.shape[1] == 0:
        raise MissingLabelsError("this objective needs devices.label_counts")
    counts = np.asarray(devices.label_counts)
    total = counts.sum(axis=1, keepdims=True)
    known = total > 0
    if not known.any():
        raise MissingLabelsError("this objective needs devices.label_counts with a count above 0")
    shares = np.divide(counts, total, out=np.zeros(counts.shape), where=known)
    weight = devices.data * known[:, 0]
    whole = weight @ shares if weight.sum() > 0 else shares.sum(axis=0)
    network = whole / whole.sum()
    return np.where(known, shares, network), network
