"""From the picks of a search to a selection, also if time was over before the last pick."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sampler.base import SamplingProblem, Selection
from sampler.trace import Pick

__all__ = ["selection"]


def selection(problem: SamplingProblem, picks: Sequence[Pick], scores: NDArray[np.float64]) -> Selection:
    """Return the picked devices; those that are missing are the candidates of highest score (N,) that are left.

    A set that was filled up so has no trace: nothing was compared for the devices that fill it.
    """
    sampled = np.array([pick.device for pick in picks], np.int64)
    told = np.array([pick.score for pick in picks])
    missing = problem.sample_size - len(picks)
    if missing == 0:
        return Selection(sampled, told, tuple(picks))
    left = np.setdiff1d(problem.candidates, sampled)
    best = left[np.argsort(-scores[left], kind="stable")[:missing]]
    return Selection(np.append(sampled, best), np.append(told, scores[best]), complete=False)
