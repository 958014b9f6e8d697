"""Prices for a lower bound on the whole horizon, one backward pass over the steps of a plan (`solver.horizon_bound`).

A useful datapoint that reaches i at step t is worth V_i(t). Prices of its room to receive, μ_i(t), and of its room to
hold, N_i(t) = Σ_{s≥t} ν_i(s), leave net_i(t) = V_i(t) − μ_i(t) − N_i(t) ≥ 0, and a price c_l = a_l·κ_l of sending over
link l only once leaves its sender with a_l·net_i(t) − c_l, less what sending costs in the objective. Every choice of μ,
ν, κ ≥ 0 gives a bound. The choice here is the one that complementary slackness suggests for the plan at hand:

- A receiver that could take more has no price, so its net worth is V_i(t).
- A link that has sent everything by step t has κ_l = the net worth right after t, less what sending a useful datapoint
  costs; the other links have κ_l = 0.
- A full receiver takes data over a link whose sender could send more: then net_i(t) = κ_l and that cost. Where
  all its senders are at their limits, the share of the worth that the step's own prices left is kept.
"""

from typing import NamedTuple

import numpy as np

from solver.arrays import FloatArray, IntArray
from solver.kernels.compile import compiled
from solver.kernels.knapsack import all_earnings

__all__ = ["SegmentLinks", "earn_segment", "price_segment"]

_TIGHT = 1e-7


class SegmentLinks(NamedTuple):
    """The links of a segment, as in `solver.kernels.layout.Step`, and the number of each one's pair of devices.

    `price` is what sending everything over the link costs in the objective.
    """

    offsets: IntArray
    receiver: IntArray
    pair: IntArray
    a: FloatArray
    psi: FloatArray
    B: FloatArray
    price: FloatArray


@compiled
def _sender_has_more(first: int, last: int, y: FloatArray, psi: FloatArray, B: float) -> bool:
    share = 0.0
    spent = 0.0
    for l in range(first, last):
        share += y[l]
        spent += psi[l] * y[l]
    return share < 1.0 - _TIGHT and spent < B * (1.0 - _TIGHT)


@compiled
def _weigh(links: SegmentLinks, y: FloatArray, kappa: FloatArray, sums: FloatArray, weights: FloatArray) -> None:
    """For each receiver: the data that comes from senders who could send more, and what it costs; writes both."""
    sums[:] = 0.0
    weights[:] = 0.0
    for k in range(links.B.size):
        if _sender_has_more(links.offsets[k], links.offsets[k + 1], y, links.psi, links.B[k]):
            for l in range(links.offsets[k], links.offsets[k + 1]):
                amount = links.a[l] * y[l]
                sums[links.receiver[l]] += amount * kappa[links.pair[l]] + links.price[l] * y[l]
                weights[links.receiver[l]] += amount


@compiled
def price_segment(
    links: SegmentLinks,
    theta: FloatArray,
    room: FloatArray,
    y: FloatArray,
    R: FloatArray,
    total: FloatArray,
    V: FloatArray,
    left: FloatArray,
    last: IntArray,
    begin: int,
    kappa: FloatArray,
    later: FloatArray,
    N: FloatArray,
    trust: float,
    net: FloatArray,
) -> float:
    """Choose prices from this segment's last step to its first; returns what those of the receivers add to the bound.

    Row t of y, R, total (Σ R so far), V, left (the share of V that the step's prices leave) and net is step begin + t
    of the horizon. `room` is what the receivers may take from the horizon's start on, `last` the step at which a pair
    has sent everything (−1: never). Writes net; reads and writes `kappa` of each pair, `later` (the largest net worth
    after the current step) and N. `trust` mixes the step's own prices in: 0 takes as few of them as possible.
    """
    receiver, pair = links.receiver, links.pair
    steps, S = V.shape
    sums = np.empty(S)
    weights = np.empty(S)
    found = 0.0
    for t in range(steps - 1, -1, -1):
        for l in range(pair.size):
            if last[pair[l]] == begin + t and links.a[l] > 0.0:
                kappa[pair[l]] = max(kappa[pair[l]], later[receiver[l]] - links.price[l] / links.a[l])
        _weigh(links, y[t], kappa, sums, weights)
        for i in range(S):
            full = total[t, i] >= room[i] * (1.0 - _TIGHT)
            tight = R[t, i] >= theta[i] * (1.0 - _TIGHT)
            own = left[t, i] * V[t, i]
            wanted = V[t, i]
            if full or tight:
                wanted = own if weights[i] <= 0.0 else trust * own + (1.0 - trust) * sums[i] / weights[i]
                # Room that costs nothing, or that was used up before, may have any price.
                if theta[i] == 0.0 or (full and R[t, i] <= _TIGHT * room[i]):
                    wanted = 0.0
            wanted = min(max(wanted, 0.0), V[t, i])
            if full:
                # ν_i(t) ≥ 0: N cannot fall below what later steps ask for.
                more = max(V[t, i] - wanted - N[i], 0.0)
                found += more * room[i]
                N[i] += more
            net[t, i] = max(V[t, i] - N[i], 0.0)
            if tight and net[t, i] > wanted:
                found += (net[t, i] - wanted) * theta[i]
                net[t, i] = wanted
            later[i] = max(later[i], net[t, i])
    return found


@compiled
def earn_segment(
    links: SegmentLinks,
    unsent: FloatArray,
    kappa: FloatArray,
    net: FloatArray,
) -> float:
    """What all senders can earn in this segment's steps at these net worths and prices of sending once."""
    offsets, receiver, pair, a, psi, B, price = links
    earned = np.empty(a.size)
    limit = np.empty(a.size)
    for l in range(a.size):
        limit[l] = min(unsent[pair[l]], 1.0)
    found = 0.0
    for t in range(net.shape[0]):
        for l in range(a.size):
            earned[l] = a[l] * (net[t, receiver[l]] - kappa[pair[l]]) - price[l]
        found += all_earnings(offsets, earned, psi, B, limit)
    return found
