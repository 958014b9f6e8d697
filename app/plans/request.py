"""Plans over the wire."""

from typing import Annotated, Any, Literal, cast

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict, Field

from app.http.problems import InvalidRequestError
from app.plans.planning import PlanQuery, PlanResult
from app.plans.trace import PickOut
from app.settings import Settings
from app.wire.base import AnswerModel, Indices, Measure, Optional, RequestModel
from app.wire.network import DeviceChanges, NetworkIn, Topology, indices
from app.wire.pointers import located
from sampler import DEFAULT_SAMPLER
from solver import Change, GradientModel, Network, Schedule, StepPlan, reference

__all__ = [
    "BinaryParameters",
    "BinarySummary",
    "ChangeIn",
    "GradientIn",
    "PlanOut",
    "PlanParameters",
    "PlanRequest",
    "PlanSummary",
    "RunRequest",
    "StepOut",
    "Transfers",
    "merged",
    "summary",
]

PlanStatus = Literal["optimal", "feasible", "time_limit"]

EXAMPLE: dict[str, Any] = {
    "network": {
        "devices": {
            "data": [600, 580, 610],
            "processing_capacity": [2000, 900, 1200],
            "processing_cost": [0.8, 1.0, 0.9],
            "receive_capacity": [200, 100, 150],
            "transmit_budget": [80, 60, 70],
        },
        "topology": {
            "kind": "links",
            "source": [1, 2],
            "target": [0, 0],
            "similarity": [0.4, 0.1],
            "transmit_cost": [0.5, 0.7],
        },
    },
    "sample_size": 1,
    "horizon": 10,
    "aggregation_period": 5,
    "schedule": [{"step": 6, "devices": {"transmit_budget": [40, 60, 70]}}],
    "gradient": {"norm": 1.0, "decay": 1.0},
    "gradient_noise": 1.0,
    "sampler": "greedy",
    "solver": "fast",
    "seed": 0,
    "output": "links",
}


class GradientIn(RequestModel):
    """‖∇F̄(t)‖ = norm / decay^t."""

    norm: Measure = 1.0
    decay: Annotated[float, Field(ge=1, le=1e6)] = 1.0


class ChangeIn(RequestModel):
    """From `step` on, these device columns and this topology hold."""

    step: Annotated[int, Field(ge=1, lt=2**31)]
    devices: Optional[DeviceChanges] = None
    topology: Optional[Topology] = None

    def to_domain(self, pointer: str, network: Network) -> Change:
        """The change, fitting the network."""
        n = len(network)
        columns = {} if self.devices is None else self.devices.to_domain(f"{pointer}/devices", n)
        links = None if self.topology is None else self.topology.to_domain(f"{pointer}/topology", n)
        if links is not None:
            with located({"links": f"{pointer}/topology"}):
                Network(network.devices, links)
        return Change(self.step, columns, links)


def merged(changes: list[Change]) -> list[Change]:
    """One change for each step: what came later wins, column by column."""
    by_step: dict[int, Change] = {}
    for change in changes:
        earlier = by_step.get(change.step)
        if earlier is not None:
            links = earlier.links if change.links is None else change.links
            change = Change(change.step, {**earlier.columns, **change.columns}, links)  # noqa: PLW2901
        by_step[change.step] = change
    return list(by_step.values())


