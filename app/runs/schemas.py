"""Runs as they are answered: a plan made period by period."""

import json
from datetime import datetime
from typing import Any

from pydantic import Field

from app.http.answers import moment
from app.plans.answer import PlanSummary, summary
from app.plans.planning import PlanResult
from app.runs.carried import Carried
from app.runs.healing import Fresh, Replaced
from app.runs.store import PeriodEntry, RunRecord
from app.wire.base import AnswerModel, Optional, given
from app.wire.ids import DeviceIds
from app.wire.naming import PlanAsked, RunState

__all__ = [
    "AggregationList",
    "AggregationOut",
    "DeviceNorms",
    "Moving",
    "PeriodOut",
    "ReplacedOut",
    "RunList",
    "RunNow",
    "RunOut",
    "SwapPrice",
    "digest",
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


class Moving(AnswerModel):
    """What the period under way sends, by pair, in all of its steps."""

    source: list[int]
    target: list[int]
    datapoints: list[float]


class DeviceNorms(AnswerModel):
    """‖∇F_i‖ of devices, as reported."""

    device: list[int]
    norms: list[float]

    @classmethod
    def of(cls, norms: dict[int, float]) -> "DeviceNorms | None":
        """None if there are none."""
        return cls(device=list(norms), norms=list(norms.values())) if norms else None


class RunNow(RunOut):
    """Where a run stands: who trains, who holds what, and what is under way."""

    first_step: int = Field(description="Of the period under way.")
    sampled: list[int] = Field(description="Who trains in it.")
    sampled_ids: Optional[list[str]] = Field(None, description="Their ids, if devices have ids.")
    sampled_data: list[float] = Field(description="What they hold when it ends, in the order of `sampled`.")
    lost: list[int] = Field(description="Devices that were reported lost and have not joined again.")
    moving: Optional[Moving] = Field(None, description="Absent for a period that an earlier release planned.")
    gradient_norms: Optional[DeviceNorms] = Field(
        None, description="As reported last, of devices that are not lost; absent if none were."
    )

    @classmethod
    def now(cls, run: RunRecord, aggregation: int, carried: Carried, entry: PeriodEntry) -> "RunNow":
        """The run after this aggregation."""
        moved = carried.moved
        columns = ("source", "target", "datapoints")
        ids = (entry.told() or {}).get("sampled_ids")
        return cls(
            **given(**dict(RunOut.from_domain(run, aggregation))),
            first_step=aggregation * run.aggregation_period + 1,
            sampled=carried.horizon.sampled.tolist(),
            sampled_data=carried.horizon.data.tolist(),
            lost=sorted(carried.lost),
            **given(
                sampled_ids=ids,
                gradient_norms=DeviceNorms.of(carried.norms),
                moving=None if moved is None else Moving(**{name: getattr(moved, name).tolist() for name in columns}),
            ),
        )


class RunList(AnswerModel):
    """Runs, oldest first."""

    runs: list[RunOut]
    next: Optional[str] = Field(None, description="Give it as `after` for the next page; absent on the last.")


class ReplacedOut(AnswerModel):
    """A device that left the sampled set, and the one that took its place."""

    lost: Optional[int] = Field(None, description="Who left; absent where a place was free.")
    by: Optional[int] = Field(None, description="Who came; absent where nobody did, so that fewer devices train.")
    lost_id: Optional[str] = None
    by_id: Optional[str] = None
    reason: str = Field(description="`lost`, `swapped`, `vacant`, or why the device cannot train.")

    @classmethod
    def from_domain(cls, one: Replaced, ids: DeviceIds | None) -> "ReplacedOut":
        """With ids, if devices have ids."""
        names = {"lost_id": one.lost, "by_id": one.by}
        known = {name: ids.names[n] for name, n in names.items() if n is not None} if ids is not None else {}
        return cls(**given(lost=one.lost, by=one.by), **known, reason=one.reason)


class SwapPrice(AnswerModel):
    """This period against one for a choice of all devices afresh, by the run's sampler, from the same state."""

    price: float = Field(description="`objective` less `fresh_objective`; negative: keeping devices was better.")
    fresh_objective: float
    fresh_bound: float = Field(
        description="No plan for those devices over these steps has a mean objective below this."
    )
    fresh_sampled: list[int]

    @classmethod
    def from_domain(cls, objective: float, fresh: Fresh) -> "SwapPrice":
        """The difference."""
        return cls(
            price=objective - fresh.objective,
            fresh_objective=fresh.objective,
            fresh_bound=fresh.bound,
            fresh_sampled=fresh.sampled.tolist(),
        )


class PeriodOut(PlanSummary):
    """A period of a run: the steps between two aggregations."""

    id: str = Field(description="The run's.")
    aggregation: int
    state: RunState = Field(description="The run's after this period; `finished` if it ends the horizon.")
    created_at: datetime = Field(description="When it was answered.")
    replaced: list[ReplacedOut] = Field(description="Who left the sampled set at this aggregation, and who came.")
    swap_price: Optional[SwapPrice] = Field(None, description="If some came.")

    @classmethod
    def from_domain(
        cls,
        run: RunRecord,
        aggregation: int,
        result: PlanResult,
        output: str,
        created_at: float,
        *,
        replaced: tuple[Replaced, ...] = (),
        fresh: Fresh | None = None,
    ) -> "PeriodOut":
        """The period in the asked form."""
        objective = result.plan.objective
        return cls.model_construct(
            id=run.id,
            aggregation=aggregation,
            state=_state(result.state.step, run),
            created_at=moment(created_at),
            replaced=[ReplacedOut.from_domain(one, result.ids) for one in replaced],
            swap_price=None if fresh is None or objective is None else SwapPrice.from_domain(objective, fresh),
            **(run.about.told() | {"n_devices": result.plan.n_devices}),
            **summary(result, output),
        )


def digest(period: PeriodOut, gradient_norm: float | None, norms: dict[int, float] | None = None) -> str:
    """What lists and events tell of a period, as JSON."""
    shown = period.model_dump(
        mode="json", include={"sampled", "sampled_ids", "objective", "replaced"}, exclude_none=True
    )
    told = DeviceNorms.of(norms or {})
    return json.dumps(
        shown | given(gradient_norm=gradient_norm, gradient_norms=None if told is None else told.model_dump())
    )


class AggregationOut(AnswerModel):
    """An aggregation in a list; k = 0 is the first period, before any gradient was observed."""

    aggregation: int
    created_at: Optional[datetime] = Field(None, description="When it was answered; absent for an earlier release's.")
    first_step: int
    last_step: int
    gradient_norm: Optional[float] = Field(None, description="As observed.")
    gradient_norms: Optional[DeviceNorms] = Field(None, description="Of single devices, as this report told them.")
    sampled: Optional[list[int]] = Field(None, description="Who trains; absent for an earlier release's, likewise:")
    sampled_ids: Optional[list[str]] = None
    objective: Optional[float] = None
    replaced: Optional[list[ReplacedOut]] = None

    @classmethod
    def from_domain(cls, run: RunRecord, entry: PeriodEntry) -> "AggregationOut":
        """What is listed of a period."""
        k, period = entry.aggregation, run.aggregation_period
        made = None if entry.created_at is None else moment(entry.created_at)
        told: dict[str, Any] = entry.told()
        return cls(
            aggregation=k,
            first_step=k * period + 1,
            last_step=min(run.horizon, (k + 1) * period),
            **given(created_at=made),
            **told,
        )


class AggregationList(AnswerModel):
    """Aggregations of a run, in order."""

    aggregations: list[AggregationOut]
    next: Optional[str] = Field(None, description="Give it as `after` for the next page; absent on the last.")
