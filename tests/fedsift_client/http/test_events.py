"""Event streams: each event once, in order, over broken connections."""

import asyncio
import json

import pytest

from fedsift_client import (
    AsyncClient,
    BusyError,
    Client,
    Event,
    NotFoundError,
    Patience,
    ProtocolError,
    UnreachableError,
)
from tests.support.unruly import Answer, Drop, Stall, unruly_service

QUICK = Patience(10.0, first_wait=0.01, longest_wait=0.02)
STREAM = (("Content-Type", "text/event-stream"),)
OPEN = Answer(200, json.dumps({"id": "val_1", "state": "queued", "progress": 0}).encode())


def told(*numbers: int, last: str = "") -> bytes:
    """The events of these numbers, after what a stream begins with; `last` is the state that it ends in."""
    lines = ["retry: 1000\n\n: still here\n\n"]
    lines += [f'id: {n}\nevent: round\ndata: {{"progress": {n / 10}}}\n\n' for n in numbers]
    if last:
        lines.append(f'id: {numbers[-1] + 1}\nevent: state\ndata: {{"state": "{last}"}}\n\n')
    return "".join(lines).encode()


SCRIPT = (
    OPEN,
    Answer(200, told(1, 2), STREAM, cut=True),
    Drop(),
    Stall(20),
    Answer(503),
    Answer(200, told(3) + b"id: 4\nevent: rou", STREAM, cut=True),
    Answer(200, told(4, last="succeeded"), STREAM),
)


def check(seen: list[Event], asked: list[str]) -> None:
    assert [event.number for event in seen] == [1, 2, 3, 4, 5]
    assert seen[-1].body == {"state": "succeeded"}
    assert seen[-1].is_last
    assert asked == ["0", "2", "2", "2", "2", "3"]


def test_a_stream_goes_on_where_it_broke_off() -> None:
    with unruly_service(*SCRIPT) as service, Client(service.url, timeout=0.5, patience=QUICK) as client:
        seen = list(client.validation("val_1").events())
    check(seen, [one.headers["last-event-id"] for one in service.seen[1:]])


def test_it_does_with_asyncio_too() -> None:
    async def follow(url: str) -> list[Event]:
        async with AsyncClient(url, timeout=0.5, patience=QUICK) as client:
            return [event async for event in (await client.validation("val_1")).events()]

    with unruly_service(*SCRIPT) as service:
        seen = asyncio.run(follow(service.url))
    check(seen, [one.headers["last-event-id"] for one in service.seen[1:]])


def test_a_stream_that_has_nothing_more_to_tell_ends() -> None:
    with unruly_service(OPEN, Answer(204, b"")) as service, Client(service.url) as client:
        assert list(client.validation("val_1").events(after=7)) == []
        assert service.seen[1].headers["last-event-id"] == "7"


def test_a_caller_may_leave() -> None:
    with unruly_service(OPEN, Answer(200, told(1, 2, 3), STREAM), Answer()) as service, Client(service.url) as client:
        for event in client.validation("val_1").events():
            if event.number == 2:
                break
        assert client.samplers() == {}


def test_patience_ends() -> None:
    patience = Patience(0.3, first_wait=0.05, longest_wait=0.1)
    with unruly_service(OPEN, *[Drop()] * 50) as service, Client(service.url, patience=patience) as client:
        with pytest.raises(UnreachableError):
            list(client.validation("val_1").events())
        assert 3 <= len(service.seen) < 20


def test_a_stream_that_stays_busy_is_told_so() -> None:
    patience = Patience(0.3, first_wait=0.05, longest_wait=0.1)
    with unruly_service(OPEN, *[Answer(503)] * 50) as service, Client(service.url, patience=patience) as client:
        validation = client.validation("val_1")
        with pytest.raises(BusyError):
            list(validation.events())


def test_refusals_and_strange_events_are_told() -> None:
    strange = Answer(200, b"data: {}\n\n", STREAM)
    with unruly_service(OPEN, Answer(404), strange) as service, Client(service.url) as client:
        validation = client.validation("val_1")
        with pytest.raises(NotFoundError):
            list(validation.events())
        with pytest.raises(ProtocolError):
            list(validation.events())
