"""A lower bound on eq. (26) for every set of S candidates, whatever it plans and with either `transfer`.

Let W = Σ_i D_i(0) over all devices. By step t device i has received at most

    R̄_i(t) = min{ Σ_{s≤t} θ_i(s),  min_{s≥t} P_i(s)/p_i(s) − D_i(0),
                  Σ_k D_k(1 − λ_ki)·min(1, Σ_{s≤t} min(1, Ψ_k(s)/(D_k ψ_ki(s)))) },

whichever other devices are sampled, and all of them together at most C(t), what the devices that are not sampled can
send. A set 𝒮 that has received R_i(t) has at step t the objective

    f_t = g_t·A/B + γ/S·Σ_{i∈𝒮} (D_i + R_i)^(−1/2),   A = W − Σ_{i∈𝒮} D_i,   B = W + Σ_{i∈𝒮} R_i.

Let B̄ be the largest B, and ρ at most A/B for every set. Then A − ρB ≥ 0, so A/B ≥ ρ + (A − ρB)/B̄, which is linear in
the set. For every price π ≥ 0 of C(t) therefore

    f_t ≥ g_t(ρ + W(1 − ρ)/B̄) − πC − Σ_{i∈𝒮} w_i,
    w_i = g_t·D_i/B̄ + max_{0≤R≤R̄_i} { (g_t·ρ/B̄ − π)·R − γ/S·(D_i + R)^(−1/2) },

and the S largest means of w_i over the steps bound every set. It costs O(links × moments), without a solve.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from sampler.base import SamplingProblem
from sampler.kernels.set_bound import add_arrivals, add_sendable, least_objective
from solver.horizon.state import HorizonState
from solver.network import Network
from solver.network.eligibility import ROUNDING, data_ceilings
from solver.validation import frozen

__all__ = ["set_bound"]

FloatArray = NDArray[np.float64]

# The most moments at which R̄ is computed, and the most numbers R̄ may have. Steps between two moments use the later one,
# at which more has been received, so it stays a bound.
_MOMENTS = 24
_NUMBERS = 1_000_000
_LEAST_MOMENTS = 4
# All senders together limit a set only if it is large: C(t) is computed for more than one in so many devices.
_FEW = 50
# For each device and moment that is summed, relative to the sum of ‖∇F̄(t)‖.
_TERM_ROUNDING = 16 * float(np.finfo(np.float64).eps)


def set_bound(problem: SamplingProblem, steps: int, state: HorizonState | None = None) -> float:
    """No set of S candidates reaches a mean objective over steps 1..`steps` below this.

    Data ceilings hold up to `problem.horizon`, as they do in plans. With a `state`, devices that are sampled now have
    received what they hold beyond D_i(0), and keep it if they are sampled again; step 1 is the step after it.
    """
    network = problem.conditions
    moments = _moments(len(network), steps)
    norm_sums = np.add.reduceat(problem.gradient.norms(1, steps), np.append(0, moments[:-1])) / steps
    before = _received_before(network, state)
    received = _most_received(problem, moments, before, state)
    together = _most_together(problem, moments) + before.sum()
    bound = least_objective(
        frozen(network.devices.data[problem.candidates]),
        frozen(received),
        frozen(together),
        network.total_data,
        frozen(norm_sums),
        frozen(np.diff(moments, prepend=0) * (problem.gradient_noise / problem.sample_size / steps)),
        problem.sample_size,
    )
    # W and what the sampled devices hold cancel where they hold nearly all data, and leave this rounding of term (a).
    bound -= _TERM_ROUNDING * (problem.sample_size + len(moments)) * float(norm_sums.sum())
    # Plans may exceed a ceiling by this rounding.
    return float(max(bound, 0.0) / ROUNDING)


def _moments(n_devices: int, steps: int) -> NDArray[np.int64]:
    """The last step of each part of the horizon."""
    count = min(steps, _MOMENTS, max(_LEAST_MOMENTS, _NUMBERS // n_devices))
    return np.unique(np.linspace(0, steps, count + 1).round().astype(np.int64)[1:])


def _segments(problem: SamplingProblem, moments: NDArray[np.int64]) -> Iterator[tuple[Network, NDArray[np.int64]]]:
    """The networks in force, and how many steps of each have passed at each moment."""
    for segment in problem.schedule.segments:
        last = moments if segment.last is None else np.minimum(moments, segment.last)
        passed = np.maximum(last - segment.first + 1, 0)
        if passed[-1] > 0:
            yield segment.network, passed


def _received_before(network: Network, state: HorizonState | None) -> FloatArray:
    """What each device has received before the first step and still holds."""
    received = np.zeros(len(network))
    if state is not None:
        received[state.sampled] = np.maximum(state.data - network.devices.data[state.sampled], 0.0)
    return received


def _most_received(
    problem: SamplingProblem, moments: NDArray[np.int64], earlier: FloatArray, state: HorizonState | None
) -> FloatArray:
    """R̄_i(t) of each candidate, (candidates, moments)."""
    chosen = problem.candidates
    if not problem.offloading:
        return np.repeat(earlier[chosen, None], len(moments), axis=1)
    n = len(problem.schedule.network)
    data = problem.schedule.network.devices.data
    arriving = np.zeros((n, len(moments)))
    taken = np.zeros((len(chosen), len(moments)))
    before: Network | None = None
    for network, passed in _segments(problem, moments):
        links = network.links
        if before is None or before.links is not links:
            # A pair that is linked anew may have sent before. That it may send all once more only weakens the bound.
            first = before is None and state is not None
            unsent = state.unsent_of(links.source, links.target) if first and state else np.ones(len(links))
        add_arrivals(
            frozen(network.incoming),
            frozen(links.source),
            frozen(links.similarity),
            frozen(links.transmit_cost),
            frozen(network.devices.data),
            frozen(network.devices.transmit_budget),
            frozen(passed),
            unsent,
            arriving,
            problem.effort,
        )
        taken += network.devices.receive_capacity[chosen, None] * passed
        before = network
    received: FloatArray = arriving[chosen]
    np.minimum(received, taken, out=received)
    holds = data[chosen] + earlier[chosen]
    after = len(moments)
    for segment, ceiling in data_ceilings(problem.schedule, chosen, max(problem.horizon, int(moments[-1]))):
        begin = int(np.searchsorted(moments, segment.first))
        here, after = received[:, begin:after], begin
        np.minimum(here, np.maximum(ceiling - holds, 0.0)[:, None], out=here)
    received += earlier[chosen, None]
    return received


def _most_together(problem: SamplingProblem, moments: NDArray[np.int64]) -> FloatArray:
    """C(t): what the senders can send together; S candidates are sampled and send nothing."""
    n, size = len(problem.schedule.network), problem.sample_size
    if n > _FEW * size:
        return np.full(len(moments), np.inf)
    sent = np.zeros((n, len(moments)))
    if problem.offloading:
        for network, passed in _segments(problem, moments):
            held = network.devices.data[network.links.source]
            add_sendable(
                frozen(network.links.source),
                frozen(held * (1.0 - network.links.similarity)),
                frozen(held * network.links.transmit_cost),
                frozen(network.devices.transmit_budget),
                frozen(passed),
                sent,
            )
    silent = np.partition(sent[problem.candidates], size - 1, axis=0)[:size].sum(axis=0)
    together: FloatArray = np.maximum(sent.sum(axis=0) - silent, 0.0) * ROUNDING
    return together
