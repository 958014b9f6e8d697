"""Every error becomes a problem document here, and only here."""

import logging
from collections.abc import Iterable, Sequence
from functools import partial
from http import HTTPStatus

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from app.http.problems import (
    PROBLEM_JSON,
    DiskLowError,
    InvalidRequestError,
    NotFoundError,
    QuotaExceededError,
    ServiceError,
    StoreUnavailableError,
    problem_type,
)
from app.store import StoreError
from app.store.database import DiskFullError
from app.store.usage import QuotaError
from app.telemetry.context import request_id
from app.wire.problem import ErrorItem, Problem

__all__ = ["add_handlers", "internal_error", "no_such_path", "problem_response", "store_unavailable"]

_log = logging.getLogger("fedsift")


def problem_response(problem: Problem, headers: dict[str, str] | None = None) -> Response:
    """The problem as a response; empty fields are left out."""
    text = problem.model_copy(update={"request_id": request_id()}).model_dump_json(exclude_defaults=True)
    return Response(text, problem.status, headers, PROBLEM_JSON)


def internal_error() -> Response:
    """The response to an unexpected failure; the logs have the details under the same request id."""
    return problem_response(ServiceError("the fault is ours; the logs know more").problem())


async def _service_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, ServiceError)  # noqa: S101 - how Starlette calls handlers
    return problem_response(error.problem(), error.headers)


def store_unavailable() -> StoreUnavailableError:
    """The database does not answer."""
    return StoreUnavailableError("runs and keys cannot be reached; try again later")


def _allowed(routes: Sequence[APIRoute], path: str) -> str:
    """All methods of a path; the framework names those of its first route only."""
    methods = {method for route in routes if route.path_regex.match(path) for method in route.methods or ()}
    return ", ".join(sorted(methods))


async def _http_error(routes: Sequence[APIRoute], request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101
    status = HTTPStatus(error.status_code)
    if status is HTTPStatus.NOT_FOUND:
        return problem_response(no_such_path().problem())
    name = status.phrase.lower().replace(" ", "-")
    problem = Problem(type=problem_type(name), title=status.phrase, status=status.value, detail=status.description)
    headers = dict(error.headers or {})
    if status is HTTPStatus.METHOD_NOT_ALLOWED:
        headers["Allow"] = _allowed(routes, request.url.path) or headers.get("Allow", "")
    return problem_response(problem, headers)


async def _parameter_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101
    found = error.errors()
    if any(one["loc"][0] == "path" for one in found):
        return problem_response(no_such_path().problem())
    return problem_response(InvalidRequestError([_parameter(one["loc"], one["msg"]) for one in found]).problem())


def _parameter(loc: tuple[int | str, ...], message: str) -> ErrorItem:
    if loc[0] == "header":
        return ErrorItem(header=str(loc[1]), detail=message)
    return ErrorItem(parameter=str(loc[1]), detail=message)


def no_such_path() -> NotFoundError:
    """There is no such path, or a part of it is no id, or no number, that anything could have."""
    return NotFoundError("nothing can have this path")


async def _store_error(request: Request, error: Exception) -> Response:
    _log.error("store unavailable", exc_info=error)
    retry = request.app.state.service.settings.retry_after
    return problem_response(store_unavailable().problem(), {"Retry-After": str(retry)})


async def _quota_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, QuotaError)  # noqa: S101
    return problem_response(QuotaExceededError(error.used, error.more, error.limit).problem())


async def _disk_error(request: Request, _: Exception) -> Response:
    return problem_response(DiskLowError(request.app.state.service.settings.disk_reserve).problem())


def add_handlers(app: FastAPI, routers: Iterable[APIRouter]) -> None:
    """Register all of them; the routers tell which methods a path has."""
    routes = [route for router in routers for route in router.routes if isinstance(route, APIRoute)]
    app.add_exception_handler(ServiceError, _service_error)
    app.add_exception_handler(HTTPException, partial(_http_error, routes))
    app.add_exception_handler(RequestValidationError, _parameter_error)
    app.add_exception_handler(StoreError, _store_error)
    app.add_exception_handler(DiskFullError, _disk_error)
    app.add_exception_handler(QuotaError, _quota_error)
