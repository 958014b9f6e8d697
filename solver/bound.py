"""The convergence bound g(Υ̂) of Corollary 1, computed from the data of a plan; a plan minimises its surrogate.

The paper bounds F(w_S(t)) − F(w*) by g(Υ̂(K̂)) = (t·ξη(1 − βη/2) − (K̂+1)L/(βε²)·Υ̂(K̂))⁻¹, eq. (22). Υ̂ is made of
δ_S(t), eq. (21), and ‖ζ(t)‖, Def. 1. A plan says how much data each device holds, so Prop. 1 gives

    δ_i(t) = (D_Ŝ/D_N)·‖∇F̄(t)‖ + γ/√D_i(t) + ‖C‖,    ‖C‖ ≤ (D_Ŝ/D_N)·‖∇F_Ŝ(t)‖,              eq. (24)
    ‖ζ(t)‖ ≤ (D_Ŝ/D_N)·(‖∇F̄(t)‖ + ‖∇F_Ŝ(t)‖)                                                   (App. C),

where ‖∇F_Ŝ‖, the unsampled devices' gradient norm, is taken to be ‖∇F̄‖ unless it is given.

The paper's formula differs from what its proof shows in two places, so we compute both versions.

* Eq. (22) charges the last whole period's Υ̂ for each period. In the proof each period k loses its own Υ̂_k, and an
  unfinished last period the Υ̂ up to t: F(w_S(t)) − F(w*) ≤ (t·ξη(1 − βη/2) − L/(βε²)·Σ_k Υ̂_k)⁻¹.
* Theorem 1 multiplies δ_S(y) by 2^(y−1−(k−1)τ) − 1. That factor sums up deviations at earlier steps of the period. With
  the least δ_i that Def. 2 allows at w_S(y), the theorem is false: two devices of equal data with F_i = h_i w²/2,
  h = 1.5 and 0.5, η = 1/β, w(0) = 1 have a gap of 1/9 at t = 2, and the printed bound is 2/27. It holds if δ_S(y) is
  the supremum of δ_S over the period's steps up to y: with E(y) = Σ_i p_i ‖w_i(y) − w_S(y)‖ and constant data,
  E(y) ≤ (1 + ηβ)·E(y−1) + η·δ_S(y−1), so E ≤ (δ_S/β)·(2^n − 1) after n steps of the period.
"""

from dataclasses import dataclass

import numpy as np

from solver.arrays import FloatArray
from solver.errors import InvalidInputError
from solver.horizon.plan import Plan
from solver.network import Network
from solver.validation import as_count, as_number

__all__ = ["ConvergenceBound", "LossConstants", "convergence_bound", "divergence", "drift"]


@dataclass(frozen=True)
class LossConstants:
    """The constants of Assumption 1 and Corollary 1.

    Attributes:
        smoothness: β.
        lipschitz: L.
        step_size: η ≤ 1/β.
        proximity: ξ = min_k ‖v_k((k−1)τ) − w*‖⁻².
        loss_floor: ε, a lower bound on the excess loss at all times.
    """

    smoothness: float = 1.0
    lipschitz: float = 1.0
    step_size: float = 0.01
    proximity: float = 1.0
    loss_floor: float = 1.0

    def __post_init__(self) -> None:
        for name in ("smoothness", "lipschitz", "step_size", "proximity", "loss_floor"):
            object.__setattr__(self, name, as_number(getattr(self, name), name, strict=True))
        if self.step_size * self.smoothness > 1:
            raise InvalidInputError("step_size", f"must be at most 1/smoothness, {1 / self.smoothness:g}")


@dataclass(frozen=True, eq=False)
class ConvergenceBound:
    """Corollary 1 at the end of a plan.

    Attributes:
        upsilon: Υ̂(K̂) of the last whole aggregation period, as printed; of the period begun if none is whole.
        value: g(Υ̂), eq. (22), or None if its denominator is not positive, since then there is no bound.
        linearised: the two-term Taylor series of g, eq. (23), which the offloading minimises.
        period_upsilons: Υ̂_k of each period, the last up to T, with the supremum of δ_S over the period's steps.
        proven_value: the bound that the proof gives, by the sum of `period_upsilons`; None as for `value`.
        divergences: δ_S(t) for t = 1..T, eq. (21).
        drifts: the bound on ‖ζ(t)‖ for t = 0..T.
    """

    upsilon: float
    value: float | None
    linearised: float
    period_upsilons: FloatArray
    proven_value: float | None
    divergences: FloatArray
    drifts: FloatArray


