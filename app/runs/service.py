"""The work behind /v1/runs: a plan made period by period, each answered once and then replayed.

A run's row and its periods' rows are never changed, and a period is written in one transaction together with the
state that follows from it. So a crash leaves either nothing of a period or all of it, and of two processes that
compute the same period one is kept and the other answers with it.
"""

import hashlib
import json
import time
from dataclasses import replace
from functools import partial
from time import perf_counter

from starlette.responses import Response

from app.http.answers import digest_of, encoded, find_made, new_id, page, replayed, same_body
from app.http.gate import JSON, Service, Unwritten
from app.http.problems import ConflictError, InvalidRequestError, NotFoundError
from app.http.unread import stored_answer
from app.networks.loading import named_network, network_gone
from app.plans.accounting import counted
from app.plans.answer import asked_for
from app.plans.planning import make_plan, solve_period
from app.plans.request import RunRequest
from app.runs.history import run_query
from app.runs.schemas import AggregationList, AggregationOut, AggregationRequest, PeriodOut, RunList, RunOut
from app.runs.store import PeriodRecord, RunRecord, RunStore
from app.store.about import KeyTakenError, Made
from app.store.database import GoneError
from app.store.paging import Page
from app.wire.arrays import read_model, read_plainly
from solver import GradientModel, HorizonState

__all__ = [
    "aggregate",
    "create_run",
    "delete_run",
    "find_run",
    "get_period",
    "get_run",
    "list_periods",
    "list_runs",
]


def create_run(service: Service, owner: str, key: str, body: bytes) -> Response | Unwritten:
    """Plan the first period and keep the run; its idempotency key makes it once."""
    begin = perf_counter()
    request = read_model(RunRequest, body)
    digest = digest_of("run", body)
    if made := same_body(find_made(service, owner, key), digest):
        return _made_before(service, made)
    query = request.to_domain(service.settings, partial(named_network, service, owner))
    result = make_plan(query, steps=query.aggregation_period)
    counted_result = counted(service, result, perf_counter() - begin - sum(result.seconds.values()))
    now = time.time()
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
    answer = encoded(service, PeriodOut.from_domain(run, 0, counted_result, request.output, now))
    state = _written(result.state, query.gradient, query.transfer)
    first = PeriodRecord(run.id, 0, "", b"", state, answer, now)
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
    request = read_plainly(AggregationRequest, body)
    canonical = request.model_dump_json(exclude_unset=True).encode()
    digest = hashlib.sha256(canonical).hexdigest()
    k = request.aggregation
    if (known := store.request_digest(run_id, k)) is not None:
        return _replayed(service, run_id, k, known == digest)
    before = store.state(run_id, k - 1)
    _check_order(store, run, k, known_before=before is not None)
    asked = store.requests(run_id)
    if before is None or asked is None:
        raise _not_found()

    original = read_model(RunRequest, asked[0])
    told = [read_plainly(AggregationRequest, text) for text in asked[1]]
    _check_steps(request, run)
    query = run_query(service, run, original, [*told, request])
    state, gradient, transfer = _read(before)
    query = replace(query, transfer=transfer)
    gradient = gradient.observe(request.gradient_norm, run.aggregation_period)
    last = min(run.horizon, (k + 1) * run.aggregation_period)
    result = solve_period(query, state, gradient, last)
    result = counted(service, result, perf_counter() - begin - sum(result.seconds.values()))
    now = time.time()
    answer = encoded(service, PeriodOut.from_domain(run, k, result, original.output, now))
    record = PeriodRecord(run_id, k, digest, canonical, _written(result.state, gradient, transfer), answer, now)
    keep = store.adding_period(owner, record, most_bytes=service.settings.key_bytes)

    def write() -> Response:
        if keep():
            return Response(answer, media_type=JSON)
        first = store.request_digest(run_id, k)
        if first is None:
            raise _not_found()
        return _replayed(service, run_id, k, first == digest)

    return Unwritten(write)


def get_run(service: Service, owner: str, run_id: str) -> RunOut:
    """Where a run stands."""
    found = RunStore(service.store).find_with_aggregation(owner, run_id)
    if found is None:
        raise _not_found()
    return RunOut.from_domain(*found)


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


def _written(state: HorizonState, gradient: GradientModel, transfer: str) -> str:
    kept = {"norm": gradient.norm, "decay": gradient.decay, "since": gradient.since}
    return json.dumps({"horizon": state.to_lists(), "gradient": kept, "transfer": transfer})


def _read(text: str) -> tuple[HorizonState, GradientModel, str]:
    """The state before a period. A run that does not say how it sends, since an earlier release began it, redraws."""
    kept = json.loads(text)
    return HorizonState.from_lists(kept["horizon"]), GradientModel(**kept["gradient"]), kept.get("transfer", "redraw")
