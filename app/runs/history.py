"""What a run has planned so far, for the next period and for validations of the run."""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from app.http.gate import Service
from app.http.problems import InvalidRequestError, NotFoundError
from app.networks.loading import load, used_network
from app.networks.stored import StoredFleet
from app.plans.planning import PlanQuery
from app.runs.asked import Asked, read_asked
from app.runs.request import AggregationRequest
from app.runs.store import RunRecord, RunStore
from app.wire.arrays import read_plainly
from app.wire.fleet import FleetIn
from app.wire.pointers import located
from solver import Schedule

__all__ = ["NOT_REPLAYED", "planned_so_far", "run_fleet", "run_query", "with_report"]

# What to do instead of validating a run whose devices or data have changed.
NOT_REPLAYED = (
    "a validation trains one set of devices on the data of the start. For the devices of now, keep a plan for the "
    "network of now with `sampled` and validate it; `fedsift simulate --loss` compares policies for lost devices"
)


def planned_so_far(service: Service, owner: str, run_id: str) -> tuple[PlanQuery, list[bytes]] | None:
    """A run's query with all its changes, and its answers in order; None if the owner has no such run."""
    store = RunStore(service.store)
    run = store.find(owner, run_id)
    if run is None:
        return None
    history = store.history(run_id)
    if history is None:
        return None
    told = [read_plainly(AggregationRequest, text) for text in history.aggregations]
    for report in told:
        if report.changes_network:
            what = f"aggregation {report.aggregation} changed the network"
            raise InvalidRequestError.at("/source/id", f"{what}; {NOT_REPLAYED}")
    return run_query(service, run, read_asked(history.request), told), history.answers


def run_query(service: Service, run: RunRecord, original: Asked, told: Iterable[AggregationRequest]) -> PlanQuery:
    """The run's query with what these aggregations told: all changes, and the γ measured last."""
    find = partial(used_network, service, asked=run.about.asked)
    query = original.to_domain(service.settings, find, stored=True)
    for report in told:
        query = with_report(query, report)
    return query


def run_fleet(service: Service, run: RunRecord) -> FleetIn:
    """The fleet that a run was asked for.

    Raises:
        NotFoundError: the run is gone, or the stored fleet that it names.
    """
    body = RunStore(service.store).original(run.id)
    fleet = None if body is None else read_asked(body).fleet
    named = run.about.asked.get("network_id")
    if fleet is None and named is not None:
        stored = load(service, named, run.about.asked["network_version"])
        fleet = stored.fleet if isinstance(stored, StoredFleet) else None
    if fleet is None:
        raise NotFoundError("you have no run of this id")
    return fleet


def with_report(query: PlanQuery, report: AggregationRequest) -> PlanQuery:
    """The query with the schedule and the noise of a report. Of two changes for the same step, the later one counts."""
    network, schedule = query.schedule.network, query.schedule
    noise = query.gradient_noise if report.gradient_noise is None else report.gradient_noise
    changes = [change.to_domain(f"/schedule/{i}", network, query.ids) for i, change in enumerate(report.schedule)]
    if changes:
        with located({}):
            schedule = Schedule(network, (*schedule.changes, *changes))
    return replace(query, schedule=schedule, gradient_noise=noise)
