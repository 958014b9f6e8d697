"""What a plan's archive says outside its arrays: the fields of a JSON answer that are not in them."""

from datetime import datetime
from typing import Any, Literal, cast

from app.plans.answer import (
    Guarantee,
    PickOut,
    PlanStatus,
    SamplerStatus,
    StepStatus,
    milliseconds,
    proofs,
    sampler_status,
)
from app.plans.planning import PlanResult
from app.wire.base import AnswerModel, Optional, given
from app.wire.naming import PlanAsked
from app.wire.network import SimilarityOrigin

__all__ = ["BinarySummary"]


class BinaryStep(AnswerModel):
    """What a binary answer says of a step outside its arrays."""

    step: int
    objective: float
    sampling_term: float
    statistical_term: float
    transmit_term: float
    processing_term: float
    energy_term: float
    gradient_norm: float
    relative_gap: float
    max_violation: float
    status: StepStatus


class BinarySummary(PlanAsked):
    """What a binary answer says outside its arrays."""

    kind: Literal["plan"]
    id: Optional[str] = None
    created_at: Optional[datetime] = None
    updated_at: Optional[datetime] = None
    sampled_ids: Optional[list[str]] = None
    device_ids: Optional[list[str]] = None
    similarity: Optional[SimilarityOrigin] = None
    trace: Optional[list[PickOut]] = None
    sampler_status: Optional[SamplerStatus] = None
    transfer: Literal["send_once", "redraw"]
    planning: Literal["step", "horizon"]
    status: PlanStatus
    objective: float
    sampling_term: float
    statistical_term: float
    transmit_term: float
    processing_term: float
    energy_term: float
    relative_gap: float
    max_violation: float
    horizon_bound: float
    horizon_gap: float
    datapoints_moved: float
    transmit_cost: float
    processing_cost: float
    set_bound: Optional[float] = None
    set_gap: Optional[float] = None
    guarantee: Optional[Guarantee] = None
    datapoints_left: Optional[float] = None
    timing_ms: dict[str, float]
    steps: list[BinaryStep]

    @classmethod
    def from_domain(cls, result: PlanResult, **told: Any) -> "BinarySummary":
        """All but the arrays; `told` are the fields that the query tells."""
        terms = ("objective", "sampling_term", "statistical_term", "transmit_term", "processing_term", "energy_term")
        names = (*terms, "relative_gap", "max_violation")
        totals = ("datapoints_moved", "transmit_cost", "processing_cost")
        per_step = ("step", *names, "gradient_norm")
        plan, ids, choice = result.plan, result.ids, result.choice
        return cls(
            kind="plan",
            **told,
            **given(
                sampled_ids=ids and ids.named(plan.sampled.tolist()),
                device_ids=ids and list(ids.names),
                similarity=result.similarity,
                trace=[PickOut.from_domain(pick) for pick in choice.trace] or None if choice else None,
                sampler_status=sampler_status(result),
                datapoints_left=None if result.orders is None else result.orders.left,
            ),
            **proofs(result),
            transfer=plan.transfer,
            planning=plan.planning,
            status=cast("PlanStatus", plan.status.value),
            timing_ms=milliseconds(result),
            steps=[
                BinaryStep(status=cast("StepStatus", step.status.value), **{n: getattr(step, n) for n in per_step})
                for step in plan.steps
            ],
            **{name: getattr(plan, name) for name in (*names, *totals)},
        )
