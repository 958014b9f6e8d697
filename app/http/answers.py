"""Answers: new ids, models as JSON, pages of lists, and what an idempotency key made before."""

import hashlib
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime
from time import perf_counter
from typing import Protocol, TypeVar

from pydantic import BaseModel
from starlette.responses import Response

from app.http.gate import Service, check_room
from app.http.problems import ConflictError
from app.store.about import Made, made_by
from app.store.paging import cursor

__all__ = ["check_room_for", "digest_of", "encoded", "find_made", "moment", "new_id", "page", "replayed", "same_body"]


class _Dated(Protocol):
    @property
    def id(self) -> str: ...
    @property
    def created_at(self) -> float: ...


T = TypeVar("T", bound=_Dated)


def new_id(kind: str) -> str:
    """An id nobody can guess: 128 random bits."""
    return f"{kind}_{secrets.token_hex(16)}"


def moment(seconds: float) -> datetime:
    """A time of the store, as answers tell it."""
    return datetime.fromtimestamp(seconds, UTC)


def encoded(service: Service, answer: BaseModel) -> bytes:
    """The answer as JSON; absent fields are left out."""
    begin = perf_counter()
    text = answer.__pydantic_serializer__.to_json(answer, exclude_none=True)
    service.metrics.stages({"encode": perf_counter() - begin})
    return text


def page(found: Sequence[T], limit: int) -> tuple[list[T], str | None]:
    """The first `limit` of what was found, and, if there are more, the place after which the next page begins."""
    shown = list(found[:limit])
    return shown, cursor(shown[-1].created_at, shown[-1].id) if len(found) > limit else None


def digest_of(operation: str, body: bytes) -> str:
    """What tells a request from another one with the same idempotency key."""
    return hashlib.sha256(operation.encode() + b"\n" + body).hexdigest()


def find_made(service: Service, owner: str, key: str) -> Made | None:
    """What the owner's idempotency key made before."""
    if not key:
        return None
    with service.store.read() as t:
        return made_by(t, owner, key)


def check_room_for(service: Service, owner: str, key: str) -> None:
    """Refuse something new for which there is no room, before it is parsed; what the key made before needs none."""
    if find_made(service, owner, key) is None:
        check_room(service, owner)


def same_body(made: Made | None, digest: str) -> Made | None:
    """What the key made before, if anything.

    Raises:
        ConflictError: that was asked for with another body.
    """
    if made is not None and made.digest != digest:
        raise ConflictError("this Idempotency-Key was used with another body")
    return made


def replayed(answer: Response, status: int, location: str) -> Response:
    """An answer that was given before, once more."""
    answer.status_code = status
    answer.headers.update({"Location": location, "Idempotent-Replay": "true"})
    return answer
