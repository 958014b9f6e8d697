"""The paper's surrogate objective, eq. (26), after optimised offloading.

Its value needs one solve for each step. Searches therefore use a bound in closed form to decide which sets to solve. A
link k → i can carry at most the share s_ki = min(1, Ψ_k/(D_k ψ_ki)) of k's data in a step, so by step t device i holds
at most

    U_i(t) = D_i + min{ t·θ_i,  min_s P_i(s)/p_i(s) − D_i,  Σ_k D_k (1 − λ_ki)·a_ki(t) },

a_ki(t) = min(1, t·s_ki) if senders send once and 1 − (1 − s_ki)^t if they redraw,
whichever other devices are sampled. Both terms of eq. (26) fall as data grows, so U in place of D gives a lower bound
of eq. (26). It is exact unless two sampled devices share a sender, or a sender is sampled itself.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sampler.base import SamplingProblem
from sampler.errors import TooMuchWorkError
from sampler.objectives.base import Objective
from sampler.objectives.reach import sendable_share, steps_needed
from sampler.threads import in_threads
from solver.horizon.batch import plan_sets
from solver.horizon.sequence import plan_offloading
from solver.horizon.transfer import Transfer
from solver.network.eligibility import data_ceiling
from solver.step.fast import time_left

__all__ = ["Surrogate"]

# The number of steps at which the bound is computed. Steps between two of them use the later one, so it stays a bound.
_MOMENTS = 24
# The most links × steps solved together, to bound memory and to share the work among threads.
_NUMBERS_AT_ONCE = 200_000
# The most links × steps that one search without a deadline may solve, about half a minute of work.
_MOST_WORK = 300_000_000
# The least cost of a step, in links, if sets are planned one by one.
_COST_ALONE = 1_000


class Surrogate(Objective):
    """Minus eq. (26), the mean over steps of terms (a) and (b)."""

    cheap = False

    def __init__(self, problem: SamplingProblem) -> None:
        self._problem = problem
        self._work = 0
        devices = problem.conditions.devices
        self._data = devices.data
        self._total = float(devices.data.sum())
        norms = problem.gradient.norms(1, problem.horizon)
        last = np.unique(np.linspace(0, problem.horizon, min(problem.horizon, _MOMENTS) + 1).round().astype(int))
        self._steps = np.diff(last) / problem.horizon
        # Σ of ‖∇F̄(t)‖ over the steps up to each moment and after the one before.
        self._norms = np.add.reduceat(norms, last[:-1]) / problem.horizon
        self._most = most_data(problem, last[1:])

    def values(self, sets: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return minus eq. (26) of each set from solved plans; without offloading from its closed form."""
        problem = self._problem
        if not problem.offloading:
            return self.bounds(sets)
        # A step's optimum need not be unique, so the order of devices could change the last digits of later steps.
        sets = np.sort(sets, axis=1)
        options: dict[str, Any] = {
            "horizon": problem.horizon,
            "gradient": problem.gradient,
            "gradient_noise": problem.gradient_noise,
            "transfer": problem.transfer,
        }
        if len(problem.schedule.segments) > 1:
            # Conditions change in time. This is rare, so sets are planned one by one.
            self._spend(_COST_ALONE * problem.horizon * len(sets))
            return -np.array([self._objective_of(row, options) for row in sets])
        network = problem.conditions
        links = (network.incoming[sets + 1] - network.incoming[sets]).sum(axis=1)
        self._spend(int(links.sum()) * problem.horizon)
        portion = np.cumsum(links) * problem.horizon // _NUMBERS_AT_ONCE
        parts = np.split(sets, np.flatnonzero(np.diff(portion)) + 1)
        options["effort"] = problem.effort
        return -np.concatenate(in_threads(lambda part: plan_sets(network, part, **options).objective, parts))

    def _objective_of(self, row: NDArray[np.int64], options: dict[str, Any]) -> float:
        """Return eq. (26) of one set under changing conditions; ∞ if time is over before."""
        left = time_left(self._problem.effort)
        if self._problem.out_of_time:
            return np.inf
        found = plan_offloading(self._problem.schedule, row, time_limit=left, **options).objective
        return np.inf if found is None else found

    def out_of_time(self) -> bool:
        """Return whether the problem's time is over."""
        return self._problem.out_of_time

    def _spend(self, work: int) -> None:
        self._work += work
        if self._work > _MOST_WORK and np.isinf(self._problem.effort.deadline):
            raise TooMuchWorkError(
                "the surrogate takes too many solves on this network and horizon; another objective takes none"
            )

    def bounds(self, sets: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return minus eq. (26) with U_i(t) in place of D_i(t)."""
        size = sets.shape[1]
        unsampled = np.maximum(self._total - self._data[sets].sum(axis=1), 0.0)
        held = np.zeros((len(sets), self._steps.size))
        roots = np.zeros((len(sets), self._steps.size))
        # One device of the sets at a time: an array of (sets, S, moments) would be S times larger.
        for place in range(size):
            most = self._most[sets[:, place]]
            held += most
            roots += most**-0.5
        sampling = (unsampled[:, None] / (unsampled[:, None] + held)) @ self._norms
        statistical = (roots @ self._steps) * (self._problem.gradient_noise / size)
        bound: NDArray[np.float64] = -(sampling + statistical)
        return bound


def most_data(problem: SamplingProblem, moments: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return U_i(t): (N, moments), the most data that each device can hold after that many steps.

    If conditions change in time, the best value of each is used for all steps.
    """
    network = problem.conditions
    n = len(network)
    data = network.devices.data
    if not problem.offloading:
        return np.repeat(data[:, None], len(moments), axis=1)
    room = np.maximum(data_ceiling(problem.schedule, np.arange(n), 1, problem.horizon) - data, 0.0)
    networks = list(problem.schedule.between(1, problem.horizon))
    theta = np.maximum.reduce([each.devices.receive_capacity for each in networks])
    arriving = np.zeros((n, len(moments)))
    once = problem.transfer is Transfer.SEND_ONCE
    for each in networks:
        share = sendable_share(steps_needed(each))
        fresh = data[each.links.source] * (1.0 - each.links.similarity)
        for j, t in enumerate(moments.tolist()):
            sent = np.minimum(share * t, 1.0) if once else 1.0 - (1.0 - share) ** t
            arriving[:, j] += np.bincount(each.links.target, fresh * sent, n)
    received = np.minimum(np.minimum(arriving, theta[:, None] * moments), room[:, None])
    # A device without data is never sampled; 1 keeps its root finite.
    most: NDArray[np.float64] = np.where(data[:, None] > 0, data[:, None] + received, 1.0)
    return most
