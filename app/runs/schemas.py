"""Runs over the wire: a plan made period by period."""

from datetime import datetime
from typing import Annotated

from pydantic import ConfigDict, Field

from app.http.answers import moment
from app.plans.answer import PlanSummary, summary
from app.plans.planning import PlanResult
from app.plans.request import ChangeIn
from app.runs.store import PeriodEntry, RunRecord
from app.wire.base import AnswerModel, Measure, Optional, RequestModel, given
from app.wire.naming import PlanAsked, RunState

__all__ = ["AggregationList", "AggregationOut", "AggregationRequest", "PeriodOut", "RunList", "RunOut"]


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


class RunOut(PlanAsked):
    """Where a run stands."""

    id: str
    state: RunState = Field(description="`finished`: all steps of the horizon are planned.")
    created_at: datetime
    updated_at: datetime
    n_devices: int
    sample_size: int
    horizon: int
    aggregation_period: int
    aggregation: int = Field(description="The last one answered; 0 after the first period.")
    step: int = Field(description="Steps planned so far.")

    @classmethod
    def from_domain(cls, run: RunRecord, aggregation: int) -> "RunOut":
        """The run after this aggregation."""
        step = min(run.horizon, (aggregation + 1) * run.aggregation_period)
        sizes = {name: getattr(run, name) for name in ("n_devices", "sample_size", "horizon", "aggregation_period")}
        return cls(
            id=run.id,
            state=_state(step, run),
            created_at=moment(run.created_at),
            updated_at=moment(run.updated_at),
            aggregation=aggregation,
            step=step,
            **(run.about.told() | sizes),
        )


def _state(step: int, run: RunRecord) -> RunState:
    return "finished" if step >= run.horizon else "active"


class RunList(AnswerModel):
    """Runs, oldest first."""

    runs: list[RunOut]
    next: Optional[str] = Field(None, description="Give it as `after` for the next page; absent on the last.")


class PeriodOut(PlanSummary):
    """A period of a run: the steps between two aggregations."""

    id: str = Field(description="The run's.")
    aggregation: int
    state: RunState = Field(description="The run's after this period; `finished` if it ends the horizon.")
    created_at: datetime = Field(description="When it was answered.")

    @classmethod
    def from_domain(
        cls, run: RunRecord, aggregation: int, result: PlanResult, output: str, created_at: float
    ) -> "PeriodOut":
        """The period in the asked form."""
        return cls.model_construct(
            id=run.id,
            aggregation=aggregation,
            state=_state(result.state.step, run),
            created_at=moment(created_at),
            **run.about.told(),
            **summary(result, output),
        )


class AggregationOut(AnswerModel):
    """An aggregation in a list; k = 0 is the first period, before any gradient was observed."""

    aggregation: int
    created_at: Optional[datetime] = Field(None, description="When it was answered; absent for an earlier release's.")
    first_step: int
    last_step: int
    gradient_norm: Optional[float] = Field(None, description="As observed.")

    @classmethod
    def from_domain(cls, run: RunRecord, entry: PeriodEntry) -> "AggregationOut":
        """What is listed of a period."""
        k, period = entry.aggregation, run.aggregation_period
        told = AggregationRequest.model_validate_json(entry.request).gradient_norm if entry.request else None
        made = None if entry.created_at is None else moment(entry.created_at)
        last = min(run.horizon, (k + 1) * period)
        return cls(
            aggregation=k, first_step=k * period + 1, last_step=last, **given(created_at=made, gradient_norm=told)
        )


class AggregationList(AnswerModel):
    """Aggregations of a run, in order."""

    aggregations: list[AggregationOut]
    next: Optional[str] = Field(None, description="Give it as `after` for the next page; absent on the last.")
