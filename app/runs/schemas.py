"""Runs over the wire: a plan made period by period."""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import ConfigDict, Field

from app.plans.answer import PlanSummary, summary
from app.plans.planning import PlanResult
from app.plans.request import ChangeIn
from app.runs.store import RunRecord
from app.wire.base import AnswerModel, Measure, Optional, RequestModel

__all__ = ["AggregationRequest", "PeriodOut", "RunList", "RunOut"]


class AggregationRequest(RequestModel):
    """What the aggregation at step k·τ observed, and what changes from then on."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"aggregation": 1, "gradient_norm": 0.8}]})

    aggregation: Annotated[int, Field(ge=1, lt=2**31, description="k, counted from 1.")]
    gradient_norm: Annotated[Measure, Field(description="‖∇F̄(kτ)‖ as observed.")]
    gradient_noise: Optional[Measure] = Field(
        None, description="γ as measured; it holds from now on. Without it the one before does."
    )
    schedule: Annotated[
        list[ChangeIn], Field(max_length=1000, default_factory=list, description="Changes after step k·τ.")
    ]


class RunOut(AnswerModel):
    """Where a run stands."""

    id: str
    created_at: datetime
    n_devices: int
    sample_size: int
    horizon: int
    aggregation_period: int
    aggregation: int = Field(description="The last one answered; 0 after the first period.")
    step: int = Field(description="Steps planned so far.")
    finished: bool

    @classmethod
    def from_domain(cls, run: RunRecord, aggregation: int) -> "RunOut":
        """The run after this aggregation."""
        step = min(run.horizon, (aggregation + 1) * run.aggregation_period)
        return cls(
            id=run.id,
            created_at=datetime.fromtimestamp(run.created_at, UTC),
            n_devices=run.n_devices,
            sample_size=run.sample_size,
            horizon=run.horizon,
            aggregation_period=run.aggregation_period,
            aggregation=aggregation,
            step=step,
            finished=step == run.horizon,
        )


class RunList(AnswerModel):
    """Runs, oldest first."""

    runs: list[RunOut]
    next: Optional[str] = Field(None, description="Give it as `after` for the next page; absent on the last.")


class PeriodOut(PlanSummary):
    """A period of a run: the steps between two aggregations."""

    run: str
    aggregation: int
    finished: bool = Field(description="Whether this period ends the horizon.")

    @classmethod
    def from_domain(cls, run: RunRecord, aggregation: int, result: PlanResult, output: str) -> "PeriodOut":
        """The period in the asked form."""
        finished = result.state.step >= run.horizon
        return cls.model_construct(run=run.id, aggregation=aggregation, finished=finished, **summary(result, output))
