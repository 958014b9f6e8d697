"""What a validation is about, as the simulator reads it: a network drawn or given, or that of a plan or run.

A plan, or what a run has planned so far, comes with its transfers: the scheme `plan` carries them out as they stand.
"""

import json
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from app.http.gate import Service
from app.http.problems import InfeasibleError, InvalidRequestError
from app.plans.kept import kept_plan
from app.runs.history import planned_so_far
from app.validations.request import GeneratorSource, NetworkSource, PlanSource, RunSource, ValidationRequest
from app.wire.pointers import located
from sampler import SamplingProblem, TooFewDevicesError
from solver import Links, Schedule
from solver.network import DEVICE_COLUMNS

__all__ = ["Material", "material"]

_LINK_COLUMNS = ("source", "target", "similarity", "transmit_cost")


@dataclass(frozen=True)
class Material:
    """What the source says: a schedule (None if it is still to be drawn), defaults, and the plan to carry out."""

    schedule: Schedule | None
    generator: dict[str, Any] | None = None
    sample_size: int = 5
    aggregations: int = 10
    aggregation_period: int = 5
    plan: dict[str, Any] | None = None

    def work(self) -> dict[str, Any]:
        """The parts of the simulator's specification that come from here."""
        if self.schedule is None:
            return {"generator": self.generator}
        devices = self.schedule.network.devices
        columns = {name: getattr(devices, name).tolist() for name in DEVICE_COLUMNS}
        columns["label_counts"] = None if devices.label_counts is None else devices.label_counts.tolist()
        changes = [
            {
                "step": change.step,
                "devices": {name: np.asarray(column).tolist() for name, column in change.columns.items()},
                "links": None if change.links is None else _link_columns(change.links),
            }
            for change in self.schedule.changes
        ]
        network = {"devices": columns, "links": _link_columns(self.schedule.network.links), "changes": changes}
        return {"network": network} | ({} if self.plan is None else {"plan": self.plan})


def material(service: Service, owner: str, request: ValidationRequest) -> Material:
    """Resolve the source and let the request's own numbers win; refuse what is too large or cannot work.

    Raises:
        InvalidRequestError: there is no such plan or run, or a limit is passed.
        InfeasibleError: too few devices of a given network can be sampled.
    """
    found = _resolve(service, owner, request)
    asked = {
        name: getattr(request, name)
        for name in ("sample_size", "aggregations", "aggregation_period")
        if getattr(request, name) is not None
    }
    found = replace(found, **asked)
    _keep_limits(service, found)
    needs_sampling = any(scheme not in {"all", "plan"} for scheme in request.schemes)
    if found.schedule is not None and needs_sampling:
        horizon = found.aggregations * found.aggregation_period
        try:
            SamplingProblem.of(found.schedule, found.sample_size, horizon=horizon)
        except TooFewDevicesError as error:
            detail = f"{error.asked} devices are to be sampled, {error.eligible} can be"
            raise InfeasibleError(detail, error.obstacles) from error
    return found


def _resolve(service: Service, owner: str, request: ValidationRequest) -> Material:
    source = request.source
    if isinstance(source, GeneratorSource):
        generator = source.model_dump(exclude={"kind", "devices"}, exclude_none=True) | {"n_devices": source.devices}
        return Material(None, generator)
    if isinstance(source, NetworkSource):
        network = source.network.to_domain("/source/network")
        changes = [one.to_domain(f"/source/schedule/{i}", network) for i, one in enumerate(source.schedule)]
        with located({"schedule": "/source/schedule", "devices": "/source/schedule", "links": "/source/schedule"}):
            return Material(Schedule(network, tuple(changes)))
    if isinstance(source, PlanSource):
        return _of_plan(service, owner, source.id)
    return _of_run(service, owner, source)


def _of_plan(service: Service, owner: str, plan_id: str) -> Material:
    found = kept_plan(service, owner, plan_id)
    if found is None:
        raise InvalidRequestError.at("/source/id", "you have kept no plan of this id; plans are kept with `keep`")
    query, answer = found
    period = query.aggregation_period
    aggregations = max(1, math.ceil(query.horizon / period))
    return Material(query.schedule, None, query.sample_size, aggregations, period, _script([json.loads(answer)]))


def _of_run(service: Service, owner: str, source: RunSource) -> Material:
    found = planned_so_far(service, owner, source.id)
    if found is None:
        raise InvalidRequestError.at("/source/id", "you have no run of this id")
    query, periods = found
    answers = [json.loads(period) for period in periods]
    plan = _script(answers)
    return Material(query.schedule, None, query.sample_size, len(answers), query.aggregation_period, plan)


def _script(answers: list[dict[str, Any]]) -> dict[str, Any]:
    """The transfers of plans or periods one after the other."""
    return {
        "sampled": answers[0]["sampled"],
        "relative_gap": max(answer["relative_gap"] for answer in answers),
        "steps": [_step(step) for answer in answers for step in answer["steps"]],
    }


def _step(step: dict[str, Any]) -> dict[str, Any]:
    if "matrix" in step:
        phi = np.array(step["matrix"])
        source, target = np.nonzero(phi)
        moves = {"source": source.tolist(), "target": target.tolist(), "fraction": phi[source, target].tolist()}
    else:
        moves = {name: step["transfers"][name] for name in ("source", "target", "fraction")}
    return {"step": step["step"], **moves, "useful": sum(step["received"])}


def _link_columns(links: Links) -> dict[str, Any]:
    return {name: getattr(links, name).tolist() for name in _LINK_COLUMNS}


def _keep_limits(service: Service, found: Material) -> None:
    settings = service.settings
    if found.schedule is None:
        generator = found.generator or {}
        devices = int(generator["n_devices"])
        datapoints = devices * float(generator.get("mean_datapoints", 0))
    else:
        network = found.schedule.network
        devices, datapoints = len(network), network.total_data
    if devices > settings.validation_devices:
        raise InvalidRequestError.at("/source", f"may have at most {settings.validation_devices} devices")
    if datapoints > settings.validation_datapoints:
        raise InvalidRequestError.at("/source", f"may hold at most {settings.validation_datapoints} datapoints")
    if found.sample_size > devices:
        raise InvalidRequestError.at("/sample_size", f"must be at most the number of devices, {devices}")
