"""Answers that clients take compressed: the same bytes, fewer of them on the wire, and never where it would harm."""

import asyncio
import gzip
import zlib
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.types import Message

from app.http.compressed import LEAST, compressed
from tests.support.requests import random_request

START: Message = {"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]}


def sent(bodies: list[bytes], start: Message = START, accept: bytes = b"gzip", method: str = "GET") -> list[Message]:
    """What goes out when an answer has these bodies."""
    out: list[Message] = []

    async def send(message: Message) -> None:
        out.append(message)

    async def answer() -> None:
        sending = compressed({"type": "http", "method": method, "headers": [(b"accept-encoding", accept)]}, send)
        await sending(start)
        for number, body in enumerate(bodies, start=1):
            await sending({"type": "http.response.body", "body": body, "more_body": number < len(bodies)})

    asyncio.run(answer())
    return out


def headers(messages: list[Message]) -> dict[bytes, bytes]:
    return dict(messages[0]["headers"])


def test_pieces_make_up_one_stream() -> None:
    pieces = [b"a" * 100, b"", b"b" * 300_000, b"c" * 5]
    out = sent(pieces)
    assert headers(out)[b"content-encoding"] == b"gzip"
    assert headers(out)[b"vary"] == b"accept-encoding"
    packed = b"".join(message["body"] for message in out[1:])
    assert gzip.decompress(packed) == b"".join(pieces)
    assert [message["more_body"] for message in out[1:]][-1] is False


@pytest.mark.parametrize("accept", [b"br", b"gzip;q=0", b"identity", b"", b"xgzip"])
def test_only_those_who_accept_it_get_it(accept: bytes) -> None:
    assert sent([b"a" * 10_000], accept=accept)[1]["body"] == b"a" * 10_000
    assert sent([b"a" * 10_000], accept=b"br, GZIP; q=0.5")[1]["body"] != b"a" * 10_000


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (b"content-type", b"text/event-stream; charset=utf-8"),
        (b"content-encoding", b"br"),
        (b"etag", b'"1"'),
        (b"content-length", b"%d" % (LEAST - 1)),
    ],
)
def test_where_it_would_harm_or_not_pay_it_is_left(name: bytes, value: bytes) -> None:
    start = {**START, "headers": [(name, value)]}
    assert sent([b"a" * 10_000], start) == [
        start,
        {"type": "http.response.body", "body": b"a" * 10_000, "more_body": False},
    ]


def test_plans_kept_plans_and_archives_are_the_same_compressed(client: httpx.Client, tmp_path: Path) -> None:
    request = random_request(2, 60, sample_size=10, horizon=20)
    made = client.post("/v1/plans", json={**request, "keep": True})
    place = made.headers["location"]
    assert made.headers["content-encoding"] == "gzip"
    plain = client.get(place, headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert client.get(place).content == plain.content == made.content
    with client.stream("GET", place) as stream:
        packed = b"".join(stream.iter_raw())
    assert len(packed) < len(plain.content) / 2
    assert zlib.decompress(packed, 16 + zlib.MAX_WBITS) == plain.content
    assert "content-encoding" not in client.get("/healthz").headers
    refused: dict[str, Any] = client.post("/v1/plans", json={}).json()
    assert refused["status"] == 422
