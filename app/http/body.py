"""Request bodies, limited in size before they are parsed, compressed or not."""

import asyncio
import zlib

from starlette.requests import ClientDisconnect, Request

from app.http.problems import MalformedError, SlowBodyError, TooLargeError, UnsupportedTypeError

__all__ = ["check_headers", "decoded", "read_body", "slow_body", "too_large", "unsupported_type"]

_CHUNK = 2**20


def check_headers(request: Request, content_type: str, limit: int) -> tuple[str, int]:
    """Check the headers; returns the content encoding and the largest size that the body can have, in bytes.

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
    if not announced:
        return encoding, limit
    if len(announced) > 15 or int(announced) > limit:
        raise too_large(limit)
    return encoding, int(announced) if encoding == "identity" else limit


async def read_body(request: Request, limit: int, timeout: float) -> bytes:
    """The raw body.

    Raises:
        TooLargeError: it goes on past the limit.
        SlowBodyError: it does not arrive in time.
    """
    chunks: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(timeout):
            async for chunk in request.stream():
                size += len(chunk)
                if size > limit:
                    raise too_large(limit)
                chunks.append(chunk)
    except TimeoutError:
        raise slow_body(timeout) from None
    except ClientDisconnect:
        raise MalformedError("the body was cut short") from None
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def decoded(raw: bytes, encoding: str, limit: int) -> bytes:
    """The decompressed body; it stops at the limit.

    Raises:
        TooLargeError: it is larger than the limit when decompressed.
        MalformedError: it is not a complete gzip stream.
    """
    if encoding == "identity":
        return raw
    parts: list[bytes] = []
    size = 0
    rest = raw
    while True:  # a gzip file may have several members
        member = zlib.decompressobj(wbits=31)
        while not member.eof:
            try:
                part = member.decompress(rest, _CHUNK)
            except zlib.error:
                raise MalformedError("the body is not a valid gzip stream") from None
            rest = member.unconsumed_tail
            size += len(part)
            if size > limit:
                raise too_large(limit)
            parts.append(part)
            if not part and not rest and not member.eof:
                raise MalformedError("the gzip stream is cut short")
        rest = member.unused_data
        if not rest:
            return b"".join(parts)


def unsupported_type(content_type: str) -> UnsupportedTypeError:
    """The body has another type than this one."""
    return UnsupportedTypeError(f"send {content_type}", headers={"Accept": content_type})


def slow_body(timeout: float) -> SlowBodyError:
    """The body did not arrive within the timeout, in seconds."""
    return SlowBodyError(f"the body must arrive within {timeout:g} seconds")


def too_large(limit: int) -> TooLargeError:
    """The body has more bytes than the limit."""
    return TooLargeError(f"a body may have {limit} bytes, compressed and decompressed")