class PlanParameters(RequestModel):
    """All of a request but the network."""

    sample_size: Annotated[int, Field(ge=1, lt=2**31, description="How many devices train.")]
    horizon: Annotated[int, Field(ge=1, lt=2**31, description="Steps to plan.")]
    aggregation_period: Annotated[int, Field(ge=1, lt=2**31, description="Steps between aggregations.")] = 5
    schedule: Annotated[list[ChangeIn], Field(max_length=1000, default_factory=list)]
    gradient: GradientIn = GradientIn()
    gradient_noise: Measure = 1.0
    sampler: Annotated[str, Field(max_length=64, description="A name that GET /v1/samplers lists.")] = DEFAULT_SAMPLER
    sampled: Optional[Indices] = Field(None, description="Fixes the set: offloading only.")
    eligible: Optional[Indices] = Field(None, description="Limits who may be sampled.")
    solver: Literal["fast", "cvxpy"] = "fast"
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    output: Literal["links", "matrix"] = "links"
    time_limit: Optional[Annotated[float, Field(gt=0, le=1e6)]] = Field(None, description="Seconds to solve in.")

    def query(self, network: Network, settings: Settings) -> PlanQuery:
        """What is to be planned for this network."""
        self._keep_limits(len(network), settings)
        changes = [change.to_domain(f"/schedule/{i}", network) for i, change in enumerate(self.schedule)]
        with located({"schedule": "/schedule", "devices": "/schedule", "links": "/schedule"}):
            schedule = Schedule(network, tuple(changes))
        return PlanQuery(
            schedule=schedule,
            sample_size=self.sample_size,
            horizon=self.horizon,
            aggregation_period=self.aggregation_period,
            gradient=GradientModel(self.gradient.norm, self.gradient.decay),
            gradient_noise=self.gradient_noise,
            sampler=self.sampler,
            sampled=None if self.sampled is None else _devices(self.sampled, "/sampled", len(network)),
            eligible=None if self.eligible is None else _devices(self.eligible, "/eligible", len(network)),
            solver=self.solver,
            seed=self.seed,
            time_limit=min(self.time_limit or settings.time_limit, settings.max_time_limit),
            asked_for_time_limit=self.time_limit is not None,
            max_transfers=settings.max_answer_numbers // 4,
            max_reference_links=settings.max_reference_links,
        )

    def _keep_limits(self, n_devices: int, settings: Settings) -> None:
        if n_devices > settings.max_devices:
            raise InvalidRequestError.at("/network/devices/data", f"must name at most {settings.max_devices} devices")
        if self.horizon > settings.max_horizon:
            raise InvalidRequestError.at("/horizon", f"must be at most {settings.max_horizon}")
        if self.sample_size > n_devices:
            raise InvalidRequestError.at("/sample_size", f"must be at most the number of devices, {n_devices}")
        if self.solver == "cvxpy" and not reference.is_installed():
            raise InvalidRequestError.at("/solver", reference.MISSING)
        if self.output == "matrix" and n_devices**2 * self.horizon > settings.max_answer_numbers:
            raise InvalidRequestError.at("/output", "matrices of that size over that horizon are too large an answer")
        if self.sampled is not None and len(self.sampled) != self.sample_size:
            raise InvalidRequestError.at("/sampled", f"must name sample_size = {self.sample_size} devices")


def _devices(values: Indices, pointer: str, n_devices: int) -> NDArray[np.int64]:
    devices = indices(values, pointer, n_devices)
    if len(np.unique(devices)) != devices.size:
        raise InvalidRequestError.at(pointer, "names a device twice")
    return devices


class RunRequest(PlanParameters):
    """A network, and how to plan for it period by period."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE]})

    network: NetworkIn

    def to_domain(self, settings: Settings) -> PlanQuery:
        """What is to be planned."""
        return self.query(self.network.to_domain(), settings)


class PlanRequest(RunRequest):
    """A network, and what to plan for it."""

    dry_run: Annotated[bool, Field(description="Only diagnose the network; nothing is solved.")] = False
    keep: Annotated[bool, Field(description="Keep the plan, to be shown and validated later by its id.")] = False


class Transfers(AnswerModel):
    """Transfer j moves the share fraction[j] of source[j]'s data to target[j]."""

    source: list[int]
    target: list[int]
    fraction: list[float]
    datapoints: list[float]


