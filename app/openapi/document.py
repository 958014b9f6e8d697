"""The OpenAPI document: bodies are read raw, so their schemas are added here."""

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from app.http.problems import (
    PROBLEM_JSON,
    ConflictError,
    InvalidRequestError,
    MalformedError,
    NotFoundError,
    OverloadedError,
    ServiceError,
    SlowBodyError,
    TooLargeError,
    TooManyRequestsError,
    UnauthorisedError,
    UnsupportedTypeError,
)
from app.openapi.examples import add_examples
from app.openapi.names import PREFIX, name_plainly
from app.plans.request import PlanRequest, RunRequest
from app.runs.schemas import AggregationRequest
from app.validations.request import ValidationRequest
from app.wire.problem import Problem

__all__ = ["TAGS", "document", "problems", "reads"]

TAGS = [
    {"name": "plans", "description": "Choose devices and plan their offloading in one call."},
    {"name": "runs", "description": "The closed loop: plan period by period with observed gradients."},
    {"name": "validations", "description": "Experiments as durable jobs: train for real and compare."},
    {"name": "operations", "description": "Health, readiness, metrics."},
]
_TEMPLATE = PREFIX + "{model}"
_BODIES: tuple[type[BaseModel], ...] = (PlanRequest, RunRequest, AggregationRequest, ValidationRequest)
_TITLES = {
    400: "Malformed",
    401: "No known API key",
    404: "Not found",
    408: "The body came too slowly",
    409: "Conflict",
    413: "Too large",
    415: "Unsupported type",
    422: "Wrong or infeasible",
    429: "Too many requests for this key",
    503: "Full, or shutting down",
}
_EXAMPLES: tuple[ServiceError, ...] = (
    MalformedError("the body is not valid JSON"),
    UnauthorisedError("send a known key in the header X-API-Key"),
    NotFoundError("there is no such run"),
    SlowBodyError("the body did not arrive within 30 s"),
    ConflictError("the next aggregation is 2"),
    TooLargeError("the body has more than 67108864 bytes"),
    UnsupportedTypeError("send application/json"),
    InvalidRequestError.at("/sample_size", "must be at most the number of devices, 3"),
    TooManyRequestsError("32 requests of this key are under way"),
    OverloadedError("64 requests are waiting"),
)


def reads(model: type[BaseModel]) -> dict[str, Any]:
    """The operation reads this model from a JSON body."""
    schema = {"$ref": _TEMPLATE.format(model=model.__name__)}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The operation may answer with these problems."""
    schema = {"$ref": _TEMPLATE.format(model=Problem.__name__)}
    examples = {one.status.value: one.problem().model_dump(exclude_defaults=True) for one in _EXAMPLES}
    retry = {"Retry-After": {"schema": {"type": "integer"}, "description": "Seconds."}}
    return {
        status: {
            "description": _TITLES[status],
            "content": {PROBLEM_JSON: {"schema": schema, "example": examples[status]}},
        }
        | ({"headers": retry} if status in {429, 503} else {})
        for status in statuses
    }


def document(app: FastAPI) -> dict[str, Any]:
    """Build the document once."""
    if app.openapi_schema is None:
        built = get_openapi(
            title=app.title, version=app.version, description=app.description, routes=app.routes, tags=TAGS
        )
        schemas = built.setdefault("components", {}).setdefault("schemas", {})
        _, bodies = models_json_schema([(model, "validation") for model in _BODIES], ref_template=_TEMPLATE)
        _, answers = models_json_schema([(Problem, "serialization")], ref_template=_TEMPLATE)
        built["components"]["schemas"] = dict(sorted({**bodies["$defs"], **answers["$defs"], **schemas}.items()))
        if not app.state.service.settings.needs_key:
            _without_keys(built)
        named = name_plainly(built)
        add_examples(named)
        app.openapi_schema = named
    return app.openapi_schema


def _without_keys(built: dict[str, Any]) -> None:
    """Say nothing of keys where none is asked for."""
    built["components"].pop("securitySchemes", None)
    for path in built["paths"].values():
        for operation in path.values():
            operation.pop("security", None)
            operation["responses"].pop("401", None)
