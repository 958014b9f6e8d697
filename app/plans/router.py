"""/v1/plans: plans and diagnoses."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from fastapi.responses import Response
from pydantic import Field
from starlette.convertors import Convertor, register_url_convertor

from app.http.described import JSON_BODY, NO_KEY, NO_ROOM, NO_STORE, body_problems, problems, reads
from app.http.gate import look_up, process
from app.http.problems import ConflictError, InvalidRequestError, NotFoundError
from app.http.security import Owner
from app.networks.archived import NPZ
from app.plans import service
from app.plans.answer import DiagnosisOut, PlanList, PlanOut
from app.plans.binary import answer_binary_plan
from app.plans.orders import OrderList, WhoseAsked
from app.plans.request import PlanRequest
from app.wire.parameters import EMPTY_PAGE, KNOWN_PARAMETERS, LOCATION, STRANGE, IdempotencyKey, PageAsked

__all__ = ["router"]


class _PlanConvertor(Convertor[str]):
    """Matches only ids of plans: otherwise GET /v1/plans/binary would look for a plan called "binary"."""

    regex = "plan_[0-9a-f]{32}"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("plan", _PlanConvertor())

router = APIRouter(prefix="/v1/plans", tags=["plans"], dependencies=KNOWN_PARAMETERS)

PlanId = Annotated[str, Path(pattern="^plan_[0-9a-f]{32}$", description="As POST /v1/plans answered.")]
PlanOrDiagnosis = Annotated[PlanOut | DiagnosisOut, Field(discriminator="kind")]

_BYTES = {"type": "string", "format": "binary"}
_ARCHIVE: dict[int | str, dict[str, Any]] = {
    200: {"description": "An archive of plain arrays.", "content": {NPZ: {"schema": _BYTES}}},
    201: {
        "description": "Likewise, and the plan is kept.",
        "content": {NPZ: {"schema": _BYTES}},
        "headers": LOCATION,
    },
}
_MADE: dict[str, Any] = {"model": PlanOut, "description": "The plan, and it is kept.", "headers": LOCATION}
_USED_KEY = ConflictError("this Idempotency-Key was used with another body")
_TOO_MANY = InvalidRequestError.at("/sample_size", "must be at most the number of devices, 3")
_ARCHIVE_BODY = body_problems("the body is not an archive of plain arrays", NPZ)
_KEPT = problems(NO_KEY, NotFoundError("you have kept no plan of this id"), STRANGE, NO_STORE)


@router.post(
    "",
    operation_id="createPlan",
    summary="Choose devices and plan their offloading",
    response_model=PlanOrDiagnosis,
    response_description="The plan; with `dry_run`, the diagnosis.",
    responses={201: _MADE, **problems(*JSON_BODY, _USED_KEY, _TOO_MANY, NO_ROOM)},
    openapi_extra=reads(PlanRequest),
)
async def create_plan(request: Request, owner: Owner, key: IdempotencyKey = "") -> Response:
    """Sample devices, then solve the offloading of every step; the answer carries its own certificate.

    A plan with `keep` is answered with 201 and `Location`, and an `Idempotency-Key` keeps it once.
    """
    return await process(request, owner, service.answer_plan, key)


@router.post(
    "/binary",
    operation_id="createBinaryPlan",
    summary="The same for large networks, as .npz archives",
    response_class=Response,
    responses={**_ARCHIVE, **problems(*_ARCHIVE_BODY, _USED_KEY, _TOO_MANY, NO_ROOM)},
    openapi_extra={"requestBody": {"required": True, "content": {NPZ: {"schema": _BYTES}}}},
)
async def create_binary_plan(request: Request, owner: Owner, key: IdempotencyKey = "") -> Response:
    """Arrays in, arrays out; docs/api.md names them. `keep` in `parameters` keeps the plan, as JSON."""
    return await process(request, owner, answer_binary_plan, key, content_type=NPZ)


@router.get(
    "",
    operation_id="listPlans",
    summary="List kept plans",
    response_model_exclude_none=True,
    responses=problems(NO_KEY, EMPTY_PAGE, NO_STORE),
)
async def list_plans(request: Request, owner: Owner, page: PageAsked) -> PlanList:
    """The plans that the caller keeps, oldest first."""
    return await look_up(request, service.list_plans, owner, page)


@router.get(
    "/{plan_id:plan}",
    operation_id="getPlan",
    summary="A kept plan once more",
    response_model=PlanOut,
    responses=_KEPT,
)
async def get_kept_plan(request: Request, owner: Owner, plan_id: PlanId) -> Response:
    """What was answered, byte for byte, if it was asked for with `keep`."""
    return await look_up(request, service.get_plan, owner, plan_id)


@router.get(
    "/{plan_id:plan}/orders",
    operation_id="getPlanOrders",
    summary="What devices send under a kept plan",
    response_model=OrderList,
    responses=_KEPT,
)
async def get_orders(request: Request, owner: Owner, plan_id: PlanId, whose: WhoseAsked) -> Response:
    """The orders of a plan that was asked for with `keep` and `orders`, of all devices or of one."""
    return await look_up(request, service.get_orders, owner, plan_id, whose)


@router.delete(
    "/{plan_id:plan}",
    status_code=204,
    operation_id="deletePlan",
    summary="Forget a kept plan",
    responses=_KEPT,
)
async def delete_kept_plan(request: Request, owner: Owner, plan_id: PlanId) -> None:
    """Validations of it go on."""
    await look_up(request, service.delete_plan, owner, plan_id)
