"""/v1/validations: experiments as durable jobs."""

from typing import Annotated

from fastapi import APIRouter, Path, Request
from fastapi.responses import Response, StreamingResponse

from app.http.answers import check_room_for
from app.http.described import JSON_BODY, NO_KEY, NO_ROOM, NO_STORE, problems, reads
from app.http.events import LastEvent, described
from app.http.gate import look_up, process
from app.http.problems import ConflictError, InvalidRequestError, NotFoundError
from app.http.security import Owner
from app.validations import service
from app.validations.answer import ValidationList, ValidationOut
from app.validations.request import ValidationRequest
from app.wire.parameters import EMPTY_PAGE, KNOWN_PARAMETERS, LOCATION, STRANGE, IdempotencyKey, PageAsked

__all__ = ["router"]

router = APIRouter(prefix="/v1/validations", tags=["validations"], dependencies=KNOWN_PARAMETERS)

ValidationId = Annotated[str, Path(pattern="^val_[0-9a-f]{32}$", description="As POST /v1/validations answered.")]
_NO_VALIDATION = NotFoundError("you have no validation of this id")
_ONE_VALIDATION = problems(NO_KEY, _NO_VALIDATION, STRANGE, NO_STORE)
_NO_ROUNDS = InvalidRequestError.at("/aggregations", "Input should be greater than or equal to 1")
_USED_KEY = ConflictError("this Idempotency-Key was used with another body")


@router.post(
    "",
    status_code=202,
    operation_id="createValidation",
    summary="Start an experiment",
    response_model=ValidationOut,
    responses={202: {"headers": LOCATION}, **problems(*JSON_BODY, _USED_KEY, _NO_ROUNDS, NO_ROOM)},
    openapi_extra=reads(ValidationRequest),
)
async def create_validation(request: Request, owner: Owner, key: IdempotencyKey = "") -> Response:
    """Train for real under several schemes, in a worker; `Location` says where to look for the result."""
    return await process(request, owner, service.create, key, first=check_room_for)


@router.get(
    "",
    operation_id="listValidations",
    summary="List validations",
    response_model_exclude_none=True,
    responses=problems(NO_KEY, EMPTY_PAGE, NO_STORE),
)
async def list_validations(request: Request, owner: Owner, page: PageAsked) -> ValidationList:
    """The caller's validations, oldest first."""
    return await look_up(request, service.list_validations, owner, page)


@router.get(
    "/{validation_id}",
    operation_id="getValidation",
    summary="Where a validation stands, with its curves so far",
    response_model_exclude_none=True,
    responses=_ONE_VALIDATION,
)
async def get_validation(request: Request, owner: Owner, validation_id: ValidationId) -> ValidationOut:
    """State, progress, estimated time left, and each scheme's results so far."""
    request.app.state.service.unread.check()
    return await look_up(request, service.show, owner, validation_id)


@router.post(
    "/{validation_id}/cancel",
    operation_id="cancelValidation",
    summary="Cancel a validation at its next round",
    response_model_exclude_none=True,
    responses=_ONE_VALIDATION,
)
async def cancel_validation(request: Request, owner: Owner, validation_id: ValidationId) -> ValidationOut:
    """What has been measured stays. One that has ended stays as it is."""
    return await look_up(request, service.cancel, owner, validation_id)


@router.delete(
    "/{validation_id}",
    status_code=204,
    operation_id="deleteValidation",
    summary="Forget a validation that has ended",
    responses=problems(NO_KEY, _NO_VALIDATION, service.is_open(), STRANGE, NO_STORE),
)
async def delete_validation(request: Request, owner: Owner, validation_id: ValidationId) -> None:
    """Delete it with all that was measured."""
    await look_up(request, service.delete, owner, validation_id)


@router.get(
    "/{validation_id}/events",
    operation_id="followValidation",
    summary="Follow a validation as server-sent events",
    response_class=StreamingResponse,
    responses={**described("`state` and `round`"), **_ONE_VALIDATION},
)
async def follow_validation(
    request: Request, owner: Owner, validation_id: ValidationId, last_event_id: LastEvent = 0
) -> Response:
    """From the event after `Last-Event-ID` on; ends with the validation, or after a while: then come back."""
    if not await look_up(request, service.open_stream, owner, validation_id, last_event_id):
        return Response(status_code=204)  # what makes browsers stop coming back
    return service.follow(request.app.state.service, validation_id, last_event_id)
