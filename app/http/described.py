"""What the OpenAPI document says of an operation: the body it reads and the problems it may answer with.

An operation names the errors themselves, so that the examples in the document have the texts which callers get.
"""

from typing import Any

from pydantic import BaseModel

from app.http.body import Limit, slow_body, unsupported_type
from app.http.gate import JSON
from app.http.handlers import store_unavailable
from app.http.pool import key_is_busy, queue_is_full
from app.http.problems import PROBLEM_JSON, MalformedError, QuotaExceededError, ServiceError
from app.http.security import unknown_key
from app.settings import Settings
from app.wire.problem import Problem

__all__ = ["JSON_BODY", "NO_KEY", "NO_ROOM", "NO_STORE", "SCHEMA", "body_problems", "problems", "reads"]

SCHEMA = "#/components/schemas/{model}"
_DEFAULTS = Settings.model_construct()
_DESCRIPTIONS = {
    400: "Malformed",
    401: "No known API key",
    403: "Not allowed",
    404: "Not found",
    408: "The body came too slowly",
    409: "Conflict",
    413: "Too large, or more memory than the service has for requests",
    415: "Unsupported type",
    422: "Wrong or infeasible",
    429: "Too many requests for this key",
    503: "Full, other requests hold the memory, or shutting down",
    507: "No room to keep more",
}
_RETRY = {"Retry-After": {"schema": {"type": "integer"}, "description": "Seconds."}}

NO_KEY = unknown_key()
NO_STORE = store_unavailable()
NO_ROOM = QuotaExceededError(_DEFAULTS.key_bytes - 1000, 4000, _DEFAULTS.key_bytes)


def body_problems(malformed: str, content_type: str = JSON) -> tuple[ServiceError, ...]:
    """The problems of an operation that reads a body and computes; `malformed` is what it says of a broken body."""
    return (
        MalformedError(malformed),
        NO_KEY,
        slow_body(_DEFAULTS.body_timeout),
        Limit.of(_DEFAULTS, is_json=content_type == JSON).passed(),
        unsupported_type(content_type),
        key_is_busy(_DEFAULTS.key_concurrency),
        queue_is_full(),
    )


JSON_BODY = body_problems("the body is not valid JSON: trailing comma at line 3 column 1")


def reads(model: type[BaseModel]) -> dict[str, Any]:
    """The operation reads this model from a JSON body."""
    schema = {"$ref": SCHEMA.format(model=model.__name__)}
    return {"requestBody": {"required": True, "content": {JSON: {"schema": schema}}}}


def problems(*examples: ServiceError) -> dict[int | str, dict[str, Any]]:
    """The operation may answer with these problems, one example for each status."""
    return {
        error.status.value: _response(error.status.value, error.problem())
        for error in sorted(examples, key=lambda error: error.status)
    }


def _response(status: int, problem: Problem) -> dict[str, Any]:
    schema = {"$ref": SCHEMA.format(model=Problem.__name__)}
    example = problem.model_dump(exclude_defaults=True)
    described = {
        "description": _DESCRIPTIONS[status],
        "content": {PROBLEM_JSON: {"schema": schema, "example": example}},
    }
    return described | ({"headers": _RETRY} if status in {429, 503} else {})
