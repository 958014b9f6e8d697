"""The work behind /v1/validations: accept, show, list, cancel, follow."""

import hashlib
import json
from typing import Any

from starlette.responses import Response

from app.datasets.service import check_data_set
from app.http.answers import encoded, find_made, moment, new_id, page, same_body
from app.http.events import MOST_EVENTS, Event, check_followers, stream
from app.http.gate import JSON, Service, Unwritten
from app.http.problems import (
    ConflictError,
    InvalidRequestError,
    NotFoundError,
    OverloadedError,
    ServiceError,
    TooManyRequestsError,
)
from app.store.about import KeyTakenError, Made
from app.store.paging import Page
from app.telemetry.context import request_id
from app.validations.answer import (
    FailureOut,
    ValidationList,
    ValidationOut,
    ValidationState,
    ValidationSummary,
)
from app.validations.records import EventRecord, ValidationRecord
from app.validations.request import ValidationRequest
from app.validations.results import estimated_seconds, scheme_results
from app.validations.sources import Material, material
from app.validations.store import Accepted, NewPart, NewValidation, ValidationStore
from app.wire.arrays import read_plainly
from app.wire.base import given
from fedl_sim.contract import ContractError, Work
from solver import DEFAULT_TRANSFER

__all__ = ["cancel", "create", "delete", "follow", "is_open", "list_validations", "open_stream", "show"]

_ENDED = frozenset({"succeeded", "failed", "cancelled"})


def create(service: Service, owner: str, key: str, body: bytes) -> Response | Unwritten:
    """Accept a validation; the same key with the same body finds the one it made before."""
    request = read_plainly(ValidationRequest, body)
    request.check_names()
    canonical = request.model_dump_json(exclude_unset=True).encode()
    digest = hashlib.sha256(canonical).hexdigest()
    # Before the source is resolved: the plan or run may have been deleted since.
    made = find_made(service, owner, key)
    if made is not None:
        return _answer(service, owner, Accepted(made.id, made.digest, new=False), digest)
    found = material(service, owner, request)
    settings = service.settings
    add = ValidationStore(service.store).adding(
        NewValidation(
            id=new_id("val"),
            owner=owner,
            about=request.about(key, digest, request.asked(found.stored)),
            request=canonical,
            work=_work(request, found),
            parts=_parts(service, request, found),
            request_id=request_id(),
            traceparent=service.metrics.tracing.parent(),
        ),
        most_open=settings.validation_queue,
        most_open_of_owner=settings.key_validations if settings.needs_key else settings.validation_queue,
        most_bytes=settings.key_bytes,
    )

    def write() -> Response:
        check_data_set(service, request.data_set)
        try:
            accepted = add()
        except KeyTakenError:  # by another process; it is found now
            accepted = add()
        return _accepted(service, owner, accepted, digest)

    return Unwritten(write)


def _accepted(service: Service, owner: str, accepted: Accepted, digest: str) -> Response:
    """What is answered when a validation was written, or was not.

    Raises:
        OverloadedError: too many validations wait or run.
        TooManyRequestsError: as many of this key.
    """
    settings = service.settings
    retry = {"Retry-After": str(settings.retry_after)}
    if accepted.full == "owner" and settings.needs_key:
        detail = f"this key has {settings.key_validations} validations waiting or running; try again later"
        raise TooManyRequestsError(detail, headers=retry)
    if accepted.full:
        detail = f"{settings.validation_queue} validations are waiting or running; try again later"
        raise OverloadedError(detail, headers=retry)
    return _answer(service, owner, accepted, digest)


def _answer(service: Service, owner: str, accepted: Accepted, digest: str) -> Response:
    """The validation that exists for a request now, if it was made for the same body."""
    same_body(Made(accepted.id, accepted.digest), digest)
    headers = {"Location": f"/v1/validations/{accepted.id}"} | ({} if accepted.new else {"Idempotent-Replay": "true"})
    return Response(encoded(service, show(service, owner, accepted.id)), 202, headers, JSON)


def _work(request: ValidationRequest, found: Material) -> Work:
    """What all parts have in common."""
    return Work(
        source=found.network(),
        data_set=request.data_set,
        model=request.model,
        labels_per_device=request.labels_per_device,
        sample_size=found.sample_size,
        aggregations=found.aggregations,
        aggregation_period=found.aggregation_period,
        learning_rate=request.learning_rate,
        batch_size=request.batch_size,
        target=request.target,
        tolerance=request.tolerance,
        plan=found.plan,
        transfer=DEFAULT_TRANSFER.value if found.plan is None else found.plan.transfer,
    )


