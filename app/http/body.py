"""Request bodies, limited in size before they are parsed, compressed or not. Memory is charged as bytes arrive."""

import asyncio
import io
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from starlette.requests import ClientDisconnect, Request

from app.http.problems import (
    MalformedError,
    OverloadedError,
    SlowBodyError,
    TooLargeError,
    TooManyRequestsError,
    UnsupportedTypeError,
)
from app.ledger import Kind, Ledger
from app.settings import Settings
from app.wire.budget import SETTING, charge

__all__ = ["Limit", "OpenBodies", "check_headers", "decoded", "read_body", "slow_body", "unsupported_type"]

# Decompression reads this much at a time and writes at most as much: zlib copies what it has not read yet.
_CHUNK = 2**16
# More members than any writer of gzip makes of a body within the limit.
_MEMBERS = 10_000
# Bodies that may arrive at once. An open body without bytes costs some ten kilobytes.
_OPEN = 512
# One caller may have this part of them, and this part of the memory for their bytes: a quarter.
_SHARE = 4


@dataclass(frozen=True)
class Limit:
    """The largest body in bytes, and the setting that says so."""

    size: int
    setting: str

    @classmethod
    def of(cls, settings: Settings, *, is_json: bool) -> "Limit":
        """JSON has a limit of its own; no body may have more than a caller's share of the memory."""
        share = settings.memory_budget // _SHARE
        if is_json and settings.body_limit <= share:
            return cls(settings.body_limit, "FEDSIFT_BODY_LIMIT")
        return cls(share, f"a quarter of {SETTING}")

    def passed(self) -> TooLargeError:
        """The body has more bytes than this."""
        return TooLargeError(f"a body may have {self.size} bytes, compressed and decompressed ({self.setting})")


class OpenBodies:
    """Bodies that are still arriving. One caller, a key or an address, has a share."""

    def __init__(self, memory: int, retry_after: int, ledger: Ledger | None = None) -> None:
        ledger = ledger or Ledger()
        self._share = memory // _SHARE
        self._retry = {"Retry-After": str(retry_after)}
        self._open = ledger.tally("bodies")
        self._callers = ledger.callers()

    @contextmanager
    def arriving(self, caller: str) -> Iterator[Callable[[int], None]]:
        """Count an open body of this caller; the block calls the function with the bytes of each chunk.

        Raises:
            TooManyRequestsError: this caller has its share of open bodies, or of their bytes.
            OverloadedError: too many bodies are open.
        """
        if not self._callers.take(caller, Kind.BODIES, 1, _OPEN // _SHARE):
            detail = f"{_OPEN // _SHARE} of your bodies are arriving; try again later"
            raise TooManyRequestsError(detail, headers=self._retry)
        if not self._open.take(1, _OPEN):
            self._callers.give(caller, Kind.BODIES, 1)
            raise OverloadedError(f"{_OPEN} bodies are arriving; try again later", headers=self._retry)
        arrived = 0

        def take(size: int) -> None:
            nonlocal arrived
            if not self._callers.take(caller, Kind.BYTES, size, self._share):
                detail = f"your bodies that are arriving may have {self._share} bytes together (a quarter of {SETTING})"
                raise TooManyRequestsError(f"{detail}; try again later", headers=self._retry)
            arrived += size
            charge(size, "the body")

        try:
            yield take
        finally:
            self._open.add(-1)
            self._callers.give(caller, Kind.BODIES, 1)
            self._callers.give(caller, Kind.BYTES, arrived)


def check_headers(request: Request, content_type: str, limit: Limit) -> str:
    """Check the headers; returns the content encoding.

    Raises:
        UnsupportedTypeError: another content type or encoding.
        TooLargeError: more bytes are announced than are accepted.
    """
    given, _, parameters = request.headers.get("content-type", "").lower().partition(";")
    charset = parameters.strip()
    if given.strip() != content_type or charset not in {"", "charset=utf-8", 'charset="utf-8"'}:
        raise unsupported_type(content_type)
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in {"identity", "gzip"}:
        raise UnsupportedTypeError("send no content encoding, or gzip", headers={"Accept-Encoding": "gzip"})
    announced = request.headers.get("content-length", "")
    if announced and (len(announced) > 15 or int(announced) > limit.size):
        raise limit.passed()
    return encoding


async def read_body(request: Request, limit: Limit, timeout: float, arrived: Callable[[int], None]) -> bytes:
    """The raw body; `arrived` is told the size of each chunk and may refuse it.

    Raises:
        TooLargeError: it goes on past the limit.
        SlowBodyError: it does not arrive in time.
    """
    body = io.BytesIO()  # `getvalue` hands out its buffer without a copy
    try:
        async with asyncio.timeout(timeout):
            async for chunk in request.stream():
                if body.tell() + len(chunk) > limit.size:
                    raise limit.passed()
                arrived(len(chunk))
                body.write(chunk)
    except TimeoutError:
        raise slow_body(timeout) from None
    except ClientDisconnect:
        raise MalformedError("the body was cut short") from None
    return body.getvalue()


def decoded(raw: bytes, encoding: str, limit: Limit) -> bytes:
    """The decompressed body; it stops at the limit, and its memory is charged as it grows.

    Raises:
        TooLargeError: it is larger than the limit when decompressed.
        MalformedError: it is not a complete gzip stream.
    """
    if encoding == "identity":
        return raw
    body = io.BytesIO()
    left = memoryview(raw)
    for _ in range(_MEMBERS):
        left = left[_expand_member(left, body, limit) :]
        if not left:
            return body.getvalue()
    raise MalformedError(f"the gzip stream has more than {_MEMBERS} members")


def _expand_member(raw: memoryview, body: io.BytesIO, limit: Limit) -> int:
    """Append the first gzip member to the body; returns how many bytes it takes."""
    member = zlib.decompressobj(wbits=31)
    end = 0
    rest = b""
    while not member.eof:
        if not rest:
            rest = bytes(raw[end : end + _CHUNK])
            end += len(rest)
        try:
            part = member.decompress(rest, _CHUNK)
        except zlib.error:
            raise MalformedError("the body is not a valid gzip stream") from None
        if not part and not rest:
            raise MalformedError("the gzip stream is cut short")
        rest = member.unconsumed_tail
        if body.tell() + len(part) > limit.size:
            raise limit.passed()
        charge(len(part), "the decompressed body")
        body.write(part)
    return end - len(member.unused_data)


def unsupported_type(content_type: str) -> UnsupportedTypeError:
    """The body has another type than this one."""
    return UnsupportedTypeError(f"send {content_type}", headers={"Accept": content_type})


def slow_body(timeout: float) -> SlowBodyError:
    """The body did not arrive within the timeout, in seconds."""
    return SlowBodyError(f"the body must arrive within {timeout:g} seconds")
