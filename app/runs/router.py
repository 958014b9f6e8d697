"""/v1/runs: the closed loop."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response, StreamingResponse
from starlette.convertors import Convertor, register_url_convertor

from app.http.answers import check_room_for
from app.http.described import JSON_BODY, NO_KEY, NO_ROOM, NO_STORE, body_problems, problems, reads
from app.http.events import LastEvent, described
from app.http.gate import look_up, process
from app.http.problems import ConflictError, InvalidRequestError, NotFoundError
from app.http.security import Owner
from app.networks.archived import NPZ
from app.runs import service
from app.runs.request import AggregationRequest, RunRequest
from app.runs.schemas import AggregationList, PeriodOut, RunList, RunNow
from app.wire.parameters import EMPTY_PAGE, KNOWN_PARAMETERS, LOCATION, STRANGE, IdempotencyKey, PageAsked

__all__ = ["router"]


class _RunConvertor(Convertor[str]):
    """Matches only ids of runs: otherwise GET /v1/runs/binary would look for a run called "binary"."""

    regex = "run_[0-9a-f]{32}"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("run", _RunConvertor())

router = APIRouter(prefix="/v1/runs", tags=["runs"], dependencies=KNOWN_PARAMETERS)

RunId = Annotated[str, Path(pattern="^run_[0-9a-f]{32}$", description="As POST /v1/runs answered.")]
Number = Annotated[int, Path(ge=0, lt=2**31, description="k; 0 is the first period.")]
Limit = Annotated[int, Query(ge=1, le=1000, description="How many on a page.")]
After = Annotated[int, Query(ge=-1, lt=2**31, description="`next` of the page before.")]

_BYTES = {"type": "string", "format": "binary"}
_ARCHIVE_BODY = body_problems("the body is not an archive of plain arrays", NPZ)
_NO_RUN = NotFoundError("you have no run of this id")
_ONE_RUN = problems(NO_KEY, _NO_RUN, STRANGE, NO_STORE)
_USED_KEY = ConflictError("this Idempotency-Key was used with another body")
_TOO_MANY = InvalidRequestError.at("/sample_size", "must be at most the number of devices, 3")
_NEGATIVE = InvalidRequestError.at("/gradient_norm", "Input should be greater than or equal to 0")
_ANSWERED = ConflictError("aggregation 1 was answered for another body")


@router.post(
    "",
    status_code=201,
    operation_id="createRun",
    summary="Start a run and plan its first period",
    response_model=PeriodOut,
    responses={201: {"headers": LOCATION}, **problems(*JSON_BODY, _USED_KEY, _TOO_MANY, NO_ROOM)},
    openapi_extra=reads(RunRequest),
)
async def create_run(request: Request, owner: Owner, key: IdempotencyKey = "") -> Response:
    """Plan steps 1..τ only, and keep the state for the aggregations to come."""
    return await process(request, owner, service.create_run, key, first=check_room_for)


@router.post(
    "/binary",
    status_code=201,
    operation_id="createBinaryRun",
    summary="The same for a large network, as an .npz archive",
    response_model=PeriodOut,
    responses={201: {"headers": LOCATION}, **problems(*_ARCHIVE_BODY, _USED_KEY, _TOO_MANY, NO_ROOM)},
    openapi_extra={"requestBody": {"required": True, "content": {NPZ: {"schema": _BYTES}}}},
)
async def create_binary_run(request: Request, owner: Owner, key: IdempotencyKey = "") -> Response:
    """Plain arrays as for POST /v1/plans/binary, answered in JSON; `parameters` takes `ids`, and what a run takes."""
    return await process(request, owner, service.create_binary_run, key, content_type=NPZ, first=check_room_for)


@router.get(
    "",
    operation_id="listRuns",
    summary="List runs",
    response_model_exclude_none=True,
    responses=problems(NO_KEY, EMPTY_PAGE, NO_STORE),
)
async def list_runs(request: Request, owner: Owner, page: PageAsked) -> RunList:
    """The caller's runs, oldest first."""
    return await look_up(request, service.list_runs, owner, page)


@router.get(
    "/{run_id:run}",
    operation_id="getRun",
    summary="Where a run stands",
    response_model_exclude_none=True,
    responses=_ONE_RUN,
)
async def get_run(request: Request, owner: Owner, run_id: RunId) -> RunNow:
    """Who trains, who holds what, and what is under way."""
    return await look_up(request, service.get_run, owner, run_id)


@router.delete(
    "/{run_id:run}",
    status_code=204,
    operation_id="deleteRun",
    summary="Forget a run",
    responses=_ONE_RUN,
)
async def delete_run(request: Request, owner: Owner, run_id: RunId) -> None:
    """Delete a run with all its periods."""
    await look_up(request, service.delete_run, owner, run_id)


@router.post(
    "/{run_id}/aggregations",
    operation_id="aggregate",
    summary="Report an aggregation and plan the next period",
    response_model=PeriodOut,
    responses=problems(*JSON_BODY, _NO_RUN, _ANSWERED, _NEGATIVE, NO_ROOM),
    openapi_extra=reads(AggregationRequest),
)
async def aggregate(request: Request, owner: Owner, run_id: RunId) -> Response:
    """Plan the steps after aggregation k. The same body again replays the same answer."""
    return await process(request, owner, service.aggregate, run_id, first=service.find_run)


@router.get(
    "/{run_id}/aggregations",
    operation_id="listAggregations",
    summary="List the aggregations of a run",
    response_model_exclude_none=True,
    responses=problems(NO_KEY, _NO_RUN, EMPTY_PAGE, NO_STORE),
)
async def list_aggregations(
    request: Request, owner: Owner, run_id: RunId, limit: Limit = 100, after: After = -1
) -> AggregationList:
    """Those that were answered, in order; the first is k = 0."""
    return await look_up(request, service.list_periods, owner, run_id, limit, after)


@router.get(
    "/{run_id}/aggregations/{aggregation}",
    operation_id="getAggregation",
    summary="The answer to an aggregation once more",
    response_model=PeriodOut,
    responses=_ONE_RUN,
)
async def get_aggregation(request: Request, owner: Owner, run_id: RunId, aggregation: Number) -> Response:
    """What was answered, byte for byte; 0 is the first period."""
    return await look_up(request, service.get_period, owner, run_id, aggregation)


@router.get(
    "/{run_id}/events",
    operation_id="followRun",
    summary="Follow a run as server-sent events",
    response_class=StreamingResponse,
    responses={**described("`plan`"), **_ONE_RUN},
)
async def follow_run(request: Request, owner: Owner, run_id: RunId, last_event_id: LastEvent = 0) -> Response:
    """A `plan` for each period, as listAggregations tells it; ends with the run, or after a while: then come back."""
    if not await look_up(request, service.open_stream, owner, run_id, last_event_id):
        return Response(status_code=204)  # what makes browsers stop coming back
    return service.follow(request.app.state.service, owner, run_id, last_event_id)
