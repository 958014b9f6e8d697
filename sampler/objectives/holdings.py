"""Estimates in closed form which data the sampled devices hold after offloading, and from which devices it comes.

Training at step t uses D_i(t), so the estimate is the mean over t of the data that a device holds. If sender k sends to
i alone, a link k → i carries in every step the share s_ki = min(1, Ψ_k/(D_k ψ_ki)) of k's data, and all of it takes
n_ki = D_k ψ_ki/Ψ_k steps. A sender with several sampled receivers spends more on the links that bring more: link k → i
gets the part x_ki = w_ki/Σ_j w_kj of the budget, w_ki = ((1 − λ_ki)·s_ki)²·min(1, what i can take/what its senders can
bring). Of the data that is new to i, D_k(1 − λ_ki), the part that has arrived by step t is by `transfer`

- `send_once`: min(1, t·x_ki/n_ki) for t < Σ_j n_kj, and 1 from then on, because by then k has sent all data to all;
- `redraw`: 1 − (1 − s_ki·x_ki)^t (eqs. 7, 8, 11 and 12). Its mean r(s_ki·x_ki) over t is computed as
  ℓx/(1 + (ℓ/r − 1)x), ℓ = s(T + 1)/2 and r = r(s_ki), which is exact at x = 1 and in the limit of small x.

Arrivals are scaled down to what i can take, min(t·θ_i, P_i/p_i − D_i) by eqs. (9) and (10). Sampled devices send
nothing (eq. 13). The means over t have closed forms.

Where conditions change in time, so do what i can take and what its links bring (`sampler.changing_links`).
`docs/sampling.md` shows that the estimate predicts the loss as well as solving every step, and how near it comes to
what plans bring.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sampler.base import SamplingProblem
from sampler.changing_links import changing_flows
from sampler.kernels.pool import Flows, Sums, flows_along, pool
from sampler.objectives.reach import mean_room, sendable_share, steps_needed
from solver.horizon.transfer import Transfer
from solver.network.schedule import Schedule
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
        schedule: the devices and links, and how they change.
        horizon: T; 0 means no offloading.
        transfer: whether senders send once.
        features: one row for each device, to be summed over the data held.
        weight: one number for each device, see `Pooled.squares`.
    """

    schedule: Schedule
    horizon: int
    transfer: Transfer
    features: NDArray[np.float64]
    weight: NDArray[np.float64]

    @classmethod
    def of(
        cls, problem: SamplingProblem, features: NDArray[np.float64], weight: NDArray[np.float64] | None = None
    ) -> "Holdings":
        """Return the estimate for a sampling problem."""
        horizon = problem.horizon if problem.offloading else 0
        squares = np.zeros(len(features)) if weight is None else weight
        return cls(problem.schedule, horizon, problem.transfer, features, squares)

    @cached_property
    def flows(self) -> Flows:
        """What may flow along the links."""
        once = self.transfer is Transfer.SEND_ONCE and self.horizon > 0
        if len(list(self.schedule.between(1, self.horizon))) > 1:
            return changing_flows(self.schedule, self.horizon, once=once)
        network = self.schedule.at(1)
        links = network.links
        most, weight = np.zeros((2, len(links)))
        steps = steps_needed(network)
        pace = steps if once else np.zeros(len(links))
        # All inputs are read-only: numba compiles a kernel for each combination of read-only and writable arrays.
        written = Flows(
            network.incoming,
            links.source,
            links.target,
            most,
            pace,
            weight,
            network.devices.data,
            frozen(mean_room(network.devices, self.horizon)),
            self.horizon if once else 0,
        )
        if self.horizon:
            flows_along(frozen(sendable_share(steps)), links.similarity, self.horizon, written)
        return written._replace(most=frozen(most), pace=frozen(pace), weight=frozen(weight))

    def pool(self, sets: NDArray[np.int64]) -> Pooled:
        """Return the data that each row of `sets` would hold."""
        m = len(sets)
        found = Pooled(np.empty(m), np.empty((m, self.features.shape[1])), np.empty(m))
        sums = Sums(found.amount, found.sums, found.squares)
        pool(frozen(sets), self.flows, frozen(self.features), frozen(self.weight), sums)
        return found
