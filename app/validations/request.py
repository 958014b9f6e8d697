"""Validations as they are asked for."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, StringConstraints

from app.http.problems import InvalidRequestError
from app.plans.request import ChangeIn, StoredNetworkId, StoredNetworkVersion
from app.wire.base import Optional, RequestModel
from app.wire.fleet import FleetIn
from app.wire.naming import NamedRequest
from app.wire.network import NetworkIn
from fedl_sim.contract import GIVEN_PLAN
from sampler import UnknownSchemeError, find_scheme

__all__ = [
    "FleetSource",
    "GeneratorSource",
    "NetworkSource",
    "PlanSource",
    "RunSource",
    "StoredSource",
    "ValidationRequest",
]


EXAMPLE: dict[str, Any] = {
    "data_set": "digits",
    "source": {"kind": "generator", "devices": 30, "mean_datapoints": 40, "budget": "loose"},
    "schemes": ["ours-offload", "random"],
    "seeds": [0, 1],
    "draws": 2,
    "sample_size": 4,
    "aggregations": 5,
}


class GeneratorSource(RequestModel):
    """Draw a network for each seed, as the paper does (Sec. V-A)."""

    kind: Literal["generator"]
    devices: Annotated[int, Field(ge=1, lt=2**31)] = 100
    topology: Literal["erdos-renyi", "geometric", "barabasi-albert", "watts-strogatz"] = "erdos-renyi"
    link_probability: Annotated[float, Field(gt=0, le=1)] = 0.1
    mean_datapoints: Optional[Annotated[float, Field(ge=1, le=1e6)]] = Field(
        None, description="Per device; by default the training split is shared out."
    )
    budget: Literal["loose", "tight", "scarce"] = "loose"


class NetworkSource(RequestModel):
    """This network; which datapoints its devices hold is drawn for each seed."""

    kind: Literal["network"]
    network: NetworkIn
    schedule: Annotated[list[ChangeIn], Field(max_length=1000, default_factory=list)]


class FleetSource(RequestModel):
    """This fleet, in physical units; which datapoints its devices hold is drawn for each seed."""

    kind: Literal["fleet"]
    fleet: FleetIn
    schedule: Annotated[list[ChangeIn], Field(max_length=1000, default_factory=list)]


class StoredSource(RequestModel):
    """A stored network or fleet; which datapoints its devices hold is drawn for each seed."""

    kind: Literal["stored"]
    network_id: StoredNetworkId
    network_version: Optional[StoredNetworkVersion] = Field(None, description="The newest if left out.")
    schedule: Annotated[list[ChangeIn], Field(max_length=1000, default_factory=list)]


class PlanSource(RequestModel):
    """The network of a kept plan, and the plan itself as scheme `plan`."""

    kind: Literal["plan"]
    id: Annotated[str, Field(pattern="^plan_[0-9a-f]{32}$")]


class RunSource(RequestModel):
    """The network of a run, and what has been planned in it so far as scheme `plan`."""

    kind: Literal["run"]
    id: Annotated[str, Field(pattern="^run_[0-9a-f]{32}$")]


Source = Annotated[
    GeneratorSource | NetworkSource | FleetSource | StoredSource | PlanSource | RunSource, Field(discriminator="kind")
]
SchemeName = Annotated[str, StringConstraints(pattern=r"^[a-z_-]{1,40}(:[a-z_]{1,40})?(\+[a-z]{1,10})?$")]
Seed = Annotated[int, Field(ge=0, lt=2**53)]


class ValidationRequest(NamedRequest):
    """An experiment: train for real on this network under these schemes, for each seed."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE]})

    source: Source
    data_set: Literal["digits", "mnist", "fashion-mnist"] = "digits"
    model: Optional[Literal["softmax", "mlp", "cnn"]] = Field(
        None, description="By default softmax for digits, else cnn."
    )
    schemes: Annotated[
        list[SchemeName],
        Field(
            min_length=1,
            max_length=50,
            description="smart (the paper's method), ours, random, heuristic, each with or without `-offload`; all; "
            "SAMPLER or SAMPLER+METHOD, as `greedy:surrogate+fast`; `plan` for the plan or run that is the source.",
        ),
    ]
    seeds: Annotated[list[Seed], Field(min_length=1, max_length=1000, default_factory=lambda: [0])]
    draws: Annotated[int, Field(ge=1, le=100, description="Selections of schemes that draw devices at random.")] = 5
    sample_size: Optional[Annotated[int, Field(ge=1, lt=2**31)]] = Field(
        None, description="5, or the plan's or run's own, if left out."
    )
    aggregations: Optional[Annotated[int, Field(ge=1, lt=2**31)]] = Field(
        None, description="10, or as many as were planned for, if left out."
    )
    aggregation_period: Optional[Annotated[int, Field(ge=1, le=1000)]] = Field(
        None, description="5, or the plan's or run's own, if left out."
    )
    learning_rate: Annotated[float, Field(gt=0, le=10)] = 0.01
    batch_size: Annotated[int, Field(ge=1, le=100_000)] = 10
    labels_per_device: Annotated[int, Field(ge=1, le=10)] = 3
    target: Annotated[float, Field(gt=0, le=1, description="Accuracy whose reaching is timed.")] = 0.85
    tolerance: Annotated[
        float, Field(ge=0, le=1, description="How far, relatively, data received may be off the plan's prediction.")
    ] = 0.1

    def check_names(self) -> None:
        """Refuse unknown schemes, and names that appear twice."""
        for field in ("schemes", "seeds"):
            values: list[object] = getattr(self, field)
            if len(set(values)) != len(values):
                raise InvalidRequestError.at(f"/{field}", "names one twice")
        for i, name in enumerate(self.schemes):
            if name == GIVEN_PLAN and isinstance(self.source, PlanSource | RunSource):
                continue
            try:
                find_scheme(name, served=True)
            except UnknownSchemeError as error:
                rule = f"must be one of {error.known}; `{GIVEN_PLAN}` if the source is a plan or run"
                raise InvalidRequestError.at(f"/schemes/{i}", rule) from error

    def asked(self, stored: tuple[str, int] | None = None) -> dict[str, Any]:
        """What answers repeat of the request, a stored network with its version; a network is too large for that."""
        names = ("model", "seeds", "draws", "learning_rate", "batch_size", "labels_per_device", "tolerance")
        source = self.source.model_dump(exclude={"network", "fleet", "schedule"}, exclude_none=True)
        source |= {} if stored is None else {"network_version": stored[1]}
        values = {name: getattr(self, name) for name in names}
        return {"source": source} | {name: value for name, value in values.items() if value is not None}

    def draws_of(self, scheme: str) -> int:
        """Return how many runs a scheme gets for each seed."""
        return 1 if scheme == GIVEN_PLAN else find_scheme(scheme, draws=self.draws).draws
