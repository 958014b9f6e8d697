"""Server-sent events: numbered, resumable with `Last-Event-ID`, and only so many followers at once."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Header
from fastapi.responses import StreamingResponse

from app.http.gate import Service
from app.http.problems import OverloadedError
from app.store.database import StoreError

__all__ = ["MOST_EVENTS", "Event", "LastEvent", "check_followers", "described", "stream"]

LastEvent = Annotated[
    int, Header(alias="Last-Event-ID", ge=0, lt=2**53, description="The number of the last event seen.")
]
# How many are looked up at once.
MOST_EVENTS = 500
_LOOK_SECONDS = 0.25
_COMMENT_SECONDS = 10.0


@dataclass(frozen=True)
class Event:
    """A numbered event with a JSON object as text; nothing comes after the `last` one."""

    number: int
    kind: str
    body: str
    last: bool = False


def described(kinds: str) -> dict[int | str, dict[str, Any]]:
    """What the OpenAPI document says of a stream with these kinds of events."""
    told = f"Server-sent events {kinds}, with ids counted from 1 and a JSON object as data."
    return {
        # Without a schema: generators would read the whole text as an object, and checkers each event as a string.
        200: {"description": told, "content": {"text/event-stream": {"schema": {}}}},
        204: {"description": "It has ended, and there is nothing to tell after that event."},
    }


def check_followers(service: Service) -> None:
    """Refuse one follower too many.

    Raises:
        OverloadedError: too many follow something already.
    """
    if service.streams.total >= service.settings.event_streams:
        retry = {"Retry-After": str(service.settings.retry_after)}
        raise OverloadedError("too many followers; try again later", headers=retry)


def stream(service: Service, look: Callable[[int], Sequence[Event]], after: int) -> StreamingResponse:
    """The events after the number `after`, until the last one or until the time is over; `look` finds up to 500."""
    events = _follow(service, look, after)
    return StreamingResponse(events, media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})


async def _follow(service: Service, look: Callable[[int], Sequence[Event]], after: int) -> AsyncIterator[bytes]:
    service.streams.add(1)
    deadline = time.monotonic() + service.settings.stream_seconds
    quiet_since = time.monotonic()
    try:
        yield b"retry: 1000\n\n"
        while service.closing_since is None and time.monotonic() < deadline:
            try:
                events = await service.executors.followers.run(look, after)
            except StoreError:
                return  # the follower comes back with the last number it has seen
            for event in events:
                yield f"id: {event.number}\nevent: {event.kind}\ndata: {event.body}\n\n".encode()
                after = event.number
                if event.last:
                    return
            if events:
                quiet_since = time.monotonic()
            elif time.monotonic() - quiet_since > _COMMENT_SECONDS:
                quiet_since = time.monotonic()
                yield b": still here\n\n"
            if len(events) < MOST_EVENTS:
                await asyncio.sleep(_LOOK_SECONDS)
    finally:
        service.streams.add(-1)
