"""A small HTTP client for load: bytes prepared once, answers not parsed, so that it takes little of the machine."""

import asyncio
from dataclasses import dataclass, field
from time import perf_counter

__all__ = ["Load", "closed_loop", "exchange", "message", "open_loop", "percentile"]


@dataclass
class Load:
    """What came of it: seconds by status."""

    seconds: dict[int, list[float]] = field(default_factory=dict)
    wall: float = 0.0

    def note(self, status: int, seconds: float) -> None:
        """One answer."""
        self.seconds.setdefault(status, []).append(seconds)


def message(path: str, body: bytes) -> bytes:
    """A whole POST request."""
    head = (
        f"POST {path} HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def percentile(values: list[float], share: float) -> float:
    """The smallest value that at least this share of all is not above."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


async def exchange(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes) -> tuple[int, bytes]:
    """Send one request, read one answer: status and body."""
    writer.write(request)
    head = await reader.readuntil(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    length = next(int(line.split(":")[1]) for line in lines if line.lower().startswith("content-length:"))
    return int(lines[0].split()[1]), await reader.readexactly(length)


async def closed_loop(port: int, request: bytes, *, clients: int, requests: int) -> Load:
    """So many clients, each asking again as soon as it is answered."""
    load = Load()
    left = requests

    async def client() -> None:
        nonlocal left
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**26)
        while left > 0:
            left -= 1
            begin = perf_counter()
            status, _ = await exchange(reader, writer, request)
            load.note(status, perf_counter() - begin)
        writer.close()

    begin = perf_counter()
    await asyncio.gather(*(client() for _ in range(clients)))
    load.wall = perf_counter() - begin
    return load


async def open_loop(port: int, request: bytes, *, rate: float, seconds: float, clients: int) -> Load:
    """So many requests a second, whatever becomes of them; a client that still waits leaves its turn out."""
    load = Load()
    begin = perf_counter()

    async def client(number: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**26)
        turn = begin + number / rate
        while turn < begin + seconds:
            await asyncio.sleep(max(0.0, turn - perf_counter()))
            sent = perf_counter()
            try:
                status, _ = await exchange(reader, writer, request)
            except (ConnectionError, asyncio.IncompleteReadError):
                status = 0
                reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**26)
            load.note(status, perf_counter() - sent)
            while turn <= perf_counter():
                turn += clients / rate
        writer.close()

    await asyncio.gather(*(client(number) for number in range(clients)))
    load.wall = perf_counter() - begin
    return load
