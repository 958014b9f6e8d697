"""Clients that misbehave: plain connections to a server, and its memory."""

import contextlib
import re
import select
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx

from tests.support.requests import random_request
from tests.support.server import Server
from tests.support.waiting import PATIENCE

__all__ = ["connected", "endless_plan", "flood", "received", "refusals", "resident_bytes", "several"]


def endless_plan(**headers: str) -> bytes:
    """A request that keeps a thread for a minute, or until its connection is closed."""
    body = random_request(1, 30, horizon=10_000, solver="cvxpy", sampler="random", time_limit=60.0)
    asked = httpx.Request("POST", "http://localhost/v1/plans", json=body, headers=headers)
    head = "".join(f"{name}: {value}\r\n" for name, value in asked.headers.items())
    return f"POST /v1/plans HTTP/1.1\r\n{head}\r\n".encode() + asked.read()


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


def refusals(connections: list[socket.socket]) -> list[int]:
    """The statuses on those connections where an answer has begun."""
    answered, _, _ = select.select(connections, [], [], 0)
    return [int(connection.recv(12, socket.MSG_PEEK).split()[1]) for connection in answered]


def resident_bytes(server: Server, *, peak: bool = False) -> int:
    """The memory of the server's process, or the most it ever had."""
    status = Path(f"/proc/{server.process.pid}/status").read_text(encoding="utf-8")
    found = re.search(rf"{'VmHWM' if peak else 'VmRSS'}:\s+(\d+) kB", status)
    assert found is not None
    return 1024 * int(found[1])