def _parts(service: Service, request: ValidationRequest, found: Material) -> tuple[NewPart, ...]:
    """Seed by seed, so that every scheme has its first curve early."""
    rounds = found.aggregations + 1
    count = len(request.seeds) * sum(request.draws_of(scheme) for scheme in request.schemes)
    settings = service.settings
    if count > settings.validation_parts:
        raise InvalidRequestError.at(
            "/seeds", f"{count} runs are asked for, at most {settings.validation_parts} may be"
        )
    if count * rounds > settings.validation_rounds:
        rule = f"{count} runs of {rounds} rounds are asked for, at most {settings.validation_rounds} rounds may be"
        raise InvalidRequestError.at("/aggregations", rule)
    return tuple(
        NewPart(scheme, seed, draw, rounds)
        for seed in request.seeds
        for scheme in request.schemes
        for draw in range(request.draws_of(scheme))
    )


def show(service: Service, owner: str, validation_id: str) -> ValidationOut:
    """Where a validation stands, with the curves so far."""
    try:
        found = ValidationStore(service.store).standing(owner, validation_id)
        if found is None:
            raise _not_found()
        outline = found.outline
        schemes = scheme_results(found.parts, found.rounds, target=outline.target, tolerance=outline.tolerance)
    except ContractError as error:
        raise ServiceError(f"what is stored of this validation is damaged: {error}") from error
    left = estimated_seconds(found.parts, found.rounds) if found.record.state == "running" else None
    return ValidationOut(
        **_summary(found.record),
        **given(seconds_left=left),
        parts=len(found.parts),
        parts_done=sum(part.state == "done" for part in found.parts),
        schemes=schemes,
        data_set=outline.data_set,
        sample_size=outline.sample_size,
        aggregations=outline.aggregations,
        aggregation_period=outline.aggregation_period,
        target=outline.target,
    )


def list_validations(service: Service, owner: str, asked: Page) -> ValidationList:
    """A page of the owner's validations."""
    shown, more = page(ValidationStore(service.store).page(owner, asked), asked.limit)
    return ValidationList(validations=[ValidationSummary(**_summary(one)) for one in shown], **given(next=more))


def cancel(service: Service, owner: str, validation_id: str) -> ValidationOut:
    """Ask for a stop at the next round. An ended validation stays as it is."""
    if ValidationStore(service.store).cancel(owner, validation_id) is None:
        raise _not_found()
    return show(service, owner, validation_id)


def delete(service: Service, owner: str, validation_id: str) -> None:
    """Forget an ended validation with all that was measured.

    Raises:
        ConflictError: it waits or runs.
    """
    store = ValidationStore(service.store)
    if not store.erase(owner, validation_id):
        _find(service, owner, validation_id)
        raise is_open()


def is_open() -> ConflictError:
    """A validation that waits or runs cannot be forgotten: workers have parts of it."""
    return ConflictError("the validation has not ended; cancel it first")


def open_stream(service: Service, owner: str, validation_id: str, after: int) -> bool:
    """Whether there is, or will be, anything to tell after this event.

    Raises:
        OverloadedError: too many follow something already.
    """
    record = _find(service, owner, validation_id)
    if record.state in _ENDED and after >= record.last_event:
        return False
    check_followers(service)
    return True


def follow(service: Service, validation_id: str, after: int) -> Response:
    """Server-sent events from the one after `after` on, until the validation ends or the time is over."""

    def look(last: int) -> list[Event]:
        found = ValidationStore(service.store).events(validation_id, last, MOST_EVENTS)
        return [Event(one.number, one.kind, one.body, last=_is_end(one)) for one in found]

    return stream(service, look, after)


def _is_end(event: EventRecord) -> bool:
    return event.kind == "state" and json.loads(event.body)["state"] in _ENDED


def _find(service: Service, owner: str, validation_id: str) -> ValidationRecord:
    record = ValidationStore(service.store).find(owner, validation_id)
    if record is None:
        raise _not_found()
    return record


def _not_found() -> NotFoundError:
    return NotFoundError("you have no validation of this id")


def _summary(record: ValidationRecord) -> dict[str, Any]:
    """The fields of `ValidationSummary`."""
    state: ValidationState = record.state
    if record.cancelled and state in {"queued", "running"}:
        state = "cancelling"
    return given(
        id=record.id,
        state=state,
        created_at=moment(record.created_at),
        updated_at=moment(record.updated_at),
        started_at=None if record.started_at is None else moment(record.started_at),
        finished_at=None if record.finished_at is None else moment(record.finished_at),
        progress=record.rounds_done / record.rounds,
        failure=None if record.failure is None else FailureOut(**json.loads(record.failure)),
        **record.about.told(),
    )
