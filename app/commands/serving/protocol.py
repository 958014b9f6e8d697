"""HTTP/1.1 connections with limits: the size and the time of a head, idle time, unread answers, open connections.

uvicorn's protocol on httptools has none of these, but for an idle time, which a body that ends after its answer
switches off. Bodies are limited where they are read, in `app.http.body`.
"""

import asyncio
from functools import cache
from typing import Any

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from app.http.problems import (
    PROBLEM_JSON,
    HeadTooLargeError,
    MalformedError,
    OverloadedError,
    ServiceError,
    SlowHeadError,
)
from app.settings import Settings

__all__ = ["LimitedProtocol"]

# Requests that a client may send on one connection before the first is answered. Each costs a few kilobytes, and one
# read of the socket can have ten thousand of them.
_PIPELINED = 16

# At a shutdown idle connections stay open for so long: a request may be on its way. It is answered, as the last one.
_FAREWELL_SECONDS = 1.0

_settings = cache(Settings)


class LimitedProtocol(HttpToolsProtocol):
    """One connection. It looks at itself a few times in each timeout; the path of a request sets no timer."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._limits = _settings()
        limits = self._limits
        self._interval = min(1.0, limits.head_timeout / 4, limits.idle_timeout / 4, limits.send_timeout / 4)
        self._fault: ServiceError | None = None
        self._watch: asyncio.TimerHandle | None = None
        # Since when the client keeps us waiting: for a head, for the rest of a body, or for the next request.
        self.since = self.loop.time()
        self._idle = False  # between two requests, without a byte of the next one
        self._in_body = False
        self._unparsed = 0  # bytes since the last head, piece of a body or end of a message
        self._unread_since: float | None = None  # the client does not take what was written
        self._closing_since: float | None = None
        self._leaving = False  # the server shuts down

    @property
    def waiting(self) -> bool:
        """Whether no request is under way: the server waits for the client."""
        return self.cycle is None or self.cycle.response_complete  # type: ignore[redundant-expr]  # None at first

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Make room if there are too many connections."""
        super().connection_made(transport)
        self._watch = self.loop.call_later(self._interval, self._look)
        if len(self.connections) > self._limits.connections_of_a_process and not self._made_room():
            retry = {"Retry-After": str(self._limits.retry_after)}
            self._refuse(OverloadedError("too many connections are open; try again later", headers=retry))

    def shutdown(self) -> None:
        """Answer what is under way or arrives in the next moment with `Connection: close`."""
        self._leaving = True
        if self.waiting:
            self.loop.call_later(_FAREWELL_SECONDS, self._leave)
        else:
            super().shutdown()

    def _leave(self) -> None:
        if self.waiting:
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop looking."""
        if self._watch is not None:
            self._watch.cancel()
        super().connection_lost(exc)

    def _made_room(self) -> bool:
        """End the connection that has kept the server waiting longest: a head that is honest arrives at once."""
        others = [
            one
            for one in self.connections
            if isinstance(one, LimitedProtocol) and one is not self and one.waiting and not one.transport.is_closing()
        ]
        if not others:
            return False
        min(others, key=lambda one: one.since).transport.abort()
        return True

    def data_received(self, data: bytes) -> None:
        """Count what the parser has taken without a result, such as an endless header or endless trailers."""
        if self._idle:
            self._idle = False
            self.since = self.loop.time()
        self._unparsed += len(data)
        super().data_received(data)
        if self._unparsed > self._limits.head_limit:
            self._refuse(_too_large(self._limits.head_limit))

    def on_headers_complete(self) -> None:
        """Raises: what the parser reports as an error, which `send_400_response` answers."""
        limit = self._limits.head_limit
        if len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers) > limit:
            self._fault = _too_large(limit)
            raise self._fault
        if len(self.pipeline) >= _PIPELINED:
            self._fault = MalformedError(f"at most {_PIPELINED} requests may wait on one connection")
            raise self._fault
        self._unparsed = 0
        self._in_body = True
        super().on_headers_complete()
        if self._leaving:
            self.cycle.keep_alive = False

    def on_body(self, body: bytes) -> None:
        """A piece of the body."""
        self._unparsed = 0
        super().on_body(body)

    def on_message_begin(self) -> None:
        """The next head."""
        self._idle = False
        super().on_message_begin()

    def on_message_complete(self) -> None:
        """The end of a request."""
        self._unparsed = 0
        self._in_body = False
        self._idle = True
        self.since = self.loop.time()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """The end of an answer; there may be more of its request's body to come."""
        self.since = self.loop.time()
        super().on_response_complete()

    def pause_writing(self) -> None:
        """The client reads more slowly than the answer is written."""
        self._unread_since = self.loop.time()
        super().pause_writing()

    def resume_writing(self) -> None:
        """It has read."""
        self._unread_since = None
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn's words
        """Answer what the parser refused."""
        self._refuse(self._fault or MalformedError("the request is not valid HTTP"))

    def _refuse(self, error: ServiceError) -> None:
        """Answer with a problem, unless another answer has begun, and end the connection."""
        if self.transport.is_closing():
            return
        if not self.waiting and self.cycle.response_started:
            self.transport.abort()
            return
        body = error.problem().model_dump_json(exclude_defaults=True).encode()
        headers = {
            "content-type": PROBLEM_JSON,
            "content-length": str(len(body)),
            "connection": "close",
            **error.headers,
        }
        lines = [f"HTTP/1.1 {error.status.value} {error.status.phrase}", *(f"{n}: {v}" for n, v in headers.items())]
        self.transport.write("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body)
        self.transport.close()

    def _look(self) -> None:
        """End the connection if the client has kept the server waiting for too long."""
        limits = self._limits
        now = self.loop.time()
        self._watch = self.loop.call_later(self._interval, self._look)
        if self.transport.is_closing():
            # The transport closes once everything is written, which a client that reads nothing would never allow.
            self._closing_since = self._closing_since or now
            if now - self._closing_since > limits.send_timeout:
                self.transport.abort()
        elif self._unread_since is not None:
            if now - self._unread_since > limits.send_timeout:
                self.transport.abort()
        elif not self.waiting:
            return
        elif self._idle:
            if now - self.since > limits.idle_timeout:
                self.transport.close()
        elif now - self.since > limits.head_timeout:
            if self._unparsed and not self._in_body:
                self._refuse(SlowHeadError(f"the head must arrive within {limits.head_timeout:g} seconds"))
            else:
                self.transport.close()


def _too_large(limit: int) -> HeadTooLargeError:
    return HeadTooLargeError(f"the request line and the headers may have {limit} bytes")
