"""Bodies are bounded by what their headers announce, while they arrive, and while they are decompressed."""

import asyncio
import gzip
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from starlette.requests import Request

from app.http.body import check_headers, decoded, read_body
from app.http.problems import MalformedError, SlowBodyError, TooLargeError, UnsupportedTypeError

JSON = "application/json"


def request(headers: dict[str, str] | None = None, chunks: Iterable[bytes | None] = ()) -> Request:
    """A request whose body arrives in these chunks; at None the caller hangs up, at the end it says no more."""
    waiting = list(chunks)

    async def receive() -> dict[str, Any]:
        if not waiting:
            await asyncio.sleep(3600)
        chunk = waiting.pop(0)
        if chunk is None:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": chunk, "more_body": chunk != b""}

    raw = [(name.encode(), value.encode()) for name, value in (headers or {}).items()]
    return Request({"type": "http", "method": "POST", "headers": raw}, receive)


@pytest.mark.parametrize("content_type", [JSON, "Application/JSON; charset=utf-8", 'application/json;charset="UTF-8"'])
def test_the_announced_length_bounds_a_plain_body(content_type: str) -> None:
    headers = {"content-type": content_type, "content-length": "10"}
    assert check_headers(request(headers), JSON, 10) == ("identity", 10)


def test_without_a_length_or_compressed_the_limit_is_what_it_can_come_to() -> None:
    assert check_headers(request({"content-type": JSON}), JSON, 7) == ("identity", 7)
    compressed = {"content-type": JSON, "content-encoding": " GZIP ", "content-length": "3"}
    assert check_headers(request(compressed), JSON, 7) == ("gzip", 7)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"content-type": "text/plain"},
        {"content-type": f"{JSON}; charset=latin-1"},
        {"content-type": JSON, "content-encoding": "br"},
    ],
)
def test_other_types_and_encodings_are_refused_and_told_what_is_read(headers: dict[str, str]) -> None:
    with pytest.raises(UnsupportedTypeError) as refused:
        check_headers(request(headers), JSON, 10)
    assert refused.value.headers in ({"Accept": JSON}, {"Accept-Encoding": "gzip"})


@pytest.mark.parametrize("length", ["11", "9" * 5000])
def test_a_length_over_the_limit_is_refused_unread(length: str) -> None:
    with pytest.raises(TooLargeError, match="10 bytes"):
        check_headers(request({"content-type": JSON, "content-length": length}), JSON, 10)


def test_a_body_is_joined_and_may_fill_the_limit() -> None:
    assert asyncio.run(read_body(request(chunks=[b"abc", b"de", b""]), 5, 60)) == b"abcde"
    with pytest.raises(TooLargeError):
        asyncio.run(read_body(request(chunks=[b"abc", b"def", b""]), 5, 60))


def test_a_body_that_stalls_or_is_cut_short_is_refused() -> None:
    with pytest.raises(SlowBodyError, match="0.01 seconds"):
        asyncio.run(read_body(request(chunks=[b"abc"]), 5, 0.01))
    with pytest.raises(MalformedError, match="cut short"):
        asyncio.run(read_body(request(chunks=[b"abc", None]), 5, 60))


def test_gzip_may_have_several_members() -> None:
    both = gzip.compress(b"one, ") + gzip.compress(b"two")
    assert decoded(both, "gzip", 8) == b"one, two"
    assert decoded(b"as it is", "identity", 0) == b"as it is"


def test_a_small_file_that_grows_is_stopped_at_the_limit() -> None:
    bomb = gzip.compress(bytes(50_000_000))
    assert len(bomb) < 100_000
    with pytest.raises(TooLargeError):
        decoded(bomb, "gzip", 10_000_000)
    with pytest.raises(TooLargeError):  # each member is small, together they are not
        decoded(gzip.compress(b"abc") * 2, "gzip", 5)


@pytest.mark.parametrize("damage", [lambda _: b"", lambda _: b"no gzip", lambda raw: raw[:-1], lambda raw: raw + b"x"])
def test_what_is_no_whole_gzip_stream_is_malformed(damage: Callable[[bytes], bytes]) -> None:
    with pytest.raises(MalformedError):
        decoded(damage(gzip.compress(b"abc")), "gzip", 100)
