"""POST /v1/plans."""

import asyncio
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from fastapi.responses import Response
from pydantic import Field
from starlette.convertors import Convertor, register_url_convertor

from app.http.gate import Service, process
from app.http.security import Owner
from app.openapi.document import problems, reads
from app.plans.binary import NPZ, answer_binary_plan
from app.plans.diagnosis_answer import DiagnosisOut
from app.plans.request import PlanOut, PlanRequest
from app.plans.service import answer_plan, delete_plan, get_plan

__all__ = ["router"]


class _PlanConvertor(Convertor[str]):
    """Only what looks like a plan's id is one: else `/v1/plans/binary` would be a plan to some methods."""

    regex = "plan_[0-9a-f]{32}"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("plan", _PlanConvertor())

router = APIRouter(prefix="/v1/plans", tags=["plans"])

PlanId = Annotated[str, Path(pattern="^plan_[0-9a-f]{32}$", description="As POST /v1/plans answered.")]
PlanOrDiagnosis = Annotated[PlanOut | DiagnosisOut, Field(discriminator="kind")]

_BYTES = {"type": "string", "format": "binary"}
_ARCHIVE: dict[int | str, dict[str, Any]] = {
    200: {"description": "An archive of plain arrays.", "content": {NPZ: {"schema": _BYTES}}}
}


@router.post(
    "",
    operation_id="createPlan",
    summary="Choose devices and plan their offloading",
    response_model=PlanOrDiagnosis,
    response_description="The plan; with `dry_run`, the diagnosis.",
    responses=problems(400, 401, 408, 413, 415, 422, 429, 503),
    openapi_extra=reads(PlanRequest),
)
async def create_plan(request: Request, owner: Owner) -> Response:
    """Sample devices, then solve the offloading of every step; the answer carries its own certificate."""
    service: Service = request.app.state.service
    return await process(request, owner, partial(answer_plan, service, owner))


@router.post(
    "/binary",
    operation_id="createBinaryPlan",
    summary="The same for large networks, as .npz archives",
    response_class=Response,
    responses={**_ARCHIVE, **problems(400, 401, 408, 413, 415, 422, 429, 503)},
    openapi_extra={"requestBody": {"required": True, "content": {NPZ: {"schema": _BYTES}}}},
)
async def create_binary_plan(request: Request, owner: Owner) -> Response:
    """Arrays in, arrays out; docs/api.md names them."""
    service: Service = request.app.state.service
    work = partial(answer_binary_plan, service)
    return await process(request, owner, work, content_type=NPZ, limit=service.settings.binary_limit)


@router.get(
    "/{plan_id:plan}",
    operation_id="getPlan",
    summary="A kept plan once more",
    response_model=PlanOut,
    responses=problems(401, 404, 422, 503),
)
async def get_kept_plan(request: Request, owner: Owner, plan_id: PlanId) -> Response:
    """What was answered, byte for byte, if it was asked for with `keep`."""
    return await asyncio.to_thread(get_plan, request.app.state.service, owner, plan_id)


@router.delete(
    "/{plan_id:plan}",
    status_code=204,
    operation_id="deletePlan",
    summary="Forget a kept plan",
    responses=problems(401, 404, 422, 503),
)
async def delete_kept_plan(request: Request, owner: Owner, plan_id: PlanId) -> None:
    """Validations of it go on."""
    await asyncio.to_thread(delete_plan, request.app.state.service, owner, plan_id)
