"""What makes a database hang: a proxy that stops to forward, and a transaction that holds a lock."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import TracebackType

import psycopg
from psycopg.conninfo import conninfo_to_dict

__all__ = ["BlackHole", "locked"]

# Both end by themselves after this time, so that a test that fails does not hang.
_LONGEST_SECONDS = 90.0


@contextmanager
def locked(url: str, *tables: str) -> Iterator[None]:
    """Hold the strongest lock on these tables of a PostgreSQL database."""
    with psycopg.connect(url, options=f"-c idle_in_transaction_session_timeout={_LONGEST_SECONDS:.0f}s") as holder:
        holder.execute(f"LOCK TABLE {', '.join(tables)} IN ACCESS EXCLUSIVE MODE".encode())
        yield
        holder.rollback()


class BlackHole:
    """A TCP proxy before a PostgreSQL server; after `swallow` connections stay open, and nothing arrives.

    `holds` is set when it keeps something back.
    """

    def __init__(self, url: str) -> None:
        server = conninfo_to_dict(url)
        self._target = f"{server['host']}/.s.PGSQL.{server.get('port') or 5432}"
        self._open = threading.Event()
        self._open.set()
        self.holds = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._sockets: list[socket.socket] = []
        port = self._listener.getsockname()[1]
        self.url = f"postgresql://{server['user']}@127.0.0.1:{port}/{server['dbname']}"

    def __enter__(self) -> "BlackHole":
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.set()
        for one in (self._listener, *self._sockets):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def swallow(self) -> None:
        """From now on nothing arrives."""
        self._open.clear()
        self._end = threading.Timer(_LONGEST_SECONDS, self._open.set)
        self._end.daemon = True
        self._end.start()

    def forward(self) -> None:
        """From now on everything arrives, what was held back first."""
        self._end.cancel()
        self._open.set()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.socket(socket.AF_UNIX)
                far.connect(self._target)
                self._sockets += [near, far]
                for source, target in ((near, far), (far, near)):
                    threading.Thread(target=self._pass_on, args=(source, target), daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if not self._open.is_set():
                    self.holds.set()
                self._open.wait()
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
