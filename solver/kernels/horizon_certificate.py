"""A lower bound on the whole horizon: prices from one backward pass over a plan (`solver.whole.horizon_bound`).

A useful datapoint that reaches i at step t is worth V_i(t). Prices of its room to receive, μ_i(t), and of its room to
hold, N_i(t) = Σ_{s≥t} ν_i(s), leave net_i(t) = V_i(t) − μ_i(t) − N_i(t) ≥ 0, and a price c_l = a_l·κ_l of sending over
link l only once leaves its sender with a_l·net_i(t) − c_l, less what sending costs in the objective. Every choice of μ,
ν, κ ≥ 0 gives a bound. The choice here is the one that complementary slackness suggests for the plan at hand:

- A receiver that could take more has no price, so its net worth is V_i(t).
- A link that has sent everything by step t has κ_l = the net worth right after t, less what sending a useful datapoint
  costs; the other links have κ_l = 0.
- A full receiver takes data over a link whose sender could send more: then net_i(t) = κ_l and that cost. Where
  all its senders are at their limits, the share of the worth that the step's own prices left is kept.

Where these prices leave a gap, others are tried, and `solver.kernels.price_search` improves the better ones.
"""

from typing import NamedTuple

import numpy as np

from solver.arrays import FloatArray, IntArray
from solver.kernels.clock import is_over
from solver.kernels.compile import compiled, lean
from solver.kernels.joint import Joint
from solver.kernels.layout import Effort
from solver.kernels.price_search import Prices, bound_at, improve_prices, new_response

__all__ = ["Planned", "certify"]

_TIGHT = 1e-7
# Prices are searched for if the relative gap is larger. The first step is this share of it.
_CLOSE = 1e-4
_FIRST_STEP = 0.3
# A second choice of prices takes as long as so many passes of the search.
_CHOICE = 2


class Planned(NamedTuple):
    """A plan for the steps of a `Joint`: the data held before it, and for each step its share y of each pair.

    R, μ and G are what arrives, the prices of the step problem and the gradient's norm.
    """

    data: FloatArray
    y: FloatArray
    R: FloatArray
    mu: FloatArray
    G: FloatArray


class _Linear(NamedTuple):
    """The objective around the plan: V, the share of V that the steps' prices leave, and Σ R up to each step."""

    V: FloatArray
    left: FloatArray
    total: FloatArray


@compiled
def certify(joint: Joint, plan: Planned, D_hat: float, gamma: float, passes: int, effort: Effort) -> float:
    """No plan has a sum of objectives below this; better prices are looked for in so many passes at the most."""
    shape = plan.R.shape
    around = _Linear(np.empty(shape), np.empty(shape), np.empty(shape))
    V = around.V
    objective, earned = _linearise(joint, plan, D_hat, gamma, around)
    last, paid = _last_steps(joint, plan.y)
    reached = earned - paid
    prices = _choose(joint, plan, around, last, 0.0)
    response = new_response(joint)
    most = bound_at(joint, V, prices, response)
    if most - reached > _TIGHT * objective and passes >= _CHOICE and not is_over(effort):
        passes -= _CHOICE
        others, other_response = _choose(joint, plan, around, last, 1.0), new_response(joint)
        found = bound_at(joint, V, others, other_response)
        if found < most:
            most, prices, response = found, others, other_response
    # Nothing is sent at a maximum of 0, which no prices can lower.
    if most > 0.0 and most - reached > _CLOSE * objective:
        step = _FIRST_STEP * (most - reached) / most
        enough = reached + _CLOSE * objective
        most = improve_prices(joint, V, prices, response, most, enough, step, passes, effort)
    return objective + earned - most


@lean
def _linearise(joint: Joint, plan: Planned, D_hat: float, gamma: float, around: _Linear) -> tuple[float, float]:
    """Write V ≥ 0, the share that the steps' prices leave, and the sums of R; returns Σ f_t and Σ V·R."""
    V, left, total = around
    T, S = V.shape
    objective = 0.0
    for t in range(T):
        hold = joint.hold[joint.segment[t]]
        everything = D_hat
        for i in range(S):
            total[t, i] = plan.R[t, i] + (total[t - 1, i] if t > 0 else 0.0)
            everything += plan.data[i] + total[t, i]
        sampling = plan.G[t] * (D_hat / everything)
        objective += sampling
        for i in range(S):
            held = plan.data[i] + total[t, i]
            root = held**-0.5
            objective += gamma / S * root + hold[i] * held
            slope = sampling / everything + 0.5 * gamma / S * root / held - hold[i]
            V[t, i] = slope
            left[t, i] = 1.0 - (min(plan.mu[t, i] / slope, 1.0) if slope > 0.0 else 0.0)
    earned = 0.0
    for i in range(S):
        later = 0.0
        for t in range(T - 1, -1, -1):
            later += V[t, i]
            earned += later * plan.R[t, i]
            V[t, i] = max(later, 0.0)
    return objective, earned


