"""The OpenAPI document. Routes read bodies as bytes, so FastAPI does not know their schemas; they are added here."""

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from app.comparisons.request import ComparisonRequest
from app.http.described import SCHEMA, problems
from app.http.security import read_only, two_names
from app.imports.schemas import ImportRequest
from app.networks.schemas import NetworkRequest, PatchRequest
from app.openapi.examples import add_examples
from app.openapi.names import name_plainly
from app.plans.request import PlanRequest
from app.runs.request import AggregationRequest, RunRequest
from app.validations.request import ValidationRequest
from app.webhooks.schemas import WebhookRequest
from app.wire.problem import Problem

__all__ = ["TAGS", "document"]

TAGS = [
    {"name": "plans", "description": "Choose devices and plan their offloading in one call."},
    {"name": "runs", "description": "The closed loop: plan period by period with observed gradients."},
    {"name": "networks", "description": "Networks and fleets that are stored once, patched, and planned for by id."},
    {"name": "validations", "description": "Experiments as durable jobs: train for real and compare."},
    {"name": "webhooks", "description": "Be told what happens to plans, runs and validations."},
    {"name": "operations", "description": "Health, readiness, metrics."},
]
_BODIES: tuple[type[BaseModel], ...] = (
    PlanRequest,
    RunRequest,
    AggregationRequest,
    NetworkRequest,
    PatchRequest,
    ImportRequest,
    ComparisonRequest,
    ValidationRequest,
    WebhookRequest,
)


def document(app: FastAPI) -> dict[str, Any]:
    """Build the document once."""
    if app.openapi_schema is None:
        built = get_openapi(
            title=app.title, version=app.version, description=app.description, routes=app.routes, tags=TAGS
        )
        schemas = built.setdefault("components", {}).setdefault("schemas", {})
        _, bodies = models_json_schema([(model, "validation") for model in _BODIES], ref_template=SCHEMA)
        _, answers = models_json_schema([(Problem, "serialization")], ref_template=SCHEMA)
        built["components"]["schemas"] = dict(sorted({**bodies["$defs"], **answers["$defs"], **schemas}.items()))
        _with_refusals(built)
        if not app.state.service.settings.needs_key:
            _without_keys(built)
        _without_framework_errors(built)
        named = name_plainly(built)
        add_examples(named)
        app.openapi_schema = named
    return app.openapi_schema


def _with_refusals(built: dict[str, Any]) -> None:
    """Where a key is needed, it may be one that may not do this."""
    for path in built["paths"].values():
        for method, operation in path.items():
            if "401" in operation["responses"] and "operations" not in operation["tags"]:
                example = two_names() if method == "get" else read_only(method.upper())
                found = operation["responses"] | {str(status): told for status, told in problems(example).items()}
                operation["responses"] = dict(sorted(found.items()))


def _without_keys(built: dict[str, Any]) -> None:
    """Leave API keys out where none is required."""
    built["components"].pop("securitySchemes", None)
    for path in built["paths"].values():
        for operation in path.values():
            operation.pop("security", None)
            for status in ("401", "403"):
                operation["responses"].pop(status, None)


def _without_framework_errors(built: dict[str, Any]) -> None:
    """Remove the 422 that FastAPI adds to every operation with parameters: here those that answer it describe it."""
    made_up = ("HTTPValidationError", "ValidationError")
    for path in built["paths"].values():
        for operation in path.values():
            if "HTTPValidationError" in str(operation["responses"].get("422", "")):
                del operation["responses"]["422"]
    for name in made_up:
        built["components"]["schemas"].pop(name, None)
