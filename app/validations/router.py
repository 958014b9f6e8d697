"""/v1/validations: experiments as durable jobs."""

import asyncio
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Header, Path, Query, Request
from fastapi.responses import Response, StreamingResponse

from app.http.gate import Service, process
from app.http.security import Owner
from app.openapi.document import problems, reads
from app.validations import service as validations
from app.validations.answer import ValidationList, ValidationOut
from app.validations.request import ValidationRequest

__all__ = ["router"]

router = APIRouter(prefix="/v1/validations", tags=["validations"])

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


@router.post(
    "",
    status_code=202,
    operation_id="createValidation",
    summary="Start an experiment",
    response_model=ValidationOut,
    responses={202: {"headers": _PLACE}, **problems(400, 401, 408, 409, 413, 415, 422, 429, 503)},
    openapi_extra=reads(ValidationRequest),
)
async def create_validation(request: Request, owner: Owner, key: Key = "") -> Response:
    """Train for real under several schemes, in a worker; `Location` says where to look for the result."""
    service: Service = request.app.state.service
    return await process(request, owner, partial(validations.create, service, owner, key))


@router.get(
    "",
    operation_id="listValidations",
    summary="List validations",
    response_model_exclude_none=True,
    responses=problems(401, 422, 503),
)
async def list_validations(request: Request, owner: Owner, limit: Limit = 100, after: After = "") -> ValidationList:
    """The caller's validations, oldest first."""
    service: Service = request.app.state.service
    return await asyncio.to_thread(validations.list_validations, service, owner, limit, after or None)


@router.get(
    "/{validation_id}",
    operation_id="getValidation",
    summary="Where a validation stands, with its curves so far",
    response_model_exclude_none=True,
    responses=problems(401, 404, 422, 503),
)
async def get_validation(request: Request, owner: Owner, validation_id: ValidationId) -> ValidationOut:
    """State, progress, estimated time left, and each scheme's results so far."""
    return await asyncio.to_thread(validations.show, request.app.state.service, owner, validation_id)


@router.delete(
    "/{validation_id}",
    operation_id="cancelValidation",
    summary="Cancel a validation at its next round",
    response_model_exclude_none=True,
    responses=problems(401, 404, 422, 503),
)
async def cancel_validation(request: Request, owner: Owner, validation_id: ValidationId) -> ValidationOut:
    """What has been measured stays; an ended validation stays as it is."""
    return await asyncio.to_thread(validations.cancel, request.app.state.service, owner, validation_id)


@router.get(
    "/{validation_id}/events",
    operation_id="followValidation",
    summary="Follow a validation as server-sent events",
    response_class=StreamingResponse,
    responses={**_STREAM, **problems(401, 404, 422, 503)},
)
async def follow_validation(
    request: Request, owner: Owner, validation_id: ValidationId, last_event_id: LastEvent = 0
) -> Response:
    """From the event after `Last-Event-ID` on; ends with the validation, or after a while: then come back."""
    service: Service = request.app.state.service
    if not await asyncio.to_thread(validations.open_stream, service, owner, validation_id, last_event_id):
        return Response(status_code=204)  # what makes browsers stop coming back
    stream = validations.follow(service, validation_id, last_event_id)
    return StreamingResponse(stream, media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})
