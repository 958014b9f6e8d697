"""Validations as they are answered."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from app.wire.base import AnswerModel, Optional
from app.wire.naming import Named

__all__ = [
    "Curve",
    "FailureOut",
    "Outcome",
    "SchemeOut",
    "ValidationList",
    "ValidationOut",
    "ValidationState",
    "VerdictOut",
]

Outcome = Literal["as_predicted", "less", "more", "too_few_runs", "nothing_predicted", "pending"]
ValidationState = Literal["queued", "running", "cancelling", "succeeded", "failed", "cancelled"]


class Curve(AnswerModel):
    """A measure after each aggregation, k = 0 first, over the runs that have got there with a finite value.

    It ends early if every run has diverged.
    """

    mean: list[float]
    deviation: list[float]
    runs: list[int] = Field(description="How many runs each value is over.")


class VerdictOut(AnswerModel):
    """What receivers kept, held against what the plans predicted they would."""

    outcome: Outcome = Field(
        description="`as_predicted`: within the tolerance. `too_few_runs`: beyond the tolerance, but not beyond "
        "`allowed`; more runs would tell. `less`, `more`: beyond `allowed`."
    )
    predicted_useful: float = Field(description="Useful datapoints that the plans predicted, mean over runs.")
    useful: float = Field(description="Useful datapoints that arrived, mean over runs.")
    relative_error: Optional[float] = Field(None, description="(arrived − predicted) / predicted.")
    allowed: float = Field(description="The tolerance asked for, plus two standard errors over runs.")


class SchemeOut(AnswerModel):
    """A scheme over seeds and draws; totals and times to the target are means over finished runs."""

    scheme: str
    runs: int = Field(description="Finished runs.")
    runs_planned: int
    diverged: int = Field(
        description="Finished runs whose loss ended as infinite or not a number: try a smaller `learning_rate`."
    )
    accuracy: Curve
    loss: Curve
    gradient_norm: Curve = Field(description="‖∇F̄(kτ)‖ as measured on the sampled devices.")
    reached: float = Field(description="Share of finished runs that reached the target accuracy.")
    aggregations_to_target: Optional[float] = Field(None, description="Absent unless every finished run reached it.")
    datapoints_to_target: Optional[float] = Field(None, description="Datapoints processed until then; likewise.")
    cost_to_target: Optional[float] = Field(None, description="Energy-like cost until then; likewise.")
    processed: float = Field(description="Datapoints trained on.")
    moved: float = Field(description="Datapoints sent over links.")
    useful: float = Field(description="Datapoints that receivers kept.")
    cost: float = Field(description="Σ p·D over what was trained, plus Σ ψ over what was sent.")
    worst_relative_gap: float = Field(description="Largest certified gap of any planned step.")
    verdict: VerdictOut


class FailureOut(AnswerModel):
    """Why a validation failed: a stable type, a sentence, and the part it happened in."""

    type: str
    detail: str
    scheme: str
    seed: int
    draw: int


class SourceOut(AnswerModel):
    """The source that was asked for, without a network: that is too large to repeat."""

    kind: str
    id: Optional[str] = Field(None, description="Of a plan or run.")
    network_id: Optional[str] = Field(None, description="Of a stored network.")
    network_version: Optional[int] = Field(None, description="The version of it that was used.")
    devices: Optional[int] = Field(None, description="This and the rest: of a generator.")
    topology: Optional[str] = None
    link_probability: Optional[float] = None
    mean_datapoints: Optional[float] = None
    budget: Optional[str] = None


class ValidationSummary(Named):
    """Where a validation stands, and what was asked for; what an earlier release stored lacks some of it."""

    id: str
    state: ValidationState
    created_at: datetime
    updated_at: datetime
    started_at: Optional[datetime] = None
    finished_at: Optional[datetime] = None
    progress: float = Field(description="0..1, by aggregations done.")
    failure: Optional[FailureOut] = None
    source: Optional[SourceOut] = None
    seeds: Optional[list[int]] = None
    draws: Optional[int] = None
    model: Optional[str] = Field(None, description="Absent if the default was left to the service.")
    learning_rate: Optional[float] = None
    batch_size: Optional[int] = None
    labels_per_device: Optional[int] = None
    tolerance: Optional[float] = None


class ValidationOut(ValidationSummary):
    """Where a validation stands, with the curves so far."""

    seconds_left: Optional[float] = Field(None, description="An estimate, from the rounds so far, while it runs.")
    parts: int = Field(description="Runs it consists of: schemes × seeds × draws.")
    parts_done: int
    data_set: str
    sample_size: int
    aggregations: int
    aggregation_period: int
    target: float
    schemes: list[SchemeOut]


class ValidationList(AnswerModel):
    """Validations, oldest first."""

    validations: list[ValidationSummary]
    next: Optional[str] = Field(None, description="Give it as `after` for the next page; absent on the last.")
