"""Plans, and diagnoses of networks, as they are answered."""

from datetime import datetime
from typing import Any, Literal, cast

from pydantic import Field

from app.http.problems import ERROR_LIMIT
from app.plans.diagnosis import Diagnosis
from app.plans.orders import OrderOut, orders_out
from app.plans.planning import PlanQuery, PlanResult
from app.plans.proven import proven
from app.wire.base import AnswerModel, Optional, given
from app.wire.fleet import Translation
from app.wire.ids import DeviceIds, describe
from app.wire.naming import PlanAsked
from app.wire.network import SimilarityOrigin
from app.wire.problem import DeviceReason
from app.wire.translated import DerivedNetwork
from sampler import Pick
from solver import StepPlan

__all__ = [
    "DiagnosisOut",
    "EnergyOut",
    "Gains",
    "Guarantee",
    "PickOut",
    "PlanEntryOut",
    "PlanList",
    "PlanOut",
    "PlanStatus",
    "PlanSummary",
    "SamplerStatus",
    "StepOut",
    "StepStatus",
    "Transfers",
    "asked_for",
    "milliseconds",
    "proofs",
    "sampler_status",
    "summary",
]

PlanStatus = Literal["optimal", "step_optimal", "feasible", "time_limit"]
StepStatus = Literal["optimal", "feasible", "time_limit"]
SamplerStatus = Literal["complete", "time_limit"]


class Gains(AnswerModel):
    """What device[j] would have added in the place of the device picked; one that could not be picked is left out.

    It missed the pick's `score` less its gain. Compare these differences between picks, not gains.
    """

    device: list[int]
    gain: list[float]


class PickOut(AnswerModel):
    """One step of a sampler's search."""

    device: int = Field(description="Who was picked.")
    score: float = Field(description="The sampler's score of it; for searches its gain, as in `gains`.")
    rule: str = Field(description="Which rule named the candidates.")
    previous: Optional[int] = Field(None, description="The pick before it that the rule looks from.")
    percentile: Optional[float] = Field(None, description="What the candidates reached, after any widening.")
    threshold: Optional[float] = Field(None, description="The value at that percentile: datapoints, or dissimilarity.")
    n_candidates: int = Field(description="How many the rule left to choose from.")
    candidates: list[int] = Field(description="The best of them by score.")
    candidate_scores: list[float]
    tied: int = Field(description="How many had the highest score; chance decides among them.")
    gains: Optional[Gains] = Field(None, description="Of the devices that `explain` asked for.")

    @classmethod
    def from_domain(cls, pick: Pick) -> "PickOut":
        """The sampler's record; its numbers need no validation."""
        told = Gains.model_construct(device=list(pick.gains), gain=list(pick.gains.values())) if pick.gains else None
        return cls.model_construct(**(pick.to_dict() | {"gains": told}))


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
    objective: float = Field(description="The sum of the five terms.")
    sampling_term: float = Field(description="Term (a): what not training on the unsampled devices' data costs.")
    statistical_term: float = Field(description="Term (b): what the sampled devices' finite data costs.")
    transmit_term: float = Field(description="The weight of transmit cost times Σ ψ_ki·D_k·Φ_ki.")
    processing_term: float = Field(description="The weight of processing cost times Σ p_i·D_i(t).")
    energy_term: float = Field(description="The weight of energy times the joules of sending and processing.")
    gradient_norm: float
    relative_gap: float
    max_violation: float
    status: StepStatus = Field(description="What is proven of this step by itself.")

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
            transmit_term=step.transmit_term,
            processing_term=step.processing_term,
            energy_term=step.energy_term,
            gradient_norm=step.gradient_norm,
            relative_gap=step.relative_gap,
            max_violation=step.max_violation,
            status=cast("StepStatus", step.status.value),
        )


class Guarantee(AnswerModel):
    """What the sampler proves of its own objective, which is not the plan's."""

    objective: str = Field(description="The objective that the search maximised; docs/sampling.md has them.")
    share: float = Field(description="The sampled devices have at least this share of the largest value of any choice.")


class EnergyOut(AnswerModel):
    """Joules of all steps, of devices and links that told theirs."""

    transmit: float = Field(description="For what is sent.")
    processing: float = Field(description="For what the sampled devices train on.")


