"""Connections below HTTP: for clients that break its rules."""

import socket
import time
from contextlib import suppress

from benchmarks.chaos.site import Service

__all__ = ["connect", "is_closed", "send_until_closed"]


def connect(service: Service, first: bytes = b"") -> socket.socket:
    """A connection, with these bytes sent."""
    made = socket.create_connection(("127.0.0.1", service.port), timeout=10)
    if first:
        made.sendall(first)
    return made


def is_closed(connection: socket.socket) -> bool:
    """Whether the server has closed it, after an answer or without one."""
    connection.settimeout(0)
    try:
        while connection.recv(65536):
            pass
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def send_until_closed(connection: socket.socket, piece: bytes, *, most_bytes: int, seconds: float) -> int:
    """Send the same bytes again and again; returns how many the server took."""
    connection.settimeout(2)
    deadline = time.monotonic() + seconds
    sent = 0
    with suppress(OSError):
        while sent < most_bytes and time.monotonic() < deadline:
            sent += connection.send(piece)
            if is_closed(connection):
                break
            connection.settimeout(2)
    return sent
