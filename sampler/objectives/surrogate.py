"""The paper's surrogate objective, eq. (26), after optimised offloading.

Its value needs one solve for each step. Searches therefore use a bound in closed form to decide which sets to solve. A
link k → i can carry at most the share s_ki = min(1, Ψ_k/(D_k ψ_ki)) of k's data in a step, so by step t device i holds
at most

    U_i(t) = D_i + min{ t·θ_i,  P_i/p_i − D_i,  Σ_k D_k (1 − λ_ki)·a_ki(t) },

a_ki(t) = min(1, t·s_ki) if senders send once and 1 − (1 − s_ki)^t if they redraw,
whichever other devices are sampled. Both terms of eq. (26) fall as data grows, so U in place of D gives a lower bound
of eq. (26). It is exact unless two sampled devices share a sender, or a sender is sampled itself. Where conditions
change in time, θ_i is its largest value, P_i/p_i that of step T, which every plan keeps at all steps, and the sum is
over all conditions, as if each lasted for all steps.

A second bound knows the shared senders. Let R be what the devices have received by step t, and f(R) the terms of that
step. f is convex and falls in every R_i, so with v = −∇f(R̂) at any R̂ ≥ 0

    f(R) ≥ f(R̂) + v·R̂ − max v·R ≥ f(R̂) + v·R̂ − Σ_{i ∈ F} v_i·min{t·θ_i, P_i/p_i − D_i} − Σ_k e_k

for any choice F of devices that are taken as full, with e_k the most that sender k can earn from the others by step t
(`sampler.kernels.shared`). R̂ and F are what the senders fill if each sends where it earns most.

Both bounds are convex in t, since what can arrive is concave in t. So a bound at the mean of some steps is one on the
mean of their bounds, and long horizons need not be computed step by step. Norms that fall in time keep this true: data
only grows, so its mean weighted by the norms is at most the plain mean.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sampler.base import SamplingProblem
from sampler.errors import TooMuchWorkError
from sampler.kernels.shared import Moments, Senders, least_values
from sampler.objectives.base import Objective
from sampler.objectives.reach import sendable_share, steps_needed
from sampler.threads import THREADS, in_threads
from solver.horizon.batch import plan_sets
from solver.horizon.sequence import plan_offloading
from solver.horizon.transfer import Transfer
from solver.network.eligibility import data_ceiling
from solver.step.fast import time_left

__all__ = ["Surrogate"]

# The most times at which bounds are computed. A longer horizon is cut into so many parts, short ones at first.
_MOMENTS = 64
# The most links × steps solved together, to bound memory, and the fewest that are worth a thread.
_NUMBERS_AT_ONCE, _WORTH_A_THREAD = 200_000, 5_000
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
        self._data = problem.conditions.devices.data
        self._total = float(self._data.sum())
        times, steps, norms = _moments(problem)
        arriving = _arriving(problem, times)
        room, theta = _room(problem)
        received = np.minimum(np.minimum(arriving, theta[:, None] * times), room[:, None])
        # A device without data is never sampled; 1 keeps its root finite.
        self._most = np.where(self._data[:, None] > 0, self._data[:, None] + received, 1.0)
        self._roots = self._most**-0.5 @ steps
        self._moments = Moments(times, norms, steps, arriving)
        # Conditions that change in time are rare, so shared senders are not looked at then.
        self._senders = _senders(problem, room) if problem.offloading and len(problem.schedule.segments) == 1 else None

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
        numbers = np.cumsum(links) * problem.horizon
        portion = numbers // min(_NUMBERS_AT_ONCE, max(numbers[-1] // THREADS + 1, _WORTH_A_THREAD))
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
        unsampled = self._unsampled(sets)
        held = np.zeros((len(sets), self._most.shape[1]))
        roots = np.zeros(len(sets))
        # One device of the sets at a time: an array of (sets, S, moments) would be S times larger.
        for place in range(sets.shape[1]):
            held += self._most[sets[:, place]]
            roots += self._roots[sets[:, place]]
        sampling = (unsampled[:, None] / (unsampled[:, None] + held)) @ self._moments.sampling
        bound: NDArray[np.float64] = -(sampling + roots * (self._problem.gradient_noise / sets.shape[1]))
        return bound

    def tight_bounds(self, sets: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return minus the second bound of eq. (26), which knows the shared senders; ∞ if time is over."""
        senders = self._senders
        if senders is None:
            return self.bounds(sets)
        least = np.empty(len(sets))
        noise, effort = float(self._problem.gradient_noise), self._problem.effort
        least_values(np.ascontiguousarray(sets), senders, self._moments, self._unsampled(sets), noise, effort, least)
        return -least

    def _unsampled(self, sets: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return D_Ŝ of each set."""
        unsampled: NDArray[np.float64] = np.maximum(self._total - self._data[sets].sum(axis=1), 0.0)
        return unsampled


def _moments(problem: SamplingProblem) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return times, and there the weights of terms (b) and (a): the sums of 1/T and of ‖∇F̄(t)‖/T over some steps each.

    A time is the mean of its steps. The norms never grow, so with them as weights the mean would be earlier, where the
    terms are larger: the bounds hold for term (a) too.
    """
    T = problem.horizon
    parts = min(T, _MOMENTS)
    # Data grows fastest at first, so the first parts are single steps, and their sizes grow evenly.
    spread = np.linspace(0.0, 1.0, parts + 1)
    first = np.unique((parts * spread + (T - parts) * spread**2).round().astype(int))[:-1]
    counts = np.diff(np.append(first, T)).astype(np.float64)
    times = np.add.reduceat(np.arange(1.0, T + 1.0), first) / counts
    return times, counts / T, np.add.reduceat(problem.gradient.norms(1, T), first) / T


def _room(problem: SamplingProblem) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the room of each device beyond its data, and θ: constants that no plan exceeds at any step.

    A device may hold min_{s≥t} P_i(s)/p_i(s) at step t. That may grow in time, so the room is that of the last step;
    with the room of each step the bounds would not be convex in t.
    """
    data = problem.conditions.devices.data
    room = np.maximum(
        data_ceiling(problem.schedule, np.arange(len(data)), problem.horizon, problem.horizon) - data, 0.0
    )
    networks = problem.schedule.between(1, problem.horizon)
    return room, np.maximum.reduce([each.devices.receive_capacity for each in networks])


def _arriving(problem: SamplingProblem, times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Σ_k D_k (1 − λ_ki)·a_ki(t): (N, times), what each device can be sent by then."""
    n, data = len(problem.conditions), problem.conditions.devices.data
    arriving = np.zeros((n, len(times)))
    if not problem.offloading:
        return arriving
    once = problem.transfer is Transfer.SEND_ONCE
    for each in problem.schedule.between(1, problem.horizon):
        share = sendable_share(steps_needed(each))
        fresh = data[each.links.source] * (1.0 - each.links.similarity)
        for j, t in enumerate(times.tolist()):
            sent = np.minimum(share * t, 1.0) if once else 1.0 - (1.0 - share) ** t
            arriving[:, j] += np.bincount(each.links.target, fresh * sent, n)
    return arriving


def _senders(problem: SamplingProblem, room: NDArray[np.float64]) -> Senders:
    """Return the links as the second bound needs them."""
    network = problem.conditions
    devices, links = network.devices, network.links
    # Ψ/D, kept finite if a very large budget stands for "no limit"; a device without data sends nothing.
    with np.errstate(over="ignore"):
        budget = np.divide(devices.transmit_budget, devices.data, out=np.zeros(len(network)), where=devices.data > 0)
    return Senders(
        network.incoming,
        links.source,
        devices.data[links.source] * (1.0 - links.similarity),
        links.transmit_cost,
        sendable_share(steps_needed(network)),
        np.minimum(budget, 1e300),
        devices.data,
        devices.receive_capacity,
        room,
        problem.transfer is Transfer.SEND_ONCE,
    )
