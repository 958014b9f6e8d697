"""From the source that a request names to what the simulator trains on: a network, its changes, perhaps a plan.

A source is a generator, a network, a fleet, a stored one, a kept plan or a run. A plan, or what a run has planned so
far, comes with its transfers: the scheme `plan` carries them out as they stand.
"""

import json
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from app.http.gate import Service
from app.http.problems import InfeasibleError, InvalidRequestError
from app.networks.loading import named_network
from app.plans.kept import kept_plan
from app.plans.request import scheduled
from app.runs.history import planned_so_far
from app.validations.replay import conditions_of, happened
from app.validations.request import (
    FleetSource,
    GeneratorSource,
    NetworkSource,
    PlanSource,
    RunSource,
    StoredSource,
    ValidationRequest,
)
from app.wire.budget import charge
from app.wire.estimate import JsonSize, training_network
from app.wire.fleet import Translated
from app.wire.ids import DeviceIds, describe
from fedl_sim.contract import (
    GIVEN_PLAN,
    DeviceColumns,
    GeneratorSettings,
    GivenNetwork,
    GivenPlan,
    GivenStep,
    LinkColumns,
    NetworkChange,
)
from sampler import SamplingProblem, TooFewDevicesError
from sampler.label_counts.histograms import class_counts
from solver import Change, Links, Schedule
from solver.network import DEVICE_COLUMNS

__all__ = ["Material", "material"]


@dataclass(frozen=True)
class Material:
    """What the source says: the network or how to draw one, default sizes, and the plan to carry out.

    `datapoints` is the most that all devices have together, if that is not what the network starts with.
    """

    source: GeneratorSettings | Schedule
    sample_size: int = 5
    aggregations: int = 10
    aggregation_period: int = 5
    plan: GivenPlan | None = None
    ids: DeviceIds | None = None
    stored: tuple[str, int] | None = None
    datapoints: float | None = None

    def network(self) -> GeneratorSettings | GivenNetwork:
        """The network as the simulator reads it."""
        return self.source if isinstance(self.source, GeneratorSettings) else _given(self.source)


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
    needs_sampling = any(scheme not in {"all", GIVEN_PLAN} for scheme in request.schemes)
    if isinstance(found.source, Schedule) and needs_sampling:
        horizon = found.aggregations * found.aggregation_period
        try:
            SamplingProblem.of(found.source, found.sample_size, horizon=horizon)
        except TooFewDevicesError as error:
            detail = f"{error.asked} devices are to be sampled, {error.eligible} can be"
            raise InfeasibleError(detail, error.obstacles, describe(found.ids)) from error
    return found


def _resolve(service: Service, owner: str, request: ValidationRequest) -> Material:
    source = request.source
    if isinstance(source, GeneratorSource):
        return Material(GeneratorSettings(source.devices, **source.model_dump(exclude={"kind", "devices"})))
    if isinstance(source, NetworkSource):
        return _of_network(source, Translated.of(source.network, "/source/network"))
    if isinstance(source, FleetSource):
        return _of_network(source, source.fleet.to_domain("/source/fleet"))
    if isinstance(source, StoredSource):
        stored = named_network(service, owner, source.network_id, source.network_version, "/source")
        return _of_network(source, stored)
    if isinstance(source, PlanSource):
        return _of_plan(service, owner, source.id)
    return _of_run(service, owner, source, request.aggregation_period)


def _of_network(source: NetworkSource | FleetSource | StoredSource, given: Translated) -> Material:
    schedule = scheduled(source.schedule, given, "/source/schedule")
    return Material(schedule, ids=given.ids, stored=given.stored)


def _of_plan(service: Service, owner: str, plan_id: str) -> Material:
    found = kept_plan(service, owner, plan_id)
    if found is None:
        raise InvalidRequestError.at("/source/id", "you have kept no plan of this id; plans are kept with `keep`")
    query, answer = found
    period = query.aggregation_period
    aggregations = max(1, math.ceil(query.horizon / period))
    return Material(query.schedule, query.sample_size, aggregations, period, _script([_loaded(answer)]), query.ids)


