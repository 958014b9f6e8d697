"""Middleware for every request: id, known host, security headers, log line, metrics, problems for failures."""

import asyncio
import logging
import time

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.http.compressed import compressed
from app.http.handlers import internal_error, problem_response
from app.http.hosts import ServedHosts, misdirected
from app.http.security import SECURITY_HEADERS
from app.http.unread import UnreadAnswers, in_pieces
from app.telemetry.context import begin_request
from app.telemetry.metrics import Metrics

__all__ = ["Surroundings"]

_log = logging.getLogger("fedsift.access")
_faults = logging.getLogger("fedsift")

# How much of a refused, unread body is read and thrown away, so that the caller can read the answer.
_DISCARD_BYTES = 256 * 2**20
_DISCARD_SECONDS = 0.5


class Surroundings:
    """Plain ASGI middleware: Starlette's base class would cost a task and a queue for each request."""

    def __init__(self, app: ASGIApp, metrics: Metrics, hosts: ServedHosts, unread: UnreadAnswers) -> None:
        self._app = app
        self._metrics = metrics
        self._hosts = hosts
        self._unread = unread

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begin = time.perf_counter()
        given = next((value for name, value in scope["headers"] if name == b"x-request-id"), b"")
        identity = begin_request(given.decode("latin-1"))
        status = 0
        body_read = False

        answered = compressed(scope, send)

        async def receive_noting() -> Message:
            nonlocal body_read
            message = await receive()
            if message["type"] != "http.request" or not message.get("more_body", False):
                body_read = True
            return message

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers["x-request-id"] = identity
                for name, value in SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
                if status >= 400 and not body_read:
                    await _discard(receive_noting)
            await in_pieces(message, answered, self._unread)

        with self._metrics.tracing.request(scope) as traced:
            try:
                known = self._hosts.serve(scope["headers"])
                answer = self._app if known else problem_response(misdirected().problem())
                await answer(scope, receive_noting, send_with_headers)
            except Exception:
                _faults.exception("unforeseen failure")
                if status == 0:
                    await internal_error()(scope, receive, send_with_headers)
            finally:
                traced.update(self._note(scope, status, time.perf_counter() - begin))

    def _note(self, scope: Scope, status: int, seconds: float) -> dict[str, str | int]:
        """Count and log the request; returns what a trace says of it."""
        # The route's template, not the path: ids do not belong in metrics.
        route = getattr(scope.get("route"), "path_format", "(none)")
        method = scope["method"] if scope["method"] in _METHODS else "(other)"
        self._metrics.request(method, route, status, seconds)
        fields = {"method": method, "route": route, "status": status, "ms": round(1000 * seconds, 2)}
        _log.info("request", extra={"fields": fields})
        return {"http.request.method": method, "http.route": route, "http.response.status_code": status}


_METHODS = frozenset({"GET", "POST", "DELETE", "HEAD", "OPTIONS", "PUT", "PATCH"})


async def _discard(receive: Receive) -> None:
    size = 0
    try:
        async with asyncio.timeout(_DISCARD_SECONDS):
            while size < _DISCARD_BYTES:
                message = await receive()
                size += len(message.get("body", b""))
                if message["type"] != "http.request" or not message.get("more_body", False):
                    return
    except TimeoutError:
        return
