"""/v1/validations: experiments as durable jobs."""

from typing import Annotated, Any

from fastapi import APIRouter, Header, Path, Query, Request
from fastapi.responses import Response, StreamingResponse

from app.http.described import JSON_BODY, NO_KEY, NO_ROOM, NO_STORE, problems, reads
from app.http.gate import look_up, process
from app.http.problems import ConflictError, InvalidRequestError, NotFoundError
from app.http.security import Owner
from app.validations import service
from app.validations.answer import ValidationList, ValidationOut
from app.validations.request import ValidationRequest
from app.wire.parameters import KNOWN_PARAMETERS, STRANGE

__all__ = ["router"]

router = APIRouter(prefix="/v1/validations", tags=["validations"], dependencies=KNOWN_PARAMETERS)

ValidationId = Annotated[str, Path(pattern="^val_[0-9a-f]{32}$", description="As POST /v1/validations answered.")]
Limit = Annotated[int, Query(ge=1, le=1000, description="Validations on a page.")]
After = Annotated[str, Query(pattern="^(val_[0-9a-f]{32})?$", description="`next` of the page before.")]
Key = Annotated[
    str,
    Header(
        alias="Idempotency-Key",
        pattern="^[!-~]{0,255}$",
        description="Sent again with the same body, it finds the validation it made before.",
    ),
]
Erase = Annotated[bool, Query(description="Delete it with all that was measured, if it has ended.")]
LastEvent = Annotated[
    int, Header(alias="Last-Event-ID", ge=0, lt=2**53, description="The number of the last event seen.")
]

_PLACE = {"Location": {"schema": {"type": "string"}, "description": "Where the validation can be followed."}}
# Of each event, as OpenAPI before 3.2 has it.
_EVENT = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "description": "Its number."},
        "event": {"type": "string", "enum": ["state", "round"]},
        "data": {"type": "string", "description": "A JSON object."},
        "retry": {"type": "integer"},
    },
}
_STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Events `state` and `round`, numbered from 1; the data of each is a JSON object.",
        "content": {"text/event-stream": {"schema": _EVENT}},
    },
    204: {"description": "It has ended, and there is nothing to tell after that event."},
}
_NO_VALIDATION = NotFoundError("you have no validation of this id")
_ONE_VALIDATION = problems(NO_KEY, _NO_VALIDATION, STRANGE, NO_STORE)
_EMPTY_PAGE = InvalidRequestError.of_parameter("limit", "Input should be greater than or equal to 1")
_NO_ROUNDS = InvalidRequestError.at("/aggregations", "Input should be greater than or equal to 1")
_USED_KEY = ConflictError("this Idempotency-Key was used with another body")


@router.post(
    "",
    status_code=202,
    operation_id="createValidation",
    summary="Start an experiment",
    response_model=ValidationOut,
    responses={202: {"headers": _PLACE}, **problems(*JSON_BODY, _USED_KEY, _NO_ROUNDS, NO_ROOM)},
    openapi_extra=reads(ValidationRequest),
)
async def create_validation(request: Request, owner: Owner, key: Key = "") -> Response:
    """Train for real under several schemes, in a worker; `Location` says where to look for the result."""
    return await process(request, owner, service.create, key, first=service.find_known)


@router.get(
    "",
    operation_id="listValidations",
    summary="List validations",
    response_model_exclude_none=True,
    responses=problems(NO_KEY, _EMPTY_PAGE, NO_STORE),
)
async def list_validations(request: Request, owner: Owner, limit: Limit = 100, after: After = "") -> ValidationList:
    """The caller's validations, oldest first."""
    return await look_up(request, service.list_validations, owner, limit, after or None)


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


@router.delete(
    "/{validation_id}",
    operation_id="cancelValidation",
    summary="Cancel a validation at its next round, or erase it",
    response_model_exclude_none=True,
    responses=_ONE_VALIDATION,
)
async def cancel_validation(
    request: Request, owner: Owner, validation_id: ValidationId, *, erase: Erase = False
) -> ValidationOut:
    """What has been measured stays, unless an ended validation is to be erased."""
    return await look_up(request, service.cancel, owner, validation_id, erase)


@router.get(
    "/{validation_id}/events",
    operation_id="followValidation",
    summary="Follow a validation as server-sent events",
    response_class=StreamingResponse,
    responses={**_STREAM, **_ONE_VALIDATION},
)
async def follow_validation(
    request: Request, owner: Owner, validation_id: ValidationId, last_event_id: LastEvent = 0
) -> Response:
    """From the event after `Last-Event-ID` on; ends with the validation, or after a while: then come back."""
    if not await look_up(request, service.open_stream, owner, validation_id, last_event_id):
        return Response(status_code=204)  # what makes browsers stop coming back
    stream = service.follow(request.app.state.service, validation_id, last_event_id)
    return StreamingResponse(stream, media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})
