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
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


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


async def open_loop(port: int, request: bytes, *, rate: float, seconds: float, most: int = 2000) -> Load:
    """So many requests a second, whatever becomes of them: one that finds no idle connection opens another.

    `most` bounds the connections; a turn that finds them all waiting is left out.
    """
    load = Load()
    idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
    waiting: set[asyncio.Task[None]] = set()

    async def ask() -> None:
        # The server ends connections that were idle for some seconds.
        while idle and idle[-1][0].at_eof():
            idle.pop()[1].close()
        connection = idle.pop() if idle else await asyncio.open_connection("127.0.0.1", port, limit=2**26)
        sent = perf_counter()
        try:
            status, _ = await exchange(*connection, request)
        except (ConnectionError, asyncio.IncompleteReadError):
            status = 0
            connection[1].close()
        else:
            idle.append(connection)
        load.note(status, perf_counter() - sent)

    begin = perf_counter()
    turns = 0
    while (now := perf_counter() - begin) < seconds:
        # All turns that are due, since a sleep may take longer than it was asked to.
        while turns < now * rate:
            turns += 1
            if len(waiting) < most:
                task = asyncio.create_task(ask())
                waiting.add(task)
                task.add_done_callback(waiting.discard)
        await asyncio.sleep(1 / rate)
    load.wall = perf_counter() - begin
    await asyncio.gather(*waiting)
    for _, writer in idle:
        writer.close()
    return load
