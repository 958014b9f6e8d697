"""Greedy sampling on how much data, and how well mixed, the sampled devices would come to hold.

With m_c(𝒮) the datapoints of class c attainable at the sampled devices (see `sampler.reach`) and π_c the
network's share of class c, the objective is

    f(𝒮) = Σ_c √(π_c · m_c(𝒮)) = √m(𝒮) · BC(mixture of 𝒮, π),

the root of the amount times the Bhattacharyya coefficient between the sampled mixture and the network's:
of all mixtures of a given amount, the network's own is the best. A root of a modular function is
monotone and submodular, and so is their sum, so greedy attains at least (1 − 1/e) of the optimum. Data
that two sampled devices could both get from one sender counts twice: f is an estimate from above.
"""

import numpy as np

from sampler.base import SamplingProblem, Selection
from sampler.reach import attainable_counts

__all__ = ["sample_greedily"]


def sample_greedily(problem: SamplingProblem, generator: np.random.Generator) -> Selection:
    """Add the device of largest gain in f until S are chosen; a score is that gain. Chance breaks ties."""
    network = problem.schedule.network
    counts = attainable_counts(network, problem.horizon if problem.offloading else 0)
    held = network.devices.data[:, None] if network.devices.label_counts is None else network.devices.label_counts
    share = held.sum(axis=0) / max(held.sum(), 1e-300)
    candidates = generator.permutation(problem.candidates)
    own = counts[candidates]
    total = np.zeros(counts.shape[1])
    sampled, gains = [], []
    available = np.ones(len(candidates), bool)
    for _ in range(problem.sample_size):
        value = np.sqrt(share * (total + own)).sum(axis=1) - np.sqrt(share * total).sum()
        best = int(np.argmax(np.where(available, value, -np.inf)))
        available[best] = False
        total = total + own[best]
        sampled.append(candidates[best])
        gains.append(value[best])
    return Selection(np.array(sampled, np.int64), np.array(gains))
