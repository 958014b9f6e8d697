"""A server process that shares its listening socket with others, and leaves connections to whoever has fewer.

A client keeps its connection for many requests. If the first process to wake took all that wait, as uvicorn's event
loop does, the others would have nothing to do.
"""

import asyncio
import logging
import socket

from uvicorn import Config, Server

from app.ledger import Tally

__all__ = ["BalancedServer"]

_log = logging.getLogger("fedsift")

# A process with fewer connections may take this long to wake up; after that, whoever is free takes the connection.
_POLITE_SECONDS = 0.003
# Without free descriptors every attempt would fail at once.
_EXHAUSTED_SECONDS = 1.0


class BalancedServer(Server):
    """uvicorn's server with an `accept` of its own; `open_connections` says how many each process has."""

    def __init__(self, config: Config, listener: socket.socket, open_connections: Tally) -> None:
        super().__init__(config)
        self._listener = listener
        self._open = open_connections
        self._waited = False
        self._beginning: set[asyncio.Task[object]] = set()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:  # noqa: ARG002 - there is one
        """Start the application, then listen."""
        await super().startup(sockets=[])
        self._listener.setblocking(False)
        self._listen()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:  # noqa: ARG002
        """Stop listening, then let uvicorn finish what was accepted."""
        asyncio.get_running_loop().remove_reader(self._listener)
        self._listener.close()
        await super().shutdown()

    async def on_tick(self, counter: int) -> bool:
        """Ten times a second, say how many connections are open."""
        self._open.set(self._count())
        return await super().on_tick(counter)

    def _count(self) -> int:
        return len(self.server_state.connections) + len(self._beginning)

    def _listen(self) -> None:
        if self._listener.fileno() >= 0:  # it may have been closed meanwhile
            asyncio.get_running_loop().add_reader(self._listener, self._accept)

    def _pause(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._listener)
        loop.call_later(seconds, self._listen)

    def _accept(self) -> None:
        """Take one connection, unless another process has fewer and takes it first."""
        if not self._waited and self._count() > min(self._open.by_process()):
            self._waited = True
            self._pause(_POLITE_SECONDS)
            return
        self._waited = False
        try:
            connection, _ = self._listener.accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return  # another process was first, or the client has gone
        except OSError as error:
            _log.error("no connection can be accepted: %s", error)
            self._pause(_EXHAUSTED_SECONDS)
            return
        connection.setblocking(False)
        task = asyncio.ensure_future(self._begin(connection))
        self._beginning.add(task)
        task.add_done_callback(self._beginning.discard)
        self._open.set(self._count())

    async def _begin(self, connection: socket.socket) -> None:
        def protocol() -> asyncio.Protocol:
            return self.config.http_protocol_class(  # type: ignore[call-arg]
                config=self.config, server_state=self.server_state, app_state=self.lifespan.state
            )

        try:
            await asyncio.get_running_loop().connect_accepted_socket(protocol, connection)
        except OSError:
            connection.close()  # the client has gone
