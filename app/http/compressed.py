"""Answers compressed with gzip for clients that accept it, piece by piece while they are sent.

A plan as JSON is some three times smaller so. Pieces are compressed in threads, so that a large answer does not hold up
the event loop, and never more than a piece is held twice.
"""

import asyncio
import zlib

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import Message, Scope, Send

__all__ = ["LEAST", "compressed"]

# Smaller answers fit into a packet or two anyway.
LEAST = 1400
# The fastest level: on numbers the others gain little.
_LEVEL = 1
_GZIP = 16 + zlib.MAX_WBITS
# What takes longer than this to compress, about a millisecond, goes to a thread.
_AT_ONCE = 64 * 1024


def compressed(scope: Scope, send: Send) -> Send:
    """A `send` that compresses the answer to this request, if the client accepts that and it pays."""
    return _Compressing(send) if _accepts_gzip(Headers(scope=scope)) and scope["method"] != "HEAD" else send


def _accepts_gzip(headers: Headers) -> bool:
    for one in ",".join(headers.getlist("accept-encoding")).split(","):
        name, _, weight = one.replace(" ", "").lower().partition(";")
        if name == "gzip":
            return weight not in {"q=0", "q=0.0", "q=0.00", "q=0.000"}
    return False


def _pays(message: Message) -> bool:
    """Not for files with a tag, which names their bytes, nor for events, which must not wait for more of them."""
    headers = Headers(raw=message["headers"])
    if message["status"] in {204, 206, 304} or "content-encoding" in headers or "etag" in headers:
        return False
    if headers.get("content-type", "").startswith("text/event-stream"):
        return False
    return int(headers.get("content-length", LEAST)) >= LEAST


class _Compressing:
    """Sends one answer."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._gzip: zlib._Compress | None = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and _pays(message):
            self._gzip = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP)
            headers = MutableHeaders(raw=list(message["headers"]))
            headers["content-encoding"] = "gzip"
            headers.add_vary_header("accept-encoding")
            del headers["content-length"]
            message = {**message, "headers": headers.raw}
        elif message["type"] == "http.response.body" and self._gzip is not None:
            body, more = message.get("body", b""), message.get("more_body", False)
            packed = await self._packed(self._gzip, body)
            packed += b"" if more else self._gzip.flush()
            if more and not packed:
                return
            message = {**message, "body": packed}
        await self._send(message)

    async def _packed(self, gzip: "zlib._Compress", body: bytes) -> bytes:
        return gzip.compress(body) if len(body) <= _AT_ONCE else await asyncio.to_thread(gzip.compress, body)
