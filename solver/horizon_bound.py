"""A lower bound on what any plan of a horizon can reach, whoever made the plan at hand and however it sends.

Every plan, redrawing or not, is a plan y that sends once and satisfies, with a_l = D_k(1 − λ_ki),

    R_i(t) = Σ_l a_l y_l(t) ≤ θ_i(t),    D_i(0) + Σ_{s≤t} R_i(s) ≤ ceiling_i(t),    Σ_t y_l(t) ≤ u_l,
    Σ_{l of k} y_l(t) ≤ 1,    Σ_{l of k} ψ_l y_l(t) ≤ Ψ_k/D_k,    y ≥ 0,

where u_l is what the pair had not sent before: a redrawing plan Φ is y = Φ·(unsent share). The objective is convex in
q_i(t) = D_i(t). So with V_i(t) = −Σ_{s≥t} ∂f_s/∂q_i at the plan's own q̂, the worth of a useful datapoint that arrives
at i at step t, every plan has

    Σ_t f_t(q) ≥ Σ_t f_t(q̂) + Σ_{t,i} V_i(t) R̂_i(t) − max Σ_{t,i} V_i(t) R_i(t),

The weights of `solver.weights` add v·p_i to each ∂f_s/∂q_i, and take w·ψ_l D_k y_l(t) off the maximum. A redrawing plan
pays for Φ ≥ y, so the bound holds for it too. Where V_i(t) is negative, nothing is sent, and 0 takes its place.

By weak duality any prices of the rows above bound the maximum, sender by sender
(`solver.kernels.horizon_certificate` chooses them). It costs O(links × steps).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from solver.arrays import FloatArray, IntArray
from solver.kernels.horizon_certificate import SegmentLinks, earn_segment, price_segment
from solver.subgraph import Subgraph
from solver.validation import frozen
from solver.weights import NO_WEIGHTS, Weights

__all__ = ["PlannedSegment", "horizon_bound"]

# Choices of prices, of which the best counts: how much of the steps' own prices is mixed into those that complementary
# slackness suggests, and which share sent counts as everything (a redrawing sender never sends the last datapoint).
_CHOICES = ((0.0, 1.0 - 1e-7), (1.0, 1.0 - 1e-7), (0.0, 0.8))


@dataclass(frozen=True, eq=False)
class PlannedSegment:
    """The steps of a plan under constant conditions.

    Attributes:
        subgraph: the links into the sampled set.
        ceiling: the most that each sampled device may ever hold from here on.
        unsent: u_l of each link before the *plan's* first step.
        shares: (steps, links) y_l(t).
        gradient_norms: (steps,) ‖∇F̄(t)‖.
        received: (steps, S) R_i(t).
        receiver_prices: (steps, S) μ_i of the step problems.
    """

    subgraph: Subgraph
    ceiling: FloatArray
    unsent: FloatArray
    shares: FloatArray
    gradient_norms: FloatArray
    received: FloatArray
    receiver_prices: FloatArray


def horizon_bound(
    segments: Sequence[PlannedSegment], data: FloatArray, gradient_noise: float, weights: Weights = NO_WEIGHTS
) -> float:
    """No plan for these devices over these steps has a mean objective below this; `data` is D_i before the first."""
    norms = np.concatenate([segment.gradient_norms for segment in segments])
    received = np.concatenate([segment.received for segment in segments])
    prices = np.concatenate([segment.receiver_prices for segment in segments])
    total = np.cumsum(received, axis=0)
    values, slopes = _objective(data + total, segments[0].subgraph.unsampled_data, norms, gradient_noise)
    holding = np.concatenate([np.tile(weights.of_holding(one.subgraph), (len(one.shares), 1)) for one in segments])
    values += (holding * (data + total)).sum(axis=1)
    slopes -= holding
    worth = np.ascontiguousarray(np.cumsum(slopes[::-1], axis=0)[::-1])
    earned = float((worth * received).sum())
    worth = np.maximum(worth, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        left = 1.0 - np.clip(np.nan_to_num(prices / slopes, nan=0.0, posinf=1.0), 0.0, 1.0)
    pairs, unsent, sent, latest = _pairs(segments)
    links = [_links(segment, pair, weights) for segment, pair in zip(segments, pairs, strict=True)]
    most = np.inf
    for trust, everything in _CHOICES:
        last = frozen(np.where(sent >= unsent * everything, latest, -1))
        most = min(most, _most(segments, links, unsent, last, data, received, total, worth, left, trust))
    return (float(values.sum()) + earned - most) / norms.size


def _objective(held: FloatArray, unsampled: float, norms: FloatArray, noise: float) -> tuple[FloatArray, FloatArray]:
    """f_t and −∂f_t/∂q_i of each step, eq. (26)."""
    everything = unsampled + held.sum(axis=1)
    sampling = norms * (unsampled / everything)
    values = sampling + noise / held.shape[1] * (held**-0.5).sum(axis=1)
    slopes = (sampling / everything)[:, None] + 0.5 * noise / held.shape[1] * held**-1.5
    return values, slopes


def _pairs(segments: Sequence[PlannedSegment]) -> tuple[list[IntArray], FloatArray, FloatArray, IntArray]:
    """The number of each link's pair; u of each pair, what it sent in all, and the step at which it sent last."""
    keys = np.concatenate([segment.subgraph.keys for segment in segments])
    known, number = np.unique(keys, return_inverse=True)
    ends = np.cumsum([segment.unsent.size for segment in segments])[:-1]
    pairs = [frozen(part.astype(np.int64)) for part in np.split(number, ends)]
    unsent = np.ones(known.size)
    sent = np.zeros(known.size)
    latest = np.full(known.size, -1, np.int64)
    begin = 0
    for segment, pair in zip(segments, pairs, strict=True):
        unsent[pair] = segment.unsent
        sent[pair] += segment.shares.sum(axis=0)
        used = segment.shares > 0.0
        steps = used.shape[0]
        final = steps - 1 - np.argmax(used[::-1], axis=0)
        latest[pair] = np.where(used.any(axis=0), begin + final, latest[pair])
        begin += steps
    return pairs, frozen(unsent), sent, latest