@compiled
def _last_steps(joint: Joint, y: FloatArray) -> tuple[IntArray, float]:
    """The step at which each pair has sent everything (−1: it never has), and what sending costs in the objective."""
    last = np.full(y.shape[1], -1)
    sent = np.zeros(y.shape[1])
    paid = 0.0
    for t in range(y.shape[0]):
        price = joint.price[joint.segment[t]]
        for l in range(y.shape[1]):
            if y[t, l] > 0.0:
                last[l] = t
                sent[l] += y[t, l]
                paid += price[l] * y[t, l]
    for l in range(last.size):
        if sent[l] < joint.limit[l] * (1.0 - _TIGHT):
            last[l] = -1
    return last, paid


@lean
def _weigh(joint: Joint, g: int, y: FloatArray, kappa: FloatArray, sums: FloatArray, weights: FloatArray) -> None:
    """For each receiver: the data that comes from senders who could send more, and what it costs; writes both."""
    a, psi, price = joint.a[g], joint.psi[g], joint.price[g]
    sums[:] = 0.0
    weights[:] = 0.0
    for k in range(joint.B.shape[1]):
        share = 0.0
        spent = 0.0
        for l in range(joint.offsets[k], joint.offsets[k + 1]):
            share += y[l]
            spent += psi[l] * y[l]
        if 0.0 < share < 1.0 - _TIGHT and spent < joint.B[g, k] * (1.0 - _TIGHT):
            for l in range(joint.offsets[k], joint.offsets[k + 1]):
                amount = a[l] * y[l]
                sums[joint.receiver[l]] += amount * kappa[l] + price[l] * y[l]
                weights[joint.receiver[l]] += amount


@compiled
def _choose(joint: Joint, plan: Planned, around: _Linear, last: IntArray, trust: float) -> Prices:
    """Prices by complementary slackness, from the last step to the first.

    `trust` mixes the steps' own prices in: 0 takes as few of them as possible.
    """
    T, S = plan.R.shape
    mu, nu, net = np.zeros(T * S), np.zeros(joint.room.size), np.empty((T, S))
    kappa = np.zeros(joint.limit.size)
    later, held_price = np.zeros(S), np.zeros(S)
    sums, weights = np.empty(S), np.empty(S)
    for t in range(T - 1, -1, -1):
        g = joint.segment[t]
        for l in range(last.size):
            if last[l] == t and joint.a[g, l] > 0.0:
                kappa[l] = max(kappa[l], later[joint.receiver[l]] - joint.price[g, l] / joint.a[g, l])
        _weigh(joint, g, plan.y[t], kappa, sums, weights)
        for i in range(S):
            V, room, theta = around.V[t, i], joint.room[g, i], joint.theta[g, i]
            full = around.total[t, i] >= room * (1.0 - _TIGHT)
            tight = plan.R[t, i] >= theta * (1.0 - _TIGHT)
            wanted = V
            if full or tight:
                own = around.left[t, i] * V
                wanted = own if weights[i] <= 0.0 else trust * own + (1.0 - trust) * sums[i] / weights[i]
                # Room that costs nothing, or that was used up before, may have any price.
                if theta == 0.0 or (full and plan.R[t, i] <= _TIGHT * room):
                    wanted = 0.0
            wanted = min(max(wanted, 0.0), V)
            if full:
                # ν_i ≥ 0: the price of holding cannot fall below what later steps ask for.
                more = max(V - wanted - held_price[i], 0.0)
                nu[g * S + i] += more
                held_price[i] += more
            net[t, i] = max(V - held_price[i], 0.0)
            if tight:
                net[t, i] = min(net[t, i], wanted)
            later[i] = max(later[i], net[t, i])
        # The price of holding counts for all steps of the segment, so only what is left is one of receiving.
        if t == 0 or joint.segment[t - 1] != g:
            s = t
            while s < T and joint.segment[s] == g:
                for i in range(S):
                    mu[s * S + i] = max(around.V[s, i] - held_price[i] - net[s, i], 0.0)
                s += 1
    # A pair's similarity may change with its link: the largest worth of its data bounds the price in every segment.
    for l in range(kappa.size):
        kappa[l] *= joint.a[:, l].max()
    return Prices(mu, nu, kappa)
