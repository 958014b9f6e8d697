"""Estimates in closed form which data the sampled devices hold after offloading, and from which devices it comes.

Training at step t uses D_i(t), so the estimate is the mean over t of the data that a device holds. If sender k sends to
i alone, a link k → i carries in every step the share s_ki = min(1, Ψ_k/(D_k ψ_ki)) of k's data. Of the data that is new
to i, D_k(1 − λ_ki), the part 1 − (1 − s_ki)^t has arrived by step t (eqs. 7, 8, 11 and 12); its mean over t is r(s_ki).
A sender with several sampled receivers spends more on the links that bring more: link k → i gets the part
x_ki = w_ki/Σ_j w_kj of the budget, w_ki = ((1 − λ_ki)·s_ki)². Then r(s_ki·x_ki) is the mean part that arrives. It is
computed as ℓx/(1 + (ℓ/r − 1)x), ℓ = s(T + 1)/2 and r = r(s_ki), which is exact at x = 1 and in the limit of small x.
Arrivals are scaled down to what i can take, min(t·θ_i, P_i/p_i − D_i) by eqs. (9) and (10). Sampled devices send
nothing (eq. 13). The means over t have closed forms.

The conditions of the first step are used for all steps. `docs/sampling.md` shows that the estimate predicts the loss as
well as solving every step, and how near it comes to what plans bring.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sampler.base import SamplingProblem
from sampler.kernels.pool import Flows, Sums, flows_along, pool
from sampler.objectives.reach import mean_room, sendable_share
from solver.network import Network
from solver.validation import frozen

__all__ = ["Holdings", "Pooled"]


@dataclass(frozen=True, eq=False)
class Pooled:
    """The data that each of m sets holds; h_k is the number of its datapoints that come from device k.

    Attributes:
        amount: Σ_k h_k; shape (m,).
        sums: Σ_k h_k·features_k; shape (m, width of the features).
        squares: Σ_k weight_k·h_k²; shape (m,).
    """

    amount: NDArray[np.float64]
    sums: NDArray[np.float64]
    squares: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Holdings:
    """The estimate for one network.

    Attributes:
        network: the devices and links.
        horizon: T; 0 means no offloading.
        features: one row for each device, to be summed over the data held.
        weight: one number for each device, see `Pooled.squares`.
    """

    network: Network
    horizon: int
    features: NDArray[np.float64]
    weight: NDArray[np.float64]

    @classmethod
    def of(
        cls, problem: SamplingProblem, features: NDArray[np.float64], weight: NDArray[np.float64] | None = None
    ) -> "Holdings":
        """Return the estimate for a sampling problem."""
        network = problem.conditions
        horizon = problem.horizon if problem.offloading else 0
        return cls(network, horizon, features, np.zeros(len(network)) if weight is None else weight)

    @cached_property
    def flows(self) -> Flows:
        """What may flow along the links."""
        network, links = self.network, self.network.links
        most, bend, weight = np.zeros((3, len(links)))
        # All inputs are read-only: numba compiles a kernel for each combination of read-only and writable arrays.
        written = Flows(
            network.incoming,
            links.source,
            links.target,
            most,
            bend,
            weight,
            network.devices.data,
            frozen(mean_room(network.devices, self.horizon)),
        )
        if self.horizon:
            share = frozen(sendable_share(network))
            flows_along(share, links.similarity, network.devices.data, self.horizon, written)
        return written._replace(most=frozen(most), bend=frozen(bend), weight=frozen(weight))

    def pool(self, sets: NDArray[np.int64]) -> Pooled:
        """Return the data that each row of `sets` would hold."""
        m = len(sets)
        found = Pooled(np.empty(m), np.empty((m, self.features.shape[1])), np.empty(m))
        sums = Sums(found.amount, found.sums, found.squares)
        pool(frozen(sets), self.flows, frozen(self.features), frozen(self.weight), sums)
        return found
