"""How much data a set trains on, and how similar it is to the network's data: for networks without label counts.

Let h_k be the datapoints of device k that a set holds, as a mean over the steps (`sampler.objectives.holdings`),
q = h/Σh, and π_k = D_k/D_N. Similarity is treated as an inner product of the devices' mixtures, so that

    d² = (q − π)ᵀ K (q − π),   K_ki = λ_ki,

is the squared distance between the data of the set and of the network (a maximum mean discrepancy). With the low-rank
estimate λ_ki ≈ λ̄ + u_k·u_i of `sampler.objectives.similarity` and K_kk = κ it costs O(r) for each device from which
data comes: d² = ‖Σ_k (q_k − π_k) u_k‖² + Σ_k w_k (q_k − π_k)², with w_k = (κ − λ̄ − ‖u_k‖²)₊; λ̄ drops out
because q and π sum to 1. Then

    f(𝒮) = log(Σ_k h_k / D_N) − β·d²/κ.
"""

import numpy as np
from numpy.typing import NDArray

from sampler.base import SamplingProblem
from sampler.objectives.holdings import Holdings, Pooled
from sampler.objectives.pooled import PooledObjective
from sampler.objectives.similarity import LowRank, low_rank

__all__ = ["Resemblance"]

# Tuned by `python -m benchmarks.sampler_objectives` on networks that its report does not use.
_BETA = 3.0


class Resemblance(PooledObjective):
    """The amount of data and its similarity to the network's after offloading, from similarity along links."""

    def __init__(self, problem: SamplingProblem, *, beta: float = _BETA, similarity: LowRank | None = None) -> None:
        network = problem.conditions
        self._total = network.total_data
        share = network.devices.data / self._total
        estimate = low_rank(network, effort=problem.effort) if similarity is None else similarity
        self._beta = beta / estimate.ceiling if estimate.ceiling > 0 else 0.0
        own = np.maximum(estimate.ceiling - estimate.mean - (estimate.factors**2).sum(axis=1), 0.0)
        # The last column sums up the cross term of the diagonal part.
        holdings = Holdings.of(problem, np.column_stack((estimate.factors, own * share)), own)
        super().__init__(holdings, problem.effort)
        self._middle = share @ estimate.factors
        self._constant = float(own @ share**2)

    def score(self, pooled: Pooled, size: int) -> NDArray[np.float64]:
        """Return f of sets that hold this."""
        del size
        held = pooled.sums / pooled.amount[:, None]
        apart = ((held[:, :-1] - self._middle) ** 2).sum(axis=1)
        diagonal = pooled.squares / pooled.amount**2 - 2 * held[:, -1] + self._constant
        value: NDArray[np.float64] = np.log(pooled.amount / self._total) - self._beta * (apart + diagonal)
        return value
