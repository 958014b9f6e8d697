"""Answers: new ids, models as JSON, and pages of lists."""

import secrets
from collections.abc import Sequence
from time import perf_counter
from typing import Protocol, TypeVar

from pydantic import BaseModel

from app.http.gate import Service

__all__ = ["encoded", "new_id", "page"]


class _Identified(Protocol):
    @property
    def id(self) -> str: ...


T = TypeVar("T", bound=_Identified)


def new_id(kind: str) -> str:
    """An id nobody can guess: 128 random bits."""
    return f"{kind}_{secrets.token_hex(16)}"


def encoded(service: Service, answer: BaseModel) -> bytes:
    """The answer as JSON; absent fields are left out."""
    begin = perf_counter()
    text = answer.__pydantic_serializer__.to_json(answer, exclude_none=True)
    service.metrics.stages({"encode": perf_counter() - begin})
    return text


def page(found: Sequence[T], limit: int) -> tuple[list[T], str | None]:
    """The first `limit` of what was found, and, if there are more, the id after which the next page begins."""
    shown = list(found[:limit])
    return shown, shown[-1].id if len(found) > limit else None
