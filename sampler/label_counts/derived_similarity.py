"""Similarity that nobody measured, from label counts and a match rate of each class.

Let r_c be the chance that two datapoints of class c lie within ε₀ of each other. A datapoint of class c that device k
sends is then covered already by one of i's n_i(c) datapoints with chance 1 − (1 − r_c)^n_i(c), so

    λ_ki ≈ Σ_c n_k(c)/D_k · (1 − (1 − r_c)^n_i(c)).

With a_c = −ln(1 − r_c) the power is exp(−a_c·n_i(c)). The logarithms θ_c = ln a_c are fitted to the links that report a
similarity, by the Gauss–Newton method with Levenberg's damping. A class that few links tell about stays near the rate
that all classes have in common, and that one near `DEFAULT_RATE`: the fit minimises

    Σ_l (λ_l − λ̂_l)²/σ² + Σ_c (θ_c − θ̄)²/τ²

with σ the error of a similarity measured by a broadcast of 50 datapoints and τ how much classes differ.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sampler.label_counts.histograms import class_counts
from solver import Devices

__all__ = ["DEFAULT_RATE", "Completed", "MatchRates", "complete_similarity", "derive_similarity", "fit_match_rates"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# The median rate of a class of digits, MNIST and Fashion-MNIST (`python -m benchmarks.derived_similarity`).
DEFAULT_RATE = 0.01
_MEASURING_ERROR = 0.07
_CLASS_SPREAD = 1.5
_COMMON_SPREAD = 3.0
# Cells, links × classes, that a fit looks at; and the most classes that get a rate of their own.
_MOST_CELLS, _MOST_RATES = 500_000, 100
_ROUNDS = 50


@dataclass(frozen=True, eq=False)
class MatchRates:
    """r_c of each class, and the number of links that they were fitted on."""

    rates: FloatArray
    fitted_on: int


@dataclass(frozen=True, eq=False)
class Completed:
    """λ of all links: of how many it was measured, and what it was derived from, or assumed to be, for the others."""

    similarity: FloatArray
    measured: int
    missing: int = 0
    rates: MatchRates | None = None
    assumed_value: float = 0.0


def complete_similarity(devices: Devices, source: IntArray, target: IntArray, measured: FloatArray) -> Completed:
    """λ of links, NaN where nobody measured it: derived from label counts, or without any the mean of the measured."""
    unknown = np.isnan(measured)
    missing, counts = int(unknown.sum()), class_counts(devices)
    known = measured.size - missing
    if not missing:
        return Completed(measured, known)
    if counts is None:
        value = float(measured[~unknown].mean()) if known else 0.0
        return Completed(np.where(unknown, value, measured), known, missing, assumed_value=value)
    found = fit_match_rates(counts, devices.data, source[~unknown], target[~unknown], measured[~unknown])
    whole = measured.copy()
    whole[unknown] = derive_similarity(counts, devices.data, source[unknown], target[unknown], found.rates)
    return Completed(whole, known, missing, found)


def derive_similarity(
    counts: FloatArray, data: FloatArray, source: IntArray, target: IntArray, rates: FloatArray
) -> FloatArray:
    """λ of links from `source` to `target`, for (N, C) label counts and the match rate of each class."""
    found = np.zeros(source.size)
    size = np.where(data > 0, data, 1.0)
    for own, rate in zip(np.maximum(counts, 0.0).T, rates, strict=True):
        covered = -np.expm1(own * np.log1p(-min(rate, 1.0 - 1e-12)))
        found += (own / size)[source] * covered[target]
    return np.minimum(found, 1.0)


def fit_match_rates(
    counts: FloatArray, data: FloatArray, source: IntArray, target: IntArray, similarity: FloatArray
) -> MatchRates:
    """The match rates that agree best with links of known similarity; the default where there are none."""
    classes = counts.shape[1]
    if not source.size:
        return MatchRates(np.full(classes, DEFAULT_RATE), 0)
    default = np.log(-np.log1p(-DEFAULT_RATE))
    # Spread over all links: the first ones may all be of a few devices.
    most = min(max(1, _MOST_CELLS // classes), source.size)
    chosen = np.unique(np.linspace(0, source.size - 1, most).astype(np.int64))
    held = np.maximum(counts, 0.0)
    shares = held[source[chosen]] / np.where(data > 0, data, 1.0)[source[chosen], None]
    problem = _Problem(shares, held[target[chosen]], similarity[chosen])
    everyone = np.zeros(classes, np.int64)
    common = problem.fit(np.array([default]), everyone, _COMMON_SPREAD)
    logarithms = np.full(classes, common[0])
    if classes <= _MOST_RATES:
        logarithms = problem.fit(logarithms, np.arange(classes), _CLASS_SPREAD)
    return MatchRates(-np.expm1(-np.exp(logarithms)), int(chosen.size))


@dataclass(frozen=True, eq=False)
class _Problem:
    """(M, C) shares of the senders' data, what the receivers hold, and the similarity of M links."""

    shares: FloatArray
    held: FloatArray
    similarity: FloatArray

    def fit(self, centre: FloatArray, member: IntArray, spread: float) -> FloatArray:
        """θ of each group of classes, near `centre`; class c is in the group member[c]."""
        theta, damping = centre.copy(), 1e-2
        loss, slope, curvature = self._at(theta, centre, member, spread)
        for _ in range(_ROUNDS):
            step = np.linalg.solve(curvature + damping * np.diag(np.diag(curvature)), slope)
            tried = theta - np.clip(step, -2.0, 2.0)
            found = self._at(tried, centre, member, spread)
            if found[0] <= loss:
                done = loss - found[0] <= 1e-9 * loss
                theta, (loss, slope, curvature), damping = tried, found, damping / 5
                if done:
                    break
            elif damping > 1e9:
                break
            else:
                damping *= 5
        return theta

    def _at(
        self, theta: FloatArray, centre: FloatArray, member: IntArray, spread: float
    ) -> tuple[float, FloatArray, FloatArray]:
        """The loss, half its gradient and half of Gauss and Newton's Hessian."""
        exponent = np.exp(theta)[member] * self.held
        left = np.exp(-exponent)
        residual = (self.shares * (1.0 - left)).sum(axis=1) - self.similarity
        jacobian = np.zeros((residual.size, theta.size))
        for c, column in enumerate((self.shares * left * exponent).T):
            jacobian[:, member[c]] += column
        off = (theta - centre) / spread
        loss = float((residual**2).sum()) / _MEASURING_ERROR**2 + float((off**2).sum())
        slope = jacobian.T @ residual / _MEASURING_ERROR**2 + off / spread
        curvature = jacobian.T @ jacobian / _MEASURING_ERROR**2 + np.eye(theta.size) / spread**2
        return loss, slope, curvature