class PlanSummary(PlanAsked):
    """What a plan, or a period of one, comes to; means and worst values are over its steps."""

    sampled: list[int] = Field(description="In the order of choice.")
    sampled_ids: Optional[list[str]] = Field(None, description="Their ids, if devices have ids.")
    device_ids: Optional[list[str]] = Field(None, description="The id of each device by its number, likewise.")
    fleet: Optional[Translation] = Field(None, description="How the fleet was translated, if it was one.")
    similarity: Optional[SimilarityOrigin] = Field(
        None, description="Where the similarity of a `network` comes from, if links left it out."
    )
    scores: list[float] = Field(
        description="The sampler's, in the order of `sampled`; empty where it chose nothing: for a fixed set, and in a "
        "run's later periods."
    )
    trace: Optional[list[PickOut]] = Field(
        None, description="Why each was picked, in the order of `sampled`; absent where the sampler does not tell."
    )
    sampler_status: Optional[SamplerStatus] = Field(
        None,
        description="`complete`: the search came to its own end. `time_limit`: its time was over, and this is the best "
        "set found. Absent where no sampler chose.",
    )
    transfer: Literal["send_once", "redraw"] = Field(description="As asked for.")
    planning: Literal["step", "horizon"] = Field(description="As asked for.")
    status: PlanStatus = Field(
        description="`optimal`: no plan for these devices over all these steps is better: `horizon_gap` is below 1e-6. "
        "`step_optimal`: each step by itself is optimal, and `horizon_gap` is what all of them together may miss. "
        "`feasible`: valid, without such a proof. `time_limit`: the best found in time."
    )
    objective: float
    sampling_term: float
    statistical_term: float
    transmit_term: float
    processing_term: float
    energy_term: float
    relative_gap: float
    max_violation: float
    horizon_bound: float = Field(
        description="No plan for these devices over all these steps together has a mean objective below this."
    )
    horizon_gap: float = Field(description="How far `objective` can lie above that optimum, relative to it.")
    set_bound: Optional[float] = Field(
        None,
        description="No choice of this many eligible devices has a mean objective below this, whatever it plans; "
        "absent in a run's later periods.",
    )
    set_gap: Optional[float] = Field(
        None, description="How far `objective` can lie above that of the best choice, relative to it."
    )
    guarantee: Optional[Guarantee] = Field(None, description="Where the search proves one.")
    datapoints_moved: float = Field(description="Datapoints sent over links in all steps.")
    transmit_cost: float = Field(description="Σ ψ_ki·D_k·Φ_ki(t) over all steps, whatever its weight.")
    processing_cost: float = Field(description="Σ p_i·D_i(t) over all steps, whatever its weight.")
    energy: Optional[EnergyOut] = Field(None, description="If the fleet tells joules.")
    timing_ms: dict[str, float]
    orders: Optional[list[OrderOut]] = Field(None, description="If asked for: what each device sends.")
    datapoints_left: Optional[float] = Field(
        None,
        description="Beside `orders`: datapoints of the plan that they leave out, since they are whole and no step had "
        "room for these. The next period of a run plans them again.",
    )
    steps: list[StepOut]


class PlanOut(PlanSummary):
    """A plan that proves itself: `relative_gap` and `max_violation` are recomputed from the request."""

    kind: Literal["plan"]
    id: Optional[str] = Field(None, description="Of a plan that is kept.")
    created_at: Optional[datetime] = Field(None, description="Likewise.")
    updated_at: Optional[datetime] = Field(None, description="Likewise; a plan does not change.")

    @classmethod
    def from_domain(cls, result: PlanResult, output: str, **told: Any) -> "PlanOut":
        """The plan in the asked form; `told` are the fields that the query and the store tell."""
        return cls.model_construct(kind="plan", **told, **summary(result, output))


class PlanEntryOut(PlanAsked):
    """A kept plan in a list."""

    id: str
    created_at: datetime
    updated_at: datetime = Field(description="A plan does not change, so this is `created_at`.")
    status: Optional[PlanStatus] = None
    objective: Optional[float] = None


class PlanList(AnswerModel):
    """Kept plans, oldest first."""

    plans: list[PlanEntryOut]
    next: Optional[str] = Field(None, description="Give it as `after` for the next page; absent on the last.")


def asked_for(query: PlanQuery) -> dict[str, Any]:
    """What answers repeat of a request."""
    return {
        "n_devices": len(query.schedule.network),
        "sample_size": query.sample_size,
        "horizon": query.horizon,
        "aggregation_period": query.aggregation_period,
        **({"sampler": query.sampler} if query.sampled is None else {}),
        "seed": query.seed,
        **stored_network(query.stored),
    }


def stored_network(stored: tuple[str, int] | None) -> dict[str, Any]:
    """The fields that name a stored network."""
    return {} if stored is None else {"network_id": stored[0], "network_version": stored[1]}


def summary(result: PlanResult, output: str) -> dict[str, Any]:
    """The fields of `PlanSummary`."""
    plan, choice = result.plan, result.choice
    return {
        "sampled": plan.sampled.tolist(),
        "sampled_ids": result.ids and result.ids.named(plan.sampled.tolist()),
        "device_ids": result.ids and list(result.ids.names),
        "fleet": result.fleet,
        "similarity": result.similarity,
        "scores": [] if choice is None else choice.scores.tolist(),
        "trace": None if choice is None else [PickOut.from_domain(pick) for pick in choice.trace] or None,
        "sampler_status": sampler_status(result),
        "transfer": plan.transfer,
        "planning": plan.planning,
        "status": plan.status.value,
        "objective": plan.objective,
        "sampling_term": plan.sampling_term,
        "statistical_term": plan.statistical_term,
        "transmit_term": plan.transmit_term,
        "processing_term": plan.processing_term,
        "energy_term": plan.energy_term,
        "relative_gap": plan.relative_gap,
        "max_violation": plan.max_violation,
        **proofs(result),
        "datapoints_moved": plan.datapoints_moved,
        "transmit_cost": plan.transmit_cost,
        "processing_cost": plan.processing_cost,
        "energy": _energy(result),
        "timing_ms": milliseconds(result),
        "orders": None if result.orders is None else orders_out(result.orders, result.ids),
        "datapoints_left": None if result.orders is None else result.orders.left,
        "steps": [StepOut.from_domain(step, output, plan.n_devices) for step in plan.steps],
    }


