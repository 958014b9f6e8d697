"""What a run has planned so far, for the next period and for validations of the run."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial

from app.http.gate import Service
from app.http.problems import NotFoundError
from app.networks.loading import load, used_network
from app.networks.stored import StoredFleet
from app.plans.planning import PlanQuery
from app.runs.asked import Asked, read_asked
from app.runs.changes import changed
from app.runs.conditions import Kept, parameters_of, settled
from app.runs.policy import Policy
from app.runs.request import AggregationRequest
from app.runs.store import RunRecord, RunStore
from app.settings import Settings
from app.wire.arrays import read_plainly
from app.wire.fleet import FleetIn
from app.wire.pointers import located
from solver import Schedule

__all__ = ["PastPeriod", "after_report", "planned_so_far", "run_fleet", "run_query"]


@dataclass(frozen=True, eq=False)
class PastPeriod:
    """A period of a run: its answer, the conditions from its first step on, and the report after it, if any."""

    answer: bytes
    query: PlanQuery
    report: AggregationRequest | None


def planned_so_far(service: Service, owner: str, run_id: str) -> list[PastPeriod] | None:
    """A run's periods in order; None if the owner has no such run."""
    store = RunStore(service.store)
    run = store.find(owner, run_id)
    history = None if run is None else store.history(run_id)
    if run is None or history is None:
        return None
    reports = [read_plainly(AggregationRequest, text) for text in history.aggregations]
    original = read_asked(history.request)
    known = Kept(run_query(service, run, original, ()), parameters_of(original.parameters), Policy())
    found = []
    for number, answer in enumerate(history.answers):
        if number > 0:
            step = number * run.aggregation_period
            known = after_report(known, reports[number - 1], step, partial(run_fleet, service, run), service.settings)
        ended_by = reports[number] if number < len(reports) else None
        found.append(PastPeriod(answer, known.query, ended_by))
    return found


def after_report(
    known: Kept, report: AggregationRequest, step: int, find_fleet: Callable[[], FleetIn], settings: Settings
) -> Kept:
    """The conditions after the aggregation at this step; `find_fleet` has the fleet of a run that is of one.

    Raises:
        InvalidRequestError: the report does not fit the network; it points to the row.
    """
    known = changed(replace(known, query=settled(known.query, step)), report, find_fleet, settings)
    return replace(known, query=_with_report(known.query, report))


def run_query(service: Service, run: RunRecord, original: Asked, told: Iterable[AggregationRequest]) -> PlanQuery:
    """The run's query with what these aggregations told: all changes, and the γ measured last."""
    find = partial(used_network, service, asked=run.about.asked)
    query = original.to_domain(service.settings, find, stored=True)
    for report in told:
        query = _with_report(query, report)
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


def _with_report(query: PlanQuery, report: AggregationRequest) -> PlanQuery:
    """The query with the schedule and the noise of a report. Of two changes for the same step, the later one counts."""
    network, schedule = query.schedule.network, query.schedule
    noise = query.gradient_noise if report.gradient_noise is None else report.gradient_noise
    changes = [change.to_domain(f"/schedule/{i}", network, query.ids) for i, change in enumerate(report.schedule)]
    if changes:
        with located({}):
            schedule = Schedule(network, (*schedule.changes, *changes))
    return replace(query, schedule=schedule, gradient_noise=noise)
