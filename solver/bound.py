"""The convergence bound g(Υ̂) of Corollary 1, computed from the data of a plan; a plan minimises its surrogate.

The paper bounds F(w_S(t)) − F(w*) by g(Υ̂(K̂)) = (t·ξη(1 − βη/2) − (K̂+1)L/(βε²)·Υ̂(K̂))⁻¹, eq. (22). Υ̂ is made of
δ_S(t), eq. (21), and ‖ζ(t)‖, Def. 1. A plan says how much data each device holds, so Prop. 1 gives

    δ_i(t) = (D_Ŝ/D_N)·‖∇F̄(t)‖ + γ/√D_i(t) + ‖C‖,    ‖C‖ ≤ (D_Ŝ/D_N)·‖∇F_Ŝ(t)‖,              eq. (24)
    ‖ζ(t)‖ ≤ (D_Ŝ/D_N)·(‖∇F̄(t)‖ + ‖∇F_Ŝ(t)‖)                                                   (App. C),

where ‖∇F_Ŝ‖, the unsampled devices' gradient norm, is taken to be ‖∇F̄‖ unless it is given.
"""

from dataclasses import dataclass

import numpy as np

from solver.arrays import FloatArray
from solver.errors import InvalidInputError
from solver.network import Network
from solver.plan import Plan
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
        upsilon: Υ̂(K̂) of the last whole aggregation period.
        value: g(Υ̂), or None if its denominator is not positive, since then there is no bound.
        linearised: the two-term Taylor series of g, eq. (23), which the offloading minimises.
        divergences: δ_S(t) for t = 1..T, eq. (21).
        drifts: the bound on ‖ζ(t)‖ for t = 0..T.
    """

    upsilon: float
    value: float | None
    linearised: float
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
    divergences = np.array(
        [divergence(d, unsampled, g, noise, o) for d, g, o in zip(data[1:], norms[1:], others[1:], strict=True)]
    )
    drifts = np.array([drift(d, unsampled, g, o) for d, g, o in zip(data, norms, others, strict=True)])

    horizon = len(plan.steps)
    periods = horizon // tau
    upsilon = 0.0
    for y in range((periods - 1) * tau + 1, periods * tau + 1) if periods else ():
        # exp2 gives infinity where ** would raise; a period of a thousand steps has no useful bound.
        with np.errstate(over="ignore"):
            growth = float(np.exp2(y - 1 - (periods - 1) * tau)) - 1.0
        upsilon += float(divergences[y - 1]) * growth + float(drifts[y - 1])
    progress = horizon * known.proximity * known.step_size * (1.0 - known.smoothness * known.step_size / 2.0)
    if progress == 0.0:
        raise InvalidInputError("step_size", "is too small: step_size × proximity vanishes")
    weight = (periods + 1) * known.lipschitz / (known.smoothness * known.loss_floor**2)
    denominator = progress - weight * upsilon
    return ConvergenceBound(
        upsilon=upsilon,
        value=1.0 / denominator if denominator > 0 else None,
        linearised=(1.0 + weight * upsilon / progress) / progress,
        divergences=divergences,
        drifts=drifts,
    )
