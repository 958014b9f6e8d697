"""The work behind /v1/runs: a plan made period by period, each answered once and then replayed.

A run's row and its periods' rows are never changed, and a period is written in one transaction together with the
state and the conditions that follow from it. So a crash leaves either nothing of a period or all of it, and of two
processes that compute the same period one is kept and the other answers with it.
"""

import hashlib
from dataclasses import replace
from functools import partial
from time import perf_counter

import numpy as np
from starlette.responses import Response

from app.http.answers import digest_of, encoded, find_made, new_id, page, replayed, same_body
from app.http.events import MOST_EVENTS, Event, check_followers, stream
from app.http.gate import JSON, Service, Unwritten
from app.http.problems import ConflictError, InvalidRequestError, MalformedError, NotFoundError
from app.http.unread import stored_answer
from app.networks.loading import named_network, network_gone
from app.plans.accounting import counted
from app.plans.answer import asked_for
from app.plans.planning import make_plan
from app.runs.asked import is_archive, read_asked
from app.runs.carried import Carried
from app.runs.conditions import Kept, conditions_of, packed, parameters_of, settled
from app.runs.healing import next_set, plan_next, within_groups, without_lost
from app.runs.history import after_report, run_fleet, run_query
from app.runs.policy import Policy
from app.runs.reports import reported
from app.runs.request import AggregationRequest
from app.runs.schemas import AggregationList, AggregationOut, PeriodOut, RunList, RunNow, RunOut
from app.runs.schemas import digest as digest_for_lists
from app.runs.store import PeriodRecord, RunPlace, RunRecord, RunStore
from app.store.about import KeyTakenError, Made
from app.store.database import GoneError
from app.store.paging import Page
from app.wire.arrays import read_model, read_plainly
from app.wire.budget import charge
from solver import start

__all__ = [
    "aggregate",
    "create_binary_run",
    "create_run",
    "delete_run",
    "find_run",
    "follow",
    "get_period",
    "get_run",
    "list_periods",
    "list_runs",
    "open_stream",
]


def create_run(service: Service, owner: str, key: str, body: bytes) -> Response | Unwritten:
    """Plan the first period and keep the run; its idempotency key makes it once."""
    if is_archive(body):
        raise MalformedError("the body is not valid JSON; POST /v1/runs/binary takes archives")
    return _create(service, owner, key, body)


def create_binary_run(service: Service, owner: str, key: str, body: bytes) -> Response | Unwritten:
    """The same for the network of an archive."""
    if not is_archive(body):
        raise MalformedError("the body is not an archive of plain arrays")
    return _create(service, owner, key, body)


def _create(service: Service, owner: str, key: str, body: bytes) -> Response | Unwritten:
    begin = perf_counter()
    asked = read_asked(body)
    request, digest = asked.parameters, digest_of("run", body)
    if made := same_body(find_made(service, owner, key), digest):
        return _made_before(service, made)
    query = asked.to_domain(service.settings, partial(named_network, service, owner))
    policy = Policy.of(request, query, asked.fleet)
    result = make_plan(query, steps=query.aggregation_period)
    if (repaired := within_groups(query, result, policy)) is not None:
        result = make_plan(repaired, steps=query.aggregation_period)
    counted_result = counted(service, result, perf_counter() - begin - sum(result.seconds.values()))
    now = service.store.now()
    run = RunRecord(
        id=new_id("run"),
        owner=owner,
        created_at=now,
        n_devices=len(query.schedule.network),
        sample_size=query.sample_size,
        horizon=query.horizon,
        aggregation_period=query.aggregation_period,
        updated_at=now,
        about=request.about(key, digest, asked_for(query)),
    )
    period = PeriodOut.from_domain(run, 0, counted_result, request.output, now)
    answer = encoded(service, period)
    moved = result.moved(start(query.schedule, result.plan.sampled))
    carried = Carried(result.state, query.gradient, query.transfer, moved=moved).training(0, policy.participation)
    state, conditions = carried.to_json(), packed(Kept(query, parameters_of(request), policy))
    told = digest_for_lists(period, None)
    first = PeriodRecord(run.id, 0, "", b"", state, answer, now, told, conditions, run.n_devices)
    keep = RunStore(service.store).adding(run, body, first, most_bytes=service.settings.key_bytes)

    def write() -> Response:
        try:
            keep()
        except KeyTakenError:
            made = same_body(find_made(service, owner, key), digest)
            return write() if made is None else _made_before(service, made)
        except GoneError:
            raise network_gone() from None
        return Response(answer, status_code=201, media_type=JSON, headers={"Location": _place(run.id)})

    return Unwritten(write)


