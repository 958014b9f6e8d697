"""Clients that misbehave: plain connections to a server, and its memory."""

import contextlib
import re
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.support.server import Server
from tests.support.waiting import PATIENCE

__all__ = ["connected", "flood", "received", "resident_bytes", "several"]


@contextmanager
def connected(server: Server, first: bytes = b"", receive_buffer: int = 0) -> Iterator[socket.socket]:
    """A connection on which `first` was sent."""
    host, port = server.url.removeprefix("http://").split(":")
    with socket.socket() as made:
        made.settimeout(PATIENCE)
        if receive_buffer:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        made.connect((host, int(port)))
        made.sendall(first)
        yield made


@contextmanager
def several(server: Server, count: int, first: bytes = b"", receive_buffer: int = 0) -> Iterator[list[socket.socket]]:
    """Several of them."""
    with ExitStack() as stack:
        yield [stack.enter_context(connected(server, first, receive_buffer)) for _ in range(count)]


def received(connection: socket.socket) -> bytes:
    """Everything until the server ends the connection; what was sent meanwhile may make it a reset."""
    parts: list[bytes] = []
    with contextlib.suppress(ConnectionError):
        while part := connection.recv(2**16):
            parts.append(part)
    return b"".join(parts)


def flood(connection: socket.socket, piece: bytes, most: int) -> int:
    """Send the piece again and again until the server ends the connection; how many bytes it took."""
    sent = 0
    with contextlib.suppress(ConnectionError):
        while sent < most:
            sent += connection.send(piece)
    return sent


def resident_bytes(server: Server, *, peak: bool = False) -> int:
    """The memory of the server's process, or the most it ever had."""
    status = Path(f"/proc/{server.process.pid}/status").read_text(encoding="utf-8")
    found = re.search(rf"{'VmHWM' if peak else 'VmRSS'}:\s+(\d+) kB", status)
    assert found is not None
    return 1024 * int(found[1])
