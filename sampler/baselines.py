"""The paper's two baselines (Sec. V-B)."""

import numpy as np

from sampler.base import SamplingProblem, Selection

__all__ = ["sample_heuristically", "sample_randomly"]


def sample_randomly(problem: SamplingProblem, generator: np.random.Generator) -> Selection:
    """Draw devices uniformly without replacement; every score is the probability S / candidates."""
    sampled = generator.choice(problem.candidates, problem.sample_size, replace=False)
    chance = problem.sample_size / len(problem.candidates)
    return Selection(sampled.astype(np.int64), np.full(problem.sample_size, chance))


def sample_heuristically(problem: SamplingProblem, generator: np.random.Generator) -> Selection:
    """Take the devices of highest processing capacity P_i, which is their score; ties are broken at random."""
    capacity = problem.schedule.network.devices.processing_capacity[problem.candidates]
    order = np.lexsort((generator.random(len(capacity)), -capacity))[: problem.sample_size]
    return Selection(problem.candidates[order], capacity[order])
