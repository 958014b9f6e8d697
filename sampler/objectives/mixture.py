"""Objectives from label counts: how much data the sampled devices train on, and how well its classes are mixed.

Let m_c be the datapoints of class c that a set holds, as a mean over the steps (`sampler.objectives.holdings`), D_N the
amount of all data, and w the target mixture. Then

    f(𝒮) = Σ_c w_c log(ε + m_c(𝒮)/(w_c D_N))  ≈  log(m(𝒮)/D_N) − KL(w ‖ mixture of 𝒮),

is the logarithm of the amount minus the divergence between the mixtures. ε keeps it finite if a class is missing. It is
a small part of S/N, the share of the data that a set of average devices holds. For a set of fewer than S devices,
average devices are assumed in the remaining places. Otherwise greedy would penalise a missing class too early.

The best target depends on how the model is evaluated. The paper's global loss uses the network's data, for which its
own mixture π is the target. Test sets weigh every class alike, for which equal shares are. The evaluation is not known
here, so the default is between the two: w_c ∝ √π_c.
"""

import numpy as np
from numpy.typing import NDArray

from sampler.base import SamplingProblem
from sampler.errors import MissingLabelsError
from sampler.label_counts.histograms import class_counts
from sampler.objectives.holdings import Holdings, Pooled
from sampler.objectives.pooled import PooledObjective

__all__ = ["Mixture", "MixtureDistance", "aimed_at", "class_shares"]

# ε as a part of S/N, and the a of w_c ∝ π_c^a; `python -m benchmarks.sampler_objectives --tune` compares others.
_EPSILON = 0.01
_EXPONENT = 0.5


class Mixture(PooledObjective):
    """The amount of data and its mixture after offloading, from `label_counts`."""

    def __init__(self, problem: SamplingProblem, *, epsilon: float = _EPSILON, exponent: float = _EXPONENT) -> None:
        devices = problem.conditions.devices
        shares, whole = class_shares(problem)
        present = whole > 0
        self._aim = aimed_at(whole[present], exponent)
        # In units of w_c·D_N: all data in the target mixture gives ones.
        scaled = shares[:, present] / (self._aim * devices.data.sum())
        super().__init__(Holdings.of(problem, scaled), problem.effort)
        self._epsilon = epsilon * problem.sample_size / len(devices)
        self._size, self._devices = problem.sample_size, len(devices)

    def score(self, pooled: Pooled, size: int) -> NDArray[np.float64]:
        """Return f of sets that hold this."""
        value: NDArray[np.float64] = np.log(self._offset(size) + pooled.sums) @ self._aim
        return value

    def slope(self, pooled: Pooled, size: int) -> NDArray[np.float64]:
        """Return ∂f/∂m_c in the units of the sums."""
        slope: NDArray[np.float64] = self._aim / (self._offset(size) + pooled.sums[0])
        return slope

    def _offset(self, size: int) -> float:
        return self._epsilon + max(self._size - size, 0) / self._devices


class MixtureDistance(PooledObjective):
    """Minus the total variation distance between the mixture after offloading and the network's mixture."""

    def __init__(self, problem: SamplingProblem) -> None:
        shares, self._share = class_shares(problem)
        super().__init__(Holdings.of(problem, shares), problem.effort)

    def score(self, pooled: Pooled, size: int) -> NDArray[np.float64]:
        """Return −½ Σ_c |mixture_c − π_c| of sets that hold this."""
        del size
        value: NDArray[np.float64] = -0.5 * np.abs(pooled.sums / pooled.amount[:, None] - self._share).sum(axis=1)
        return value


def aimed_at(whole: NDArray[np.float64], exponent: float = _EXPONENT) -> NDArray[np.float64]:
    """Return the target w_c ∝ π_c^exponent: 1 gives the network's mixture, 0 equal shares of the classes present."""
    powers = whole**exponent
    share: NDArray[np.float64] = powers / powers.sum()
    return share


def class_shares(problem: SamplingProblem) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return each device's mixture, (N, C) with rows that sum to 1, and the network's mixture π.

    Counts may be any additive sketch. Noisy ones are shrunk first (`sampler.label_counts.histograms`). A device whose
    counts are all zero is assumed to hold the network's mixture.

    Raises:
        MissingLabelsError: the network has no label counts.
    """
    devices = problem.conditions.devices
    counts = class_counts(devices)
    if counts is None:
        raise MissingLabelsError("this objective needs devices.label_counts with a count above 0")
    total = counts.sum(axis=1, keepdims=True)
    known = total > 0
    shares = np.divide(counts, total, out=np.zeros(counts.shape), where=known)
    weight = devices.data * known[:, 0]
    whole = weight @ shares if weight.sum() > 0 else shares.sum(axis=0)
    network = whole / whole.sum()
    return np.where(known, shares, network), network
