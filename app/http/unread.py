"""Answers that clients have not read yet: their bytes are limited, and large ones are sent in pieces.

They are charged to the memory budget, so a request that does not fit beside them is refused. What is read from the
store may have half of it, so that plans can be made meanwhile.
A client that stops to read is cut off after `FEDSIFT_SEND_TIMEOUT` (`app.commands.serving.protocol`); then its answer
is freed.
"""

import weakref
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain

from starlette.responses import Response, StreamingResponse
from starlette.types import Message, Send

from app.http.problems import OverloadedError
from app.ledger import Ledger
from app.wire.budget import SETTING, MemoryBudget

__all__ = ["UnreadAnswers", "in_pieces", "stored_answer"]

PIECE = 256 * 1024
# So much of a packed answer is unpacked at a time: zlib copies what it has not read yet.
_PACKED_PIECE = 64 * 1024


class _Packed:
    """A stored answer, as zlib packed it."""

    data: bytes = b""


class UnreadAnswers:
    """The bytes of all answers that server processes hold for clients."""

    def __init__(self, memory: MemoryBudget, retry_after: int, ledger: Ledger | None = None) -> None:
        self._held = (ledger or Ledger()).tally("unread")
        self._memory = memory
        self._limit = memory.total // 2
        self._retry = {"Retry-After": str(retry_after)}

    @property
    def held(self) -> int:
        """The bytes of all answers."""
        return self._held.total

    def check(self) -> None:
        """Refuse to make an answer of unknown size while clients do not read those they have.

        Raises:
            OverloadedError: the limit is reached.
        """
        if self.held >= self._limit:
            raise self._full()

    @contextmanager
    def hold(self, size: int) -> Iterator[None]:
        """Count an answer that was made, until it is sent."""
        self._add(size)
        try:
            yield
        finally:
            self._add(-size)

    def reserve(self, packed: _Packed, size: int) -> None:
        """Count an answer before it is read from the store, as long as this object lives.

        Raises:
            OverloadedError: it does not fit beside the others. Alone, any answer fits.
        """
        if not self._held.take(size, self._limit, alone=True):
            raise self._full()
        if not self._memory.reserve(size):
            self._held.add(-size)
            raise self._full()
        weakref.finalize(packed, self._add, -size)

    def _add(self, size: int) -> None:
        self._held.add(size)
        self._memory.add(size)

    def _full(self) -> OverloadedError:
        return OverloadedError(
            f"answers that their clients have not read hold {self.held} bytes of memory; they may hold {self._limit}, "
            f"half of what the service has ({SETTING}); try again later",
            headers=self._retry,
        )


async def in_pieces(message: Message, send: Send, unread: UnreadAnswers) -> None:
    """Send a part of an answer; a large one piece by piece, each after the client has read most of the one before."""
    body = message.get("body", b"")
    if len(body) <= PIECE:
        await send(message)
        return
    more = message.get("more_body", False)
    with unread.hold(len(body)):
        for start in range(0, len(body), PIECE):
            last = start + PIECE >= len(body)
            await send({**message, "body": body[start : start + PIECE], "more_body": more or not last})


def stored_answer(unread: UnreadAnswers, read: Callable[[Callable[[int], None]], bytes | None]) -> Response | None:
    """The answer that `read` finds, if there is one; a large one is unpacked while it is sent.

    `read` is called with a function that it must tell the size of the answer before it reads it.
    """
    packed = _Packed()
    found = read(partial(unread.reserve, packed))
    if found is None:
        return None
    packed.data = found
    pieces = _unpacked(packed)
    first = next(pieces, b"")
    second = next(pieces, None)
    if second is None:
        return Response(first, media_type="application/json")
    return StreamingResponse(chain((first, second), pieces), media_type="application/json")


def _unpacked(packed: _Packed) -> Iterator[bytes]:
    unpacking = zlib.decompressobj()
    for start in range(0, len(packed.data), _PACKED_PIECE):
        rest = packed.data[start : start + _PACKED_PIECE]
        while rest:
            piece = unpacking.decompress(rest, PIECE)
            rest = unpacking.unconsumed_tail
            if piece:
                yield piece
    if tail := unpacking.flush():
        yield tail
