"""Bodies are bounded by what their headers announce, while they arrive, and while they are decompressed."""

import asyncio
import gzip
import tracemalloc
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from typing import Any

import pytest
from starlette.requests import Request

from app.http.body import Limit, OpenBodies, check_headers, decoded, read_body
from app.http.problems import (
    MalformedError,
    OverloadedError,
    SlowBodyError,
    TooLargeError,
    TooManyRequestsError,
    UnsupportedTypeError,
)
from app.settings import Settings
from app.wire.budget import MemoryBudget

JSON = "application/json"


def limit(size: int) -> Limit:
    return Limit(size, "a test")


def free(_size: int) -> None:
    """Every chunk may arrive."""


def request(headers: dict[str, str] | None = None, chunks: Iterable[bytes | None] = ()) -> Request:
    """A request whose body arrives in these chunks; at None the caller hangs up, at the end it says no more."""
    waiting = list(chunks)

    async def receive() -> dict[str, Any]:
        if not waiting:
            await asyncio.Event().wait()
        chunk = waiting.pop(0)
        if chunk is None:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": chunk, "more_body": chunk != b""}

    raw = [(name.encode(), value.encode()) for name, value in (headers or {}).items()]
    return Request({"type": "http", "method": "POST", "headers": raw}, receive)


@pytest.mark.parametrize("content_type", [JSON, "Application/JSON; charset=utf-8", 'application/json;charset="UTF-8"'])
def test_the_encoding_is_found(content_type: str) -> None:
    headers = {"content-type": content_type, "content-length": "10"}
    assert check_headers(request(headers), JSON, limit(10)) == "identity"
    assert check_headers(request({"content-type": JSON}), JSON, limit(7)) == "identity"
    compressed = {"content-type": JSON, "content-encoding": " GZIP ", "content-length": "3"}
    assert check_headers(request(compressed), JSON, limit(7)) == "gzip"


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
        check_headers(request(headers), JSON, limit(10))
    assert refused.value.headers in ({"Accept": JSON}, {"Accept-Encoding": "gzip"})


@pytest.mark.parametrize("length", ["11", "9" * 5000])
def test_a_length_over_the_limit_is_refused_unread(length: str) -> None:
    with pytest.raises(TooLargeError, match="10 bytes"):
        check_headers(request({"content-type": JSON, "content-length": length}), JSON, limit(10))


def test_a_body_is_joined_and_may_fill_the_limit() -> None:
    assert asyncio.run(read_body(request(chunks=[b"abc", b"de", b""]), limit(5), 60, free)) == b"abcde"
    with pytest.raises(TooLargeError):
        asyncio.run(read_body(request(chunks=[b"abc", b"def", b""]), limit(5), 60, free))


def test_a_body_that_stalls_or_is_cut_short_is_refused() -> None:
    with pytest.raises(SlowBodyError, match="0.01 seconds"):
        asyncio.run(read_body(request(chunks=[b"abc"]), limit(5), 0.01, free))
    with pytest.raises(MalformedError, match="cut short"):
        asyncio.run(read_body(request(chunks=[b"abc", None]), limit(5), 60, free))


def test_gzip_may_have_several_members() -> None:
    both = gzip.compress(b"one, ") + gzip.compress(b"two")
    assert decoded(both, "gzip", limit(8)) == b"one, two"
    assert decoded(b"as it is", "identity", limit(0)) == b"as it is"


def test_a_small_file_that_grows_is_stopped_at_the_limit() -> None:
    bomb = gzip.compress(bytes(50_000_000))
    assert len(bomb) < 100_000
    with pytest.raises(TooLargeError):
        decoded(bomb, "gzip", limit(10_000_000))
    with pytest.raises(TooLargeError):  # each member is small, together they are not
        decoded(gzip.compress(b"abc") * 2, "gzip", limit(5))


@pytest.mark.parametrize("damage", [lambda _: b"", lambda _: b"no gzip", lambda raw: raw[:-1], lambda raw: raw + b"x"])
def test_what_is_no_whole_gzip_stream_is_malformed(damage: Callable[[bytes], bytes]) -> None:
    with pytest.raises(MalformedError):
        decoded(damage(gzip.compress(b"abc")), "gzip", limit(100))


def test_ten_thousand_members_are_read_and_more_are_refused_without_copies() -> None:
    empty = gzip.compress(b"")
    assert decoded(empty * 9_999 + gzip.compress(b"end"), "gzip", limit(10)) == b"end"
    endless = empty * 100_000
    tracemalloc.start()
    with pytest.raises(MalformedError, match="10000 members"):
        decoded(endless, "gzip", limit(10))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < len(endless) / 2  # what is left is not copied for each member


def test_a_body_has_the_limit_of_its_kind_and_never_more_than_a_callers_share() -> None:
    settings = Settings(memory_budget=40 * 2**20, body_limit=5 * 2**20)
    assert Limit.of(settings, is_json=True) == Limit(5 * 2**20, "FEDSIFT_BODY_LIMIT")
    assert Limit.of(settings, is_json=False) == Limit(10 * 2**20, "a quarter of FEDSIFT_MEMORY_BUDGET")
    assert Limit.of(Settings(memory_budget=4 * 2**20), is_json=True).size == 2**20
    assert "a quarter of FEDSIFT_MEMORY_BUDGET" in Limit.of(settings, is_json=False).passed().detail


def test_decompressed_bytes_are_charged_as_they_appear() -> None:
    memory = MemoryBudget(1_000_000, 1)
    bomb = gzip.compress(bytes(50_000_000))
    with memory.account():
        with pytest.raises(TooLargeError, match="FEDSIFT_MEMORY_BUDGET"):
            decoded(bomb, "gzip", limit(10**9))
        assert 900_000 < memory.held <= 1_000_000
    assert memory.held == 0


def test_open_bodies_hold_what_has_arrived_and_nothing_else() -> None:
    memory = MemoryBudget(1000, 7)
    bodies = OpenBodies(1000, 7)
    with memory.account(), bodies.arriving("one") as arrived:
        assert memory.held == 0
        arrived(200)
        assert memory.held == 200
        with memory.account(), bodies.arriving("one") as second:
            second(50)
            with pytest.raises(TooManyRequestsError, match="250 bytes together") as refused:
                second(1)
            assert refused.value.headers == {"Retry-After": "7"}
            with memory.account(), bodies.arriving("two") as other:
                other(250)
        assert memory.held == 200
        arrived(50)
    assert memory.held == 0
    with memory.account(), bodies.arriving("one") as arrived:
        arrived(250)


def test_a_caller_has_a_share_of_the_open_bodies() -> None:
    bodies = OpenBodies(1000, 7)
    with ExitStack() as stack:
        for _ in range(128):
            stack.enter_context(bodies.arriving("one"))
        with pytest.raises(TooManyRequestsError, match="128"), bodies.arriving("one"):
            pass
        for caller in "abc":
            for _ in range(128):
                stack.enter_context(bodies.arriving(caller))
        with pytest.raises(OverloadedError, match="512"), bodies.arriving("d"):
            pass
    with bodies.arriving("one"), bodies.arriving("d"):
        pass
