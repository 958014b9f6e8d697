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

By weak duality any prices of the rows above bound the maximum, sender by sender. `solver.kernels.horizon_certificate`
chooses them by complementary slackness. Where these leave a gap, `solver.kernels.price_search` improves them in a few
passes. It costs O(links × steps).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from solver.arrays import FloatArray, IntArray
from solver.joint import Segment, Stacked, stack
from solver.kernels.horizon_certificate import SegmentLinks, earn_segment, price_segment
from solver.kernels.price_search import improve_prices
from solver.validation import frozen
from solver.weights import NO_WEIGHTS, Weights

__all__ = ["PlannedSegment", "horizon_bound"]

# How much of the steps' own prices is mixed into those that complementary slackness suggests; the best choice counts.
# The second is tried where the first leaves a relative gap above _TIGHT.
_TRUST = (0.0, 1.0)
_TIGHT = 1e-7

# Prices are improved if the relative gap is larger, for so many passes at the most. The first step is this share of it.
_CLOSE = 1e-4
_PASSES = 16
_FIRST_STEP = 0.3


@dataclass(frozen=True, eq=False)
class PlannedSegment(Segment):
    """The steps of a plan under constant conditions.

    Attributes:
        shares: (steps, links) y_l(t).
        gradient_norms: (steps,) ‖∇F̄(t)‖.
        received: (steps, S) R_i(t).
        receiver_prices: (steps, S) μ_i of the step problems.
    """

    shares: FloatArray
    gradient_norms: FloatArray
    received: FloatArray
    receiver_prices: FloatArray


class _Prices(NamedTuple):
    """A bound on max Σ V·R with the prices that prove it, as `solver.kernels.price_search` takes them."""

    most: float
    mu: FloatArray
    nu: FloatArray
    once: FloatArray


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
    stacked = stack(segments, data, weights)
    sent, latest = _sent(segments, stacked)
    links = [_links(segment, pair, weights) for segment, pair in zip(segments, stacked.places, strict=True)]
    objective = float(values.sum())
    paid = sum(float((segment.shares @ own.price).sum()) for segment, own in zip(segments, links, strict=True))
    reached = earned - paid
    best = _Prices(np.inf, worth, worth, worth)
    last = frozen(np.where(sent >= stacked.joint.limit * (1.0 - 1e-7), latest, -1))
    for trust in _TRUST:
        found = _choose(segments, links, stacked, last, received, total, worth, left, trust)
        best = min(best, found, key=lambda prices: prices.most)
        if best.most - reached <= _TIGHT * objective:
            break
    most = best.most
    # Nothing is sent at a maximum of 0, which no prices can lower.
    if most > 0.0 and most - reached > _CLOSE * objective:
        step = _FIRST_STEP * (most - reached) / most
        close = reached + _CLOSE * objective
        improved = improve_prices(stacked.joint, worth, best.mu, best.nu, best.once, _PASSES, step, close)
        most = min(most, improved)
    return (objective + earned - most) / norms.size


def _objective(held: FloatArray, unsampled: float, norms: FloatArray, noise: float) -> tuple[FloatArray, FloatArray]:
    """f_t and −∂f_t/∂q_i of each step, eq. (26)."""
    everything = unsampled + held.sum(axis=1)
    sampling = norms * (unsampled / everything)
    values = sampling + noise / held.shape[1] * (held**-0.5).sum(axis=1)
    slopes = (sampling / everything)[:, None] + 0.5 * noise / held.shape[1] * held**-1.5
    return values, slopes


def _sent(segments: Sequence[PlannedSegment], stacked: Stacked) -> tuple[FloatArray, IntArray]:
    """What each pair sent in all, and the step at which it sent last (−1: never)."""
    sent = np.zeros(stacked.joint.limit.size)
    latest = np.full(sent.size, -1, np.int64)
    begin = 0
    for segment, pair in zip(segments, stacked.places, strict=True):
        sent[pair] += segment.shares.sum(axis=0)
        used = segment.shares > 0.0
        final = segment.n_steps - 1 - np.argmax(used[::-1], axis=0)
        latest[pair] = np.where(used.any(axis=0), begin + final, latest[pair])
        begin += segment.n_steps
    return sent, latest


def _choose(
    segments: Sequence[PlannedSegment],
    links: Sequence[SegmentLinks],
    stacked: Stacked,
    last: IntArray,
    received: FloatArray,
    total: FloatArray,
    worth: FloatArray,
    left: FloatArray,
    trust: float,
) -> _Prices:
    """Prices by complementary slackness, from the last segment to the first."""
    joint = stacked.joint
    kappa = np.zeros(joint.limit.size)
    later = np.zeros(worth.shape[1])
    held_price = np.zeros(worth.shape[1])
    net = np.empty_like(worth)
    mu = np.empty_like(worth)
    nu = np.zeros(joint.room.shape)
    most = 0.0
    end = received.shape[0]
    rows = []
    for segment, own_links in zip(reversed(segments), reversed(links), strict=True):
        own = slice(end - segment.n_steps, end)
        end -= segment.n_steps
        g = joint.segment[end]
        before = held_price.copy()
        most += price_segment(
            own_links,
            joint.theta[g],
            joint.room[g],
            frozen(segment.shares),
            frozen(received[own]),
            frozen(total[own]),
            frozen(worth[own]),
            frozen(left[own]),
            last,
            end,
            kappa,
            later,
            held_price,
            trust,
            net[own],
        )
        nu[g] += held_price - before
        mu[own] = np.maximum(worth[own] - held_price - net[own], 0.0)
        rows.append(own)
    for own_links, own in zip(links, reversed(rows), strict=True):
        most += earn_segment(own_links, joint.limit, frozen(kappa), frozen(net[own]))
    # A pair's similarity may change with its link: the largest worth of its data bounds the price in every segment.
    once = kappa * joint.a.max(axis=0)
    return _Prices(most + float(np.sum(once * joint.limit)), mu.ravel(), nu.ravel(), once)


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