def sampler_status(result: PlanResult) -> SamplerStatus | None:
    """Whether the sampler came to its own end; None where none chose."""
    if result.choice is None or result.choice.complete is None:
        return None
    return "complete" if result.choice.complete else "time_limit"


def proofs(result: PlanResult) -> dict[str, Any]:
    """What is known of the plan among all plans, and of the choice among all; a run's later periods choose nothing."""
    choice, plan = result.choice, result.plan
    known: dict[str, Any] = {}
    if plan.horizon_bound is not None:
        known["horizon_bound"], known["horizon_gap"] = proven(plan, plan.horizon_bound)
    if choice is not None and choice.set_bound is not None:
        known["set_bound"], known["set_gap"] = proven(plan, choice.set_bound)
        if choice.guarantee is not None and choice.objective is not None:
            known["guarantee"] = Guarantee(objective=choice.objective, share=choice.guarantee)
    return known


def _energy(result: PlanResult) -> EnergyOut | None:
    if result.energy is None:
        return None
    transmit, processing = result.energy.of(result.plan)
    return EnergyOut(transmit=transmit, processing=processing)


def milliseconds(result: PlanResult) -> dict[str, float]:
    """The time of each stage."""
    return {name: round(1000 * seconds, 3) for name, seconds in result.seconds.items()}


class DeviceGroup(AnswerModel):
    """Some devices: how many, and the first of them."""

    count: int
    devices: list[int]
    ids: Optional[list[str]] = Field(None, description="Their ids, if devices have ids.")

    @classmethod
    def of(cls, devices: list[int], ids: DeviceIds | None) -> "DeviceGroup":
        """Counts all, lists the first few."""
        first = devices[:ERROR_LIMIT]
        return cls(count=len(devices), devices=first, **given(ids=ids and ids.named(first)))


class Connectivity(AnswerModel):
    """How the links hang together, directions aside."""

    components: int
    largest_component: int
    isolated: DeviceGroup


class TightBudgets(AnswerModel):
    """Devices whose budgets let hardly any data move: under one percent of their own in a step."""

    processing: DeviceGroup = Field(description="Eligible, but without room to process more.")
    receiving: DeviceGroup = Field(description="Eligible, but may receive hardly anything.")
    transmitting: DeviceGroup = Field(description="Have links, but cannot pay for sending along the cheapest.")


class DiagnosisOut(AnswerModel):
    """What a network is like, before anything is solved."""

    kind: Literal["diagnosis"]
    feasible: bool = Field(description="Whether as many devices can be sampled as were asked for.")
    n_devices: int
    n_links: int
    eligible: int = Field(description="Devices that can be sampled.")
    ineligible: int
    obstacles: list[DeviceReason] = Field(description="Why the first ineligible devices are so.")
    connectivity: Connectivity
    tight: TightBudgets
    device_ids: Optional[list[str]] = Field(None, description="The id of each device by its number, if it has one.")
    fleet: Optional[Translation] = Field(None, description="How the fleet was translated, if it was one.")
    similarity: Optional[SimilarityOrigin] = Field(
        None, description="Where the similarity of a `network` comes from, if links left it out."
    )
    network: Optional[DerivedNetwork] = Field(
        None, description="The network that the fleet was translated into, or whose similarity was derived."
    )
    network_id: Optional[str] = Field(None, description="The stored network, if it was asked for with one.")
    network_version: Optional[int] = Field(None, description="The version of it that was used.")

    @classmethod
    def from_domain(cls, found: Diagnosis) -> "DiagnosisOut":
        """The diagnosis, its lists capped."""
        ids = found.ids
        reasons = [describe(ids)(one) for one in found.obstacles[:ERROR_LIMIT]]
        return cls(
            kind="diagnosis",
            feasible=found.feasible,
            n_devices=found.n_devices,
            n_links=found.n_links,
            eligible=found.eligible,
            ineligible=len(found.obstacles),
            obstacles=reasons,
            connectivity=Connectivity(
                components=found.components,
                largest_component=found.largest_component,
                isolated=DeviceGroup.of(found.isolated, ids),
            ),
            tight=TightBudgets(
                processing=DeviceGroup.of(found.tight_processing, ids),
                receiving=DeviceGroup.of(found.tight_receiving, ids),
                transmitting=DeviceGroup.of(found.tight_transmitting, ids),
            ),
            **given(
                device_ids=ids and list(ids.names),
                fleet=found.fleet,
                similarity=found.similarity,
                network=None
                if found.fleet is None and found.similarity is None
                else DerivedNetwork.from_domain(found.network),
                **stored_network(found.stored),
            ),
        )