def _made_before(service: Service, made: Made) -> Response:
    return replayed(_stored(service, made.id, 0), 201, _place(made.id))


def _place(run_id: str) -> str:
    return f"/v1/runs/{run_id}"


def aggregate(service: Service, owner: str, run_id: str, body: bytes) -> Response | Unwritten:
    """Plan the period after an aggregation, or replay its answer.

    Raises:
        ConflictError: another body was answered, the aggregation is not the next one, or the run is over.
    """
    begin = perf_counter()
    store = RunStore(service.store)
    run = find_run(service, owner, run_id)
    request = read_model(AggregationRequest, body)
    charge(2 * len(body), "the text of a report")
    # Long columns are arrays, which pydantic leaves to `fallback`.
    as_text = request.model_dump_json(exclude_unset=True, by_alias=True, warnings=False, fallback=np.ndarray.tolist)
    canonical = as_text.encode()
    digest = hashlib.sha256(canonical).hexdigest()
    k = request.aggregation
    place = store.place(run_id, k)
    if place.answered is not None:
        return _replayed(service, run_id, k, place.answered == digest)
    _check_order(store, run, k, known_before=place.before is not None)
    _check_steps(request, run)
    made = _planned(service, run, request, place, begin)
    record = PeriodRecord(run_id, k, digest, canonical, *made)
    keep = store.adding_period(owner, record, most_bytes=service.settings.key_bytes)

    def write() -> Response:
        if keep():
            return Response(record.answer, media_type=JSON)
        first = store.request_digest(run_id, k)
        if first is None:
            raise _not_found()
        return _replayed(service, run_id, k, first == digest)

    return Unwritten(write)


def _planned(
    service: Service, run: RunRecord, request: AggregationRequest, place: RunPlace, begin: float
) -> tuple[str, bytes, float, str, bytes | None, int]:
    """The next period of a run: state, answer, time, what lists tell, conditions if they changed, number of devices."""
    if place.before is None:
        raise _not_found()
    k, carried, kept = request.aggregation, Carried.from_json(place.before), place.conditions
    before = _conditions(service, run, kept)
    step = carried.horizon.step
    known = after_report(before, request, step, partial(run_fleet, service, run), service.settings)
    as_before = kept is not None and not (request.schedule or request.changes_network)
    conditions = None if as_before else packed(replace(known, query=settled(known.query, step)))
    query, policy = replace(known.query, transfer=carried.transfer), known.policy
    if request.gradient_noise is None and carried.noise is not None:
        query = replace(query, gradient_noise=carried.noise)
    data_before = before.query.schedule.network.devices.data
    report = reported(carried.observing(request, run.aggregation_period), request, query, data_before)
    query = without_lost(query, report.carried.lost_devices())
    policy = replace(policy, resample=request.resample or policy.resample)
    chosen = next_set(query, report.carried, k, report.gone, policy)
    last = min(run.horizon, (k + 1) * run.aggregation_period)
    result, fresh = plan_next(query, report.carried, chosen, last, report.gone)
    result = counted(service, result, perf_counter() - begin - sum(result.seconds.values()))
    now = max(service.store.now(), run.updated_at)  # also if the clock was set back
    output = "matrix" if query.dense else "links"
    period = PeriodOut.from_domain(run, k, result, output, now, replaced=chosen.replaced, fresh=fresh)
    after = replace(report.carried, horizon=result.state, moved=result.moved(chosen.state))
    state = after.training(k, policy.participation).to_json()
    norms = request.gradient_norms
    own = None if norms is None else norms.by_device(result.plan.n_devices, query.ids)
    told = digest_for_lists(period, request.gradient_norm, own)
    return state, encoded(service, period), now, told, conditions, result.plan.n_devices


def _conditions(service: Service, run: RunRecord, kept: bytes | None) -> Kept:
    """The run's conditions from now on. An earlier release kept only what was asked: all of it is read once more."""
    if kept is not None:
        return conditions_of(kept, service.settings)
    asked = RunStore(service.store).requests(run.id)
    if asked is None:
        raise _not_found()
    original = read_asked(asked[0])
    told = [read_plainly(AggregationRequest, text) for text in asked[1]]
    return Kept(run_query(service, run, original, told), parameters_of(original.parameters), Policy())


