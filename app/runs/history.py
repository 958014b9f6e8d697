"""What a run has planned so far, for the next period and for validations of the run."""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from app.http.gate import Service
from app.http.problems import InvalidRequestError
from app.networks.loading import used_network
from app.plans.planning import PlanQuery
from app.runs.request import AggregationRequest, RunRequest
from app.runs.store import RunRecord, RunStore
from app.wire.arrays import read_model, read_plainly
from app.wire.pointers import located
from solver import Schedule

__all__ = ["planned_so_far", "run_query", "with_report"]


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
        if report.data is not None:
            what = f"data of devices changed at aggregation {report.aggregation}"
            raise InvalidRequestError.at("/source/id", f"{what}; it cannot be validated")
    return run_query(service, run, read_model(RunRequest, history.request), told), history.answers


def run_query(service: Service, run: RunRecord, original: RunRequest, told: Iterable[AggregationRequest]) -> PlanQuery:
    """The run's query with what these aggregations told: all changes, and the γ measured last."""
    find = partial(used_network, service, asked=run.about.asked)
    query = original.to_domain(service.settings, find, stored=True)
    for report in told:
        query = with_report(query, report)
    return query


def with_report(query: PlanQuery, report: AggregationRequest) -> PlanQuery:
    """The query with the changes of a report. Of two changes for the same step, the later one counts."""
    network, schedule = query.schedule.network, query.schedule
    noise = query.gradient_noise if report.gradient_noise is None else report.gradient_noise
    changes = [change.to_domain(f"/schedule/{i}", network, query.ids) for i, change in enumerate(report.schedule)]
    if changes:
        with located({}):
            schedule = Schedule(network, (*schedule.changes, *changes))
    if report.data is not None:
        data = report.data.changed(network.devices.data, query.ids)
        schedule = Schedule(network.with_columns({"data": data}), schedule.changes)
    return replace(query, schedule=schedule, gradient_noise=noise)
