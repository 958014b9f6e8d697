"""Scores for sets that were found as a whole: the marginal value of each device."""

import numpy as np
from numpy.typing import NDArray

from sampler.base import SamplingProblem, Selection
from sampler.objectives.standing import Standing
from sampler.searches.picks import LARGEST_LOSS, gains_of, pick_of
from sampler.trace import Pick

__all__ = ["with_marginal_scores"]


def with_marginal_scores(
    standing: Standing, problem: SamplingProblem, sampled: NDArray[np.int64], guarantee: float | None, *, complete: bool
) -> Selection:
    """Return the set that stands in descending order of score: the value that it would lose without the device.

    The gain of another device, if asked for, is what it would add in the place of that device.
    """
    value = standing.value()
    rest = np.setdiff1d(problem.candidates, sampled)
    picks: list[Pick] = []
    for device in sampled.tolist():
        if problem.out_of_time:
            # Which devices were found is what matters. How much each matters, there is no time to tell.
            known = value if np.isfinite(value) else None
            return Selection(sampled, np.zeros(len(sampled)), (), known, guarantee, complete=False)
        standing.remove(device)
        base = standing.value()
        others = gains_of(standing, base, problem.explained, rest)
        standing.add(device)
        gains = {device: value - base, **others}
        told = gains if device in problem.explained else others
        pairs = (np.array(list(gains), np.int64), np.array(list(gains.values())))
        picks.append(pick_of(LARGEST_LOSS, device, value - base, pairs, len(rest) + 1, told))
    picks.sort(key=lambda pick: -pick.score)
    scores = np.array([pick.score for pick in picks])
    return Selection(np.array([p.device for p in picks], np.int64), scores, tuple(picks), value, guarantee, complete)
