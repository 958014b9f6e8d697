"""Scores for sets that were found as a whole: the marginal value of each device."""

import numpy as np
from numpy.typing import NDArray

from sampler.base import Selection
from sampler.objectives.base import Objective

__all__ = ["with_marginal_scores"]


def with_marginal_scores(
    objective: Objective, sampled: NDArray[np.int64], value: float, guarantee: float | None
) -> Selection:
    """Return the set in descending order of score: the value that it would lose without the device."""
    size = len(sampled)
    if size == 1:
        return Selection(sampled, np.array([value]), value=value, guarantee=guarantee)
    without = np.array([np.delete(sampled, place) for place in range(size)])
    scores = value - objective.values(without)
    order = np.argsort(-scores, kind="stable")
    return Selection(sampled[order], scores[order], value=value, guarantee=guarantee)
