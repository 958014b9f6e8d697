"""From the picks of a search to a selection, also if time was over before the last pick."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sampler.base import SamplingProblem, Selection
from sampler.trace import Pick

__all__ = ["TIME_IS_OVER", "selection"]

TIME_IS_OVER = "time is over"


def selection(problem: SamplingProblem, picks: Sequence[Pick], scores: NDArray[np.float64]) -> Selection:
    """Return the picked devices; those that are missing are the candidates of highest score (N,) that are left."""
    missing = problem.sample_size - len(picks)
    made = [*picks, *_by_score(problem, picks, scores, missing)] if missing else list(picks)
    return Selection(
        np.array([pick.device for pick in made], np.int64),
        np.array([pick.score for pick in made]),
        tuple(made),
        complete=missing == 0,
    )


def _by_score(problem: SamplingProblem, picks: Sequence[Pick], scores: NDArray[np.float64], missing: int) -> list[Pick]:
    left = np.setdiff1d(problem.candidates, [pick.device for pick in picks])
    best = left[np.argsort(-scores[left], kind="stable")[:missing]]
    return [
        Pick(
            device=device,
            score=score,
            rule=TIME_IS_OVER,
            previous=None,
            percentile=None,
            threshold=None,
            n_candidates=len(left) - place,
            candidates=(device,),
            candidate_scores=(score,),
        )
        for place, (device, score) in enumerate(zip(best.tolist(), scores[best].tolist(), strict=True))
    ]