def _most(
    segments: Sequence[PlannedSegment],
    links: Sequence[SegmentLinks],
    unsent: FloatArray,
    last: IntArray,
    data: FloatArray,
    received: FloatArray,
    total: FloatArray,
    worth: FloatArray,
    left: FloatArray,
    trust: float,
) -> float:
    """The bound on max Σ V·R that the prices give: they are chosen from the last segment to the first."""
    kappa = np.zeros(unsent.size)
    fresh = np.zeros(unsent.size)
    later = np.zeros(data.size)
    held_price = np.zeros(data.size)
    net = np.empty_like(worth)
    most = 0.0
    end = received.shape[0]
    rows = []
    for segment, own_links in zip(reversed(segments), reversed(links), strict=True):
        graph = segment.subgraph
        begin = end - segment.shares.shape[0]
        rows.append(slice(begin, end))
        np.maximum.at(fresh, own_links.pair, graph.fresh)
        most += price_segment(
            own_links,
            frozen(graph.network.devices.receive_capacity[graph.sampled]),
            frozen(np.maximum(np.minimum(segment.ceiling, np.finfo(np.float64).max) - data, 0.0)),
            frozen(segment.shares),
            frozen(received[rows[-1]]),
            frozen(total[rows[-1]]),
            frozen(worth[rows[-1]]),
            frozen(left[rows[-1]]),
            last,
            begin,
            kappa,
            later,
            held_price,
            trust,
            net[rows[-1]],
        )
        end = begin
    for own_links, own in zip(links, reversed(rows), strict=True):
        most += earn_segment(own_links, unsent, frozen(kappa), frozen(net[own]))
    # A pair's similarity may change with its link: the largest worth of its data bounds the price in every segment.
    return most + float(np.sum(kappa * fresh * unsent))


def _links(segment: PlannedSegment, pair: IntArray, weights: Weights) -> SegmentLinks:
    graph = segment.subgraph
    return SegmentLinks(
        frozen(graph.offsets),
        frozen(graph.receiver),
        frozen(pair),
        frozen(graph.fresh),
        frozen(graph.cost),
        frozen(graph.budget),
        frozen(weights.of_sending(graph)),
    )