def get_run(service: Service, owner: str, run_id: str) -> RunNow:
    """Where a run stands."""
    found = RunStore(service.store).now(owner, run_id)
    if found is None:
        raise _not_found()
    run, entry, state = found
    return RunNow.now(run, entry.aggregation, Carried.from_json(state), entry)


def get_period(service: Service, owner: str, run_id: str, aggregation: int) -> Response:
    """The answer to an aggregation once more; 0 is the first period's."""
    find_run(service, owner, run_id)
    return _stored(service, run_id, aggregation)


def list_runs(service: Service, owner: str, asked: Page) -> RunList:
    """A page of the owner's runs."""
    found = RunStore(service.store).page(owner, asked)
    _, more = page([run for run, _ in found], asked.limit)
    shown = [RunOut.from_domain(run, last) for run, last in found[: asked.limit]]
    return RunList.model_construct(runs=shown, next=more)


def list_periods(service: Service, owner: str, run_id: str, limit: int, after: int) -> AggregationList:
    """A page of the aggregations of a run."""
    run = find_run(service, owner, run_id)
    found = RunStore(service.store).periods(run_id, limit + 1, after)
    shown = [AggregationOut.from_domain(run, one) for one in found[:limit]]
    more = str(shown[-1].aggregation) if len(found) > limit else None
    return AggregationList.model_construct(aggregations=shown, next=more)


def open_stream(service: Service, owner: str, run_id: str, after: int) -> bool:
    """Whether there is, or will be, anything to tell after this event.

    Raises:
        OverloadedError: too many follow something already.
    """
    found = find_run(service, owner, run_id)
    run = RunOut.from_domain(found, RunStore(service.store).last_aggregation(run_id))
    if run.state == "finished" and after > run.aggregation:
        return False
    check_followers(service)
    return True


def follow(service: Service, owner: str, run_id: str, after: int) -> Response:
    """An event `plan` for each period, numbered k + 1, until the run is finished or the time is over."""

    def look(last: int) -> list[Event]:
        store = RunStore(service.store)
        run = store.find(owner, run_id)
        if run is None:
            return []
        shown = [AggregationOut.from_domain(run, one) for one in store.periods(run_id, MOST_EVENTS, last - 1)]
        return [
            Event(
                one.aggregation + 1, "plan", one.model_dump_json(exclude_none=True), last=one.last_step >= run.horizon
            )
            for one in shown
        ]

    return stream(service, look, after)


def delete_run(service: Service, owner: str, run_id: str) -> None:
    """Forget a run."""
    if not RunStore(service.store).delete(owner, run_id):
        raise _not_found()


def find_run(service: Service, owner: str, run_id: str) -> RunRecord:
    """The owner's run.

    Raises:
        NotFoundError: the owner has no such run.
    """
    run = RunStore(service.store).find(owner, run_id)
    if run is None:
        raise _not_found()
    return run


def _not_found() -> NotFoundError:
    return NotFoundError("you have no run of this id")


def _stored(service: Service, run_id: str, k: int) -> Response:
    answer = stored_answer(service.unread, partial(RunStore(service.store).packed_answer, run_id, k))
    if answer is None:
        raise NotFoundError("this aggregation has not been answered")
    return answer


def _replayed(service: Service, run_id: str, k: int, same_body: bool) -> Response:  # noqa: FBT001
    if not same_body:
        raise ConflictError(f"aggregation {k} was answered for another body")
    answer = _stored(service, run_id, k)
    answer.headers["Idempotent-Replay"] = "true"
    return answer


def _check_order(store: RunStore, run: RunRecord, k: int, *, known_before: bool) -> None:
    if k * run.aggregation_period >= run.horizon:
        raise ConflictError(f"the run ends with step {run.horizon}, before aggregation {k}")
    if not known_before:
        raise ConflictError(f"aggregation {store.last_aggregation(run.id) + 1} is next")


def _check_steps(request: AggregationRequest, run: RunRecord) -> None:
    """Changes may only concern steps that are not planned yet."""
    now = request.aggregation * run.aggregation_period
    for i, change in enumerate(request.schedule):
        if change.step <= now:
            raise InvalidRequestError.at(f"/schedule/{i}/step", f"must be above {now}: earlier steps are planned")