def _of_run(service: Service, owner: str, source: RunSource, asked_period: int | None) -> Material:
    found = planned_so_far(service, owner, source.id)
    if found is None:
        raise InvalidRequestError.at("/source/id", "you have no run of this id")
    answers = [_loaded(period.answer) for period in found]
    last, periods = found[-1].query, happened(found, [answer["sampled"] for answer in answers])
    if periods and asked_period not in (None, last.aggregation_period):
        rule = (
            f"must be the run's own, {last.aggregation_period}: its devices or their data changed from period to period"
        )
        raise InvalidRequestError.at("/aggregation_period", rule)
    return Material(
        conditions_of(found),
        last.sample_size,
        len(answers),
        last.aggregation_period,
        replace(_script(answers), periods=periods),
        last.ids,
        datapoints=max(period.query.schedule.network.total_data for period in found),
    )


def _loaded(answer: bytes) -> dict[str, Any]:
    """A stored answer, its memory charged."""
    size = JsonSize.of(answer)
    charge(size.as_objects(), f"reading a stored plan of {size.values} values")
    loaded: dict[str, Any] = json.loads(answer)
    return loaded


def _script(answers: list[dict[str, Any]]) -> GivenPlan:
    """The transfers of plans or periods one after the other."""
    return GivenPlan(
        sampled=tuple(answers[0]["sampled"]),
        relative_gap=max(answer["relative_gap"] for answer in answers),
        steps=tuple(_step(step) for answer in answers for step in answer["steps"]),
        transfer=answers[0].get("transfer", "redraw"),
    )


def _step(step: dict[str, Any]) -> GivenStep:
    if "matrix" in step:
        phi = np.array(step["matrix"])
        source, target = np.nonzero(phi)
        moves = {"source": source.tolist(), "target": target.tolist(), "fraction": phi[source, target].tolist()}
    else:
        moves = step["transfers"]
    return GivenStep(
        step=step["step"],
        source=tuple(moves["source"]),
        target=tuple(moves["target"]),
        fraction=tuple(moves["fraction"]),
        useful=sum(step["received"]),
    )


def _given(schedule: Schedule) -> GivenNetwork:
    devices = schedule.network.devices
    # Workers draw data from the counts, so they get the estimate of noisy ones.
    counts = class_counts(devices)
    n, changes = len(devices), schedule.whole_changes()
    links = sum(0 if one is None else len(one) for one in (schedule.network.links, *(one.links for one in changes)))
    told = f"a network of {n} devices that changes {len(changes)} times, with {links} links in all, for the workers"
    charge(training_network(n * (1 + len(changes)), links), told)
    return GivenNetwork(
        devices=DeviceColumns(
            **{name: tuple(getattr(devices, name).tolist()) for name in DEVICE_COLUMNS},
            label_counts=None if counts is None else tuple(map(tuple, counts.tolist())),
        ),
        links=_links(schedule.network.links),
        changes=tuple(_change(change) for change in changes),
    )


def _change(change: Change) -> NetworkChange:
    columns = tuple((name, tuple(np.asarray(column).tolist())) for name, column in change.columns.items())
    return NetworkChange(change.step, columns, None if change.links is None else _links(change.links))


def _links(links: Links) -> LinkColumns:
    return LinkColumns(
        source=tuple(links.source.tolist()),
        target=tuple(links.target.tolist()),
        similarity=tuple(links.similarity.tolist()),
        transmit_cost=tuple(links.transmit_cost.tolist()),
    )


def _keep_limits(service: Service, found: Material) -> None:
    settings = service.settings
    if isinstance(found.source, GeneratorSettings):
        devices = found.source.n_devices
        datapoints = devices * (found.source.mean_datapoints or 0.0)
    else:
        network = found.source.network
        devices, datapoints = len(network), found.datapoints or network.total_data
    if devices > settings.validation_devices:
        raise InvalidRequestError.at("/source", f"may have at most {settings.validation_devices} devices")
    if datapoints > settings.validation_datapoints:
        raise InvalidRequestError.at("/source", f"may hold at most {settings.validation_datapoints} datapoints")
    if found.sample_size > devices:
        raise InvalidRequestError.at("/sample_size", f"must be at most the number of devices, {devices}")