class StepOut(AnswerModel):
    """One step of a plan."""

    step: int
    transfers: Optional[Transfers] = Field(None, description="With output `links`.")
    matrix: Optional[list[list[float]]] = Field(None, description="Φ(t), with output `matrix`.")
    sampled_data: list[float] = Field(description="D_i(t) after this step, in the order of `sampled`.")
    received: list[float] = Field(description="Useful datapoints received, in the order of `sampled`.")
    objective: float
    sampling_term: float = Field(description="Term (a): what not training on the unsampled devices' data costs.")
    statistical_term: float = Field(description="Term (b): what the sampled devices' finite data costs.")
    gradient_norm: float
    relative_gap: float
    max_violation: float
    status: PlanStatus

    @classmethod
    def from_domain(cls, step: StepPlan, output: str, n_devices: int) -> "StepOut":
        """One step; its numbers are the solver's and need no validation."""
        dense = output == "matrix"
        return cls.model_construct(
            step=step.step,
            transfers=None
            if dense
            else Transfers.model_construct(
                source=step.source.tolist(),
                target=step.target.tolist(),
                fraction=step.fraction.tolist(),
                datapoints=step.datapoints.tolist(),
            ),
            matrix=step.matrix(n_devices).tolist() if dense else None,
            sampled_data=step.sampled_data.tolist(),
            received=step.received.tolist(),
            objective=step.objective,
            sampling_term=step.sampling_term,
            statistical_term=step.statistical_term,
            gradient_norm=step.gradient_norm,
            relative_gap=step.relative_gap,
            max_violation=step.max_violation,
            status=cast("PlanStatus", step.status.value),
        )


class PlanSummary(AnswerModel):
    """What a plan, or a period of one, comes to; means and worst values are over its steps."""

    sampled: list[int] = Field(description="In the order of choice.")
    scores: list[float] = Field(
        description="The sampler's, in the order of `sampled`; empty where it chose nothing: for a fixed set, and in a "
        "run's later periods."
    )
    trace: Optional[list[PickOut]] = Field(
        None, description="Why each was picked, in the order of `sampled`; absent where the sampler does not tell."
    )
    status: PlanStatus
    objective: float
    sampling_term: float
    statistical_term: float
    relative_gap: float
    max_violation: float
    timing_ms: dict[str, float]
    steps: list[StepOut]


class PlanOut(PlanSummary):
    """A plan that proves itself: `relative_gap` and `max_violation` are recomputed from the request."""

    kind: Literal["plan"]
    id: str

    @classmethod
    def from_domain(cls, plan_id: str, result: PlanResult, output: str) -> "PlanOut":
        """The plan in the asked form."""
        return cls.model_construct(id=plan_id, kind="plan", **summary(result, output))


def summary(result: PlanResult, output: str) -> dict[str, Any]:
    """The fields of `PlanSummary`."""
    plan = result.plan
    return {
        "sampled": plan.sampled.tolist(),
        "scores": result.scores.tolist(),
        "trace": [PickOut.from_domain(pick) for pick in result.trace] or None,
        "status": plan.status.value,
        "objective": plan.objective,
        "sampling_term": plan.sampling_term,
        "statistical_term": plan.statistical_term,
        "relative_gap": plan.relative_gap,
        "max_violation": plan.max_violation,
        "timing_ms": _milliseconds(result),
        "steps": [StepOut.from_domain(step, output, plan.n_devices) for step in plan.steps],
    }


def _milliseconds(result: PlanResult) -> dict[str, float]:
    return {name: round(1000 * seconds, 3) for name, seconds in result.seconds.items()}


class BinaryParameters(PlanParameters):
    """The parameters in a binary request: its answer has arrays of transfers, never matrices."""

    output: Literal["links"] = "links"


class BinaryStep(AnswerModel):
    """What a binary answer says of a step outside its arrays."""

    step: int
    objective: float
    sampling_term: float
    statistical_term: float
    gradient_norm: float
    relative_gap: float
    max_violation: float
    status: PlanStatus


class BinarySummary(AnswerModel):
    """What a binary answer says outside its arrays."""

    id: str
    status: PlanStatus
    objective: float
    sampling_term: float
    statistical_term: float
    relative_gap: float
    max_violation: float
    timing_ms: dict[str, float]
    steps: list[BinaryStep]

    @classmethod
    def from_domain(cls, plan_id: str, result: PlanResult) -> "BinarySummary":
        """All but the arrays."""
        names = ("objective", "sampling_term", "statistical_term", "relative_gap", "max_violation")
        per_step = ("step", *names, "gradient_norm")
        plan = result.plan
        return cls(
            id=plan_id,
            status=cast("PlanStatus", plan.status.value),
            timing_ms=_milliseconds(result),
            steps=[
                BinaryStep(status=cast("PlanStatus", step.status.value), **{n: getattr(step, n) for n in per_step})
                for step in plan.steps
            ],
            **{name: getattr(plan, name) for name in names},
        )
