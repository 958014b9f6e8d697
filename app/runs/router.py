"""/v1/runs: the closed loop."""

import asyncio
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response

from app.http.gate import Service, process
from app.http.security import Owner
from app.openapi.document import problems, reads
from app.plans.request import RunRequest
from app.runs import service as runs
from app.runs.schemas import AggregationRequest, PeriodOut, RunList, RunOut

__all__ = ["router"]

router = APIRouter(prefix="/v1/runs", tags=["runs"])

RunId = Annotated[str, Path(pattern="^run_[0-9a-f]{32}$", description="As POST /v1/runs answered.")]
Number = Annotated[int, Path(ge=0, lt=2**31, description="k; 0 is the first period.")]
Limit = Annotated[int, Query(ge=1, le=1000, description="Runs on a page.")]
After = Annotated[str, Query(pattern="^(run_[0-9a-f]{32})?$", description="`next` of the page before.")]


@router.post(
    "",
    status_code=201,
    operation_id="createRun",
    summary="Start a run and plan its first period",
    response_model=PeriodOut,
    responses=problems(400, 401, 408, 413, 415, 422, 429, 503),
    openapi_extra=reads(RunRequest),
)
async def create_run(request: Request, owner: Owner) -> Response:
    """Plan steps 1..τ only, and keep the state for the aggregations to come."""
    service: Service = request.app.state.service
    return await process(request, owner, partial(runs.create_run, service, owner))


@router.get(
    "",
    operation_id="listRuns",
    summary="List runs",
    response_model_exclude_none=True,
    responses=problems(401, 422, 503),
)
async def list_runs(request: Request, owner: Owner, limit: Limit = 100, after: After = "") -> RunList:
    """The caller's runs, oldest first."""
    return await asyncio.to_thread(runs.list_runs, request.app.state.service, owner, limit, after or None)


@router.get("/{run_id}", operation_id="getRun", summary="Where a run stands", responses=problems(401, 404, 422, 503))
async def get_run(request: Request, owner: Owner, run_id: RunId) -> RunOut:
    """How far a run has been planned."""
    return await asyncio.to_thread(runs.get_run, request.app.state.service, owner, run_id)


@router.delete(
    "/{run_id}",
    status_code=204,
    operation_id="deleteRun",
    summary="Forget a run",
    responses=problems(401, 404, 422, 503),
)
async def delete_run(request: Request, owner: Owner, run_id: RunId) -> None:
    """Delete a run with all its periods."""
    await asyncio.to_thread(runs.delete_run, request.app.state.service, owner, run_id)


@router.post(
    "/{run_id}/aggregations",
    operation_id="aggregate",
    summary="Report an aggregation and plan the next period",
    response_model=PeriodOut,
    responses=problems(400, 401, 404, 408, 409, 413, 415, 422, 429, 503),
    openapi_extra=reads(AggregationRequest),
)
async def aggregate(request: Request, owner: Owner, run_id: RunId) -> Response:
    """Plan the steps after aggregation k. The same body again replays the same answer."""
    service: Service = request.app.state.service
    return await process(request, owner, partial(runs.aggregate, service, owner, run_id))


@router.get(
    "/{run_id}/aggregations/{aggregation}",
    operation_id="getAggregation",
    summary="The answer to an aggregation once more",
    response_model=PeriodOut,
    responses=problems(401, 404, 422, 503),
)
async def get_aggregation(request: Request, owner: Owner, run_id: RunId, aggregation: Number) -> Response:
    """What was answered, byte for byte; 0 is the first period."""
    return await asyncio.to_thread(runs.get_period, request.app.state.service, owner, run_id, aggregation)
