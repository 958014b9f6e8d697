"""Connections in turn to every server that is ready, as a Kubernetes Service has it: nothing is tried again."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from benchmarks.http_load import exchange

__all__ = ["Balancer"]

_PROBE = b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
_PROBE_SECONDS = 0.5
_PIECE = 2**16


@dataclass
class Balancer:
    """Where new connections go. Open ones stay where they are, also when their server is taken out."""

    ready: dict[int, bool] = field(default_factory=dict)
    refused: int = 0
    _turn: int = 0
    _pipes: set[asyncio.Task[None]] = field(default_factory=set)

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[int]:
        """Take connections while the block lasts; gives the port."""
        server = await asyncio.start_server(self._connect, "127.0.0.1", 0, backlog=512)
        probing = asyncio.create_task(self._probe())
        try:
            yield int(server.sockets[0].getsockname()[1])
        finally:
            probing.cancel()
            server.close()
            for pipe in self._pipes:
                pipe.cancel()

    async def add(self, port: int, patience: float = 300.0) -> None:
        """Take a server in, and wait until it is ready."""
        self.ready[port] = False
        async with asyncio.timeout(patience):
            while not self.ready[port]:
                await asyncio.sleep(0.05)

    def remove(self, port: int) -> None:
        """Take a server out, as Kubernetes does when a pod is to end."""
        del self.ready[port]

    async def _probe(self) -> None:
        while True:
            for port in list(self.ready):
                ready = await _is_ready(port)
                if port in self.ready:
                    self.ready[port] = ready
            await asyncio.sleep(_PROBE_SECONDS)

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ready = [port for port, is_ready in self.ready.items() if is_ready]
        self._turn += 1
        try:
            if not ready:
                raise ConnectionRefusedError("no server is ready")
            there, back = await asyncio.open_connection("127.0.0.1", ready[self._turn % len(ready)])
        except OSError:
            self.refused += 1
            writer.transport.abort()
            return
        for source, target in ((reader, back), (there, writer)):
            task = asyncio.create_task(_pipe(source, target))
            self._pipes.add(task)
            task.add_done_callback(self._pipes.discard)


async def _pipe(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while piece := await source.read(_PIECE):
            target.write(piece)
            await target.drain()
    target.close()


async def _is_ready(port: int) -> bool:
    try:
        async with asyncio.timeout(3):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            status, _ = await exchange(reader, writer, _PROBE)
            writer.close()
    except (OSError, asyncio.IncompleteReadError):
        return False
    return status == 200
