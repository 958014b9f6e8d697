"""A lower bound on what any plan of a horizon can reach, whoever made the plan at hand and however it sends.

Every plan, redrawing or not, is a plan y that sends once and satisfies, with a_l = D_k(1 − λ_ki),

    R_i(t) = Σ_l a_l y_l(t) ≤ θ_i(t),    D_i(0) + Σ_{s≤t} R_i(s) ≤ ceiling_i(t),    Σ_t y_l(t) ≤ u_l,
    Σ_{l of k} y_l(t) ≤ 1,    Σ_{l of k} ψ_l y_l(t) ≤ Ψ_k/D_k,    y ≥ 0,

where u_l is what the pair had not sent before: a redrawing plan Φ is y = Φ·(unsent share). The objective is convex in
q_i(t) = D_i(t). So with V_i(t) = −Σ_{s≥t} ∂f_s/∂q_i at the plan's own q̂, the worth of a useful datapoint that arrives
at i at step t, every plan has

    Σ_t f_t(q) ≥ Σ_t f_t(q̂) + Σ_{t,i} V_i(t) R̂_i(t) − max Σ_{t,i} V_i(t) R_i(t),

The weights of `solver.horizon.weights` add v·p_i to each ∂f_s/∂q_i, and take w·ψ_l D_k y_l(t) off the maximum. A
redrawing plan pays for Φ ≥ y, so the bound holds for it too. Where V_i(t) is negative, nothing is sent, and 0 takes its
place.

By weak duality any prices of the rows above bound the maximum, sender by sender. `solver.kernels.horizon_certificate`
chooses them by complementary slackness. Where these leave a gap, `solver.kernels.price_search` improves them in a few
passes. A pass costs O(links × steps), and there are only as many as make a small share of the work of solving.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from solver.arrays import FloatArray, IntArray
from solver.horizon.weights import Weights
from solver.kernels.horizon_certificate import Planned, certify
from solver.kernels.layout import Effort
from solver.validation import frozen
from solver.whole.joint import Segment, stack

__all__ = ["PlannedSegment", "horizon_bound"]

# The certificate may take this share of the work of solving. The work is counted, not timed, so that answers do not
# depend on how busy the machine is. A unit is about a nanosecond of one processor; only ratios matter. Solving takes so
# much for a call, so much for each step and each iteration, and so much more for each link of them. A pass of the
# certificate takes so much for each receiver and link of each step. The first prices take a call and two passes.
_SHARE = 0.25
_CALL, _STEP, _STEP_LINK, _ITERATION, _ITERATION_LINK = 350_000, 5_000, 110, 4_000, 25
_CERTIFY, _PASS_RECEIVER, _PASS_LINK = 50_000, 20, 14
_MOST_PASSES = 16


@dataclass(frozen=True, eq=False)
class PlannedSegment(Segment):
    """The steps of a plan under constant conditions.

    Attributes:
        gradient_norms: (steps,) ‖∇F̄(t)‖.
        received: (steps, S) R_i(t).
        receiver_prices: (steps, S) μ_i of the step problems.
        iterations: of the solver, in all steps.
    """

    gradient_norms: FloatArray
    received: FloatArray
    receiver_prices: FloatArray
    iterations: float


def horizon_bound(
    segments: Sequence[PlannedSegment],
    shares: list[FloatArray],
    data: FloatArray,
    gradient_noise: float,
    weights: Weights,
    effort: Effort,
) -> float:
    """No plan for these devices over these steps has a mean objective below this; `data` is D_i before the first.

    `shares` has (steps, links) y_l(t) of each segment. The list is emptied, so that they are not in memory twice.
    """
    stacked = stack(segments, data, weights)
    n_steps = stacked.joint.segment.size
    plan = Planned(
        frozen(data),
        frozen(_of_pairs(shares, stacked.places, (n_steps, stacked.joint.limit.size))),
        frozen(_joined([segment.received for segment in segments])),
        frozen(_joined([segment.receiver_prices for segment in segments])),
        frozen(_joined([segment.gradient_norms for segment in segments])),
    )
    unsampled = segments[0].subgraph.unsampled_data
    total = certify(stacked.joint, plan, unsampled, gradient_noise, _passes(segments), effort)
    # Sums of as many terms are rounded. An optimal plan must not lie below its bound because of that.
    return total * (1.0 - n_steps * float(np.finfo(float).eps)) / n_steps


def _passes(segments: Sequence[PlannedSegment]) -> int:
    """How many passes a search for better prices may take, by the work that solving took."""
    solving = float(_CALL)
    one_pass = 0
    for segment in segments:
        n_links, n_receivers, steps = segment.subgraph.source.size, segment.ceiling.size, segment.n_steps
        solving += steps * (_STEP + _STEP_LINK * n_links) + segment.iterations * (
            _ITERATION + _ITERATION_LINK * n_links
        )
        one_pass += steps * (_PASS_RECEIVER * n_receivers + _PASS_LINK * n_links)
    passes = (_SHARE * solving - _CERTIFY) / one_pass - 2.0
    return int(min(max(passes, 0.0), _MOST_PASSES))


def _of_pairs(shares: list[FloatArray], places: Sequence[IntArray], shape: tuple[int, int]) -> FloatArray:
    """The shares of all steps and pairs; empties the list."""
    if len(shares) == 1:
        return shares.pop()
    y = np.zeros(shape)
    end = shape[0]
    for place in reversed(places):
        own = shares.pop()
        y[end - len(own) : end, place] = own
        end -= len(own)
    return y


def _joined(rows: Sequence[FloatArray]) -> FloatArray:
    return rows[0] if len(rows) == 1 else np.concatenate(rows)
