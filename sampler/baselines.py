"""The paper's two baselines (Sec. V-B)."""

import numpy as np

from sampler.base import SamplingProblem, Selection
from solver.network.eligibility import data_ceiling

__all__ = ["sample_heuristically", "sample_randomly"]


def sample_randomly(problem: SamplingProblem, generator: np.random.Generator) -> Selection:
    """Draw devices uniformly without replacement; every score is the probability S / candidates."""
    sampled = generator.choice(problem.candidates, problem.sample_size, replace=False)
    chance = problem.sample_size / len(problem.candidates)
    return Selection(sampled.astype(np.int64), np.full(problem.sample_size, chance))


def sample_heuristically(problem: SamplingProblem, generator: np.random.Generator) -> Selection:
    """Take the devices that can process the most datapoints in a step, P_i/p_i; ties are broken at random.

    The score is that number, the least over the steps of the horizon. If processing costs nothing it is the largest
    float, since an answer in JSON cannot hold infinity.
    """
    most = data_ceiling(problem.schedule, problem.candidates, 1, problem.horizon)
    order = np.lexsort((generator.random(len(most)), -most))[: problem.sample_size]
    return Selection(problem.candidates[order], np.minimum(most[order], np.finfo(np.float64).max))
