"""Paired statistics: two methods on the same networks, compared network by network."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Paired", "holm", "paired"]


@dataclass(frozen=True)
class Paired:
    """The mean of paired differences, its 95 % interval (Student's t), and p of Wilcoxon's signed-rank test."""

    mean: float
    low: float
    high: float
    p_value: float

    def text(self, digits: int = 3) -> str:
        """Return the text for a table."""
        return f"{self.mean:+.{digits}f} [{self.low:+.{digits}f}, {self.high:+.{digits}f}]"


def paired(differences: NDArray[np.float64]) -> Paired:
    """Compare two methods by their differences on each network.

    Where all differences are zero, there is nothing to test, and p is 1.
    """
    # SciPy's statistics take a second to import, which no other command should wait for.
    from scipy import stats  # noqa: PLC0415

    mean = float(differences.mean())
    half = 0.0
    if differences.size > 1:
        error = float(differences.std(ddof=1)) / math.sqrt(differences.size)
        half = float(stats.t.ppf(0.975, differences.size - 1)) * error
    p = float(stats.wilcoxon(differences).pvalue) if np.any(differences != 0) else 1.0
    return Paired(mean, mean - half, mean + half, p)


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values of several tests by Holm's method: the chance of any false finding stays below the level.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    raised = np.asarray(p_values)[order] * np.arange(len(order), 0, -1)
    adjusted = np.empty(len(order))
    adjusted[order] = np.minimum(np.maximum.accumulate(raised), 1.0)
    return [float(p) for p in adjusted]
