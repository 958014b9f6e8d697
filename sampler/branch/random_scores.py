"""The sampler `random_branch`: the branch search on random scores."""

import numpy as np

from sampler.base import SamplingProblem, Selection
from sampler.branch.search import branch_search

__all__ = ["sample_by_random_branch"]


def sample_by_random_branch(problem: SamplingProblem, generator: np.random.Generator) -> Selection:
    """Search as `gcn_branch` does, on random scores. A trained GCN should do better than this."""
    return branch_search(problem, generator.random(len(problem.schedule.network)), generator)