def divergence(
    sampled_data: FloatArray,
    unsampled_data: float,
    gradient_norm: float,
    gradient_noise: float,
    unsampled_gradient_norm: float,
) -> float:
    """δ_S, eq. (21): the data-weighted mean of δ_i, eq. (24)."""
    total = float(sampled_data.sum())
    unsampled_share = unsampled_data / (unsampled_data + total)
    common = unsampled_share * (gradient_norm + unsampled_gradient_norm)
    # Σ D_i·γ/√D_i = γ Σ √D_i
    return common + gradient_noise * float(np.sqrt(sampled_data).sum()) / total


def drift(
    sampled_data: FloatArray, unsampled_data: float, gradient_norm: float, unsampled_gradient_norm: float
) -> float:
    """The bound on ‖ζ‖ of App. C."""
    unsampled_share = unsampled_data / (unsampled_data + float(sampled_data.sum()))
    return unsampled_share * (gradient_norm + unsampled_gradient_norm)


def convergence_bound(
    network: Network,
    plan: Plan,
    *,
    aggregation_period: int,
    constants: LossConstants | None = None,
    unsampled_gradient_norm: float | None = None,
) -> ConvergenceBound:
    """Corollary 1 at t = T for a feasible plan with at least one step."""
    if not plan.steps:
        raise InvalidInputError("plan", "has no steps to bound")
    known = LossConstants() if constants is None else constants
    tau = as_count(aggregation_period, "aggregation_period")
    noise, unsampled = plan.gradient_noise, plan.unsampled_data
    start = network.devices.data[plan.sampled]

    data = [start, *(step.sampled_data for step in plan.steps)]
    norms = [plan.steps[0].gradient_norm, *(step.gradient_norm for step in plan.steps)]
    others = (
        norms
        if unsampled_gradient_norm is None
        else [as_number(unsampled_gradient_norm, "unsampled_gradient_norm")] * len(norms)
    )
    divergences = np.array([divergence(d, unsampled, g, noise, o) for d, g, o in zip(data, norms, others, strict=True)])
    drifts = np.array([drift(d, unsampled, g, o) for d, g, o in zip(data, norms, others, strict=True)])

    horizon = len(plan.steps)
    whole = horizon // tau
    last = max(whole - 1, 0) * tau
    upsilon = _upsilon(divergences[1:], drifts, last, min(last + tau, horizon))
    upsilons = np.array(
        [
            _upsilon(_highest(divergences, first, tau), drifts, first, min(first + tau, horizon))
            for first in range(0, horizon, tau)
        ]
    )
    progress = horizon * known.proximity * known.step_size * (1.0 - known.smoothness * known.step_size / 2.0)
    if progress == 0.0:
        raise InvalidInputError("step_size", "is too small: step_size × proximity vanishes")
    weight = known.lipschitz / (known.smoothness * known.loss_floor**2)
    printed = (whole + 1) * weight * upsilon
    return ConvergenceBound(
        upsilon=upsilon,
        value=_inverse(progress - printed),
        linearised=(1.0 + printed / progress) / progress,
        period_upsilons=upsilons,
        proven_value=_inverse(progress - weight * float(upsilons.sum())),
        divergences=divergences[1:],
        drifts=drifts,
    )


def _upsilon(divergences: FloatArray, drifts: FloatArray, first: int, last: int) -> float:
    """Σ_y δ_S(y)·(2^(y−1−first) − 1) + ‖ζ(y−1)‖ for y = first+1..last; divergences[y − 1] is δ_S(y)."""
    # exp2 gives infinity where ** would raise; a period of a thousand steps has no useful bound.
    with np.errstate(over="ignore"):
        growth = np.exp2(np.arange(last - first, dtype=np.float64)) - 1.0
    return float((divergences[first:last] * growth + drifts[first:last]).sum())


def _highest(divergences: FloatArray, first: int, tau: int) -> FloatArray:
    """For each step t ≥ 1 of the period that begins after `first`, the largest δ_S from `first` to t."""
    highest = divergences[1:].copy()
    period = slice(first, first + tau)
    highest[period] = np.maximum(np.maximum.accumulate(highest[period]), divergences[first])
    return highest


def _inverse(denominator: float) -> float | None:
    return 1.0 / denominator if denominator > 0 else None
