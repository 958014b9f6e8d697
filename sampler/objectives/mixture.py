"""How much data the sampled devices would train on, and how near its mixture of classes is to the network's.

With m_c the datapoints of class c that a set holds, mean over the steps (`sampler.objectives.holdings`), D_N all
data, and w the mixture aimed at:

    f(𝒮) = Σ_c w_c log(ε + m_c(𝒮)/(w_c D_N))  ≈  log(m(𝒮)/D_N) − KL(w ‖ mixture of 𝒮),

the logarithm of the amount minus the divergence between the mixtures. ε keeps it finite where a class is missing; it is
a small part of S/N, the share of the data that a set of average devices holds. A set of fewer than S devices is
credited with what average devices would bring in the places left: greedy shall not take a class for lost too soon.

What to aim at is a question of use. The network's own mixture π serves a model that is judged by the network's data,
as the paper's global loss does; equal shares one that is judged on every class alike, as test sets do. Nobody tells, so
the default stands between the two: w_c ∝ √π_c.
"""

import numpy as np
from numpy.typing import NDArray

from sampler.base import SamplingProblem
from sampler.errors import MissingLabelsError
from sampler.objectives.base import Objective
from sampler.objectives.holdings import Holdings

__all__ = ["Mixture", "MixtureDistance", "aimed_at", "class_shares"]

# ε as a part of S/N, and the a of w_c ∝ π_c^a; `python -m benchmarks.sampler_objectives --tune` compares others.
_EPSILON = 0.01
_EXPONENT = 0.5


class Mixture(Objective):
    """Amount and mixture after offloading, from `label_counts`."""

    def __init__(self, problem: SamplingProblem, *, epsilon: float = _EPSILON, exponent: float = _EXPONENT) -> None:
        devices = problem.schedule.network.devices
        shares, whole = class_shares(problem)
        present = whole > 0
        self._aim = aimed_at(whole[present], exponent)
        # In units of w_c·D_N, so that all data in the mixture aimed at would give ones.
        scaled = shares[:, present] / (self._aim * devices.data.sum())
        self._holdings = Holdings.of(problem, scaled)
        self._epsilon = epsilon * problem.sample_size / len(devices)
        self._size, self._devices = problem.sample_size, len(devices)

    def values(self, sets: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return f of each set."""
        to_come = max(self._size - sets.shape[1], 0) / self._devices
        value: NDArray[np.float64] = np.log(self._epsilon + to_come + self._holdings.pool(sets).sums) @ self._aim
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


def aimed_at(whole: NDArray[np.float64], exponent: float = _EXPONENT) -> NDArray[np.float64]:
    """Return w_c ∝ π_c^exponent: 1 is the network's mixture, 0 equal shares of the classes present."""
    powers = whole**exponent
    share: NDArray[np.float64] = powers / powers.sum()
    return share


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
