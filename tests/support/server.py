"""A real server: a process of its own, on a port and a database of its own."""

import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.support.command import FEDSIFT, environment
from tests.support.kernels import compile_kernels
from tests.support.leftovers import ends_with_this_process
from tests.support.waiting import PATIENCE, until

__all__ = ["Server", "free_port", "is_ready", "running_server", "start_server"]

_reserved: list[socket.socket] = []


@dataclass
class Server:
    url: str
    process: "subprocess.Popen[bytes]"
    log: Path

    def client(self, **options: object) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=PATIENCE, **options)  # type: ignore[arg-type]


def free_port() -> int:
    """A port that nothing else gets while these tests run, though the server, which reuses addresses, may bind it.

    A port that was only looked up and let go can be given to another test process before the server is up, and then
    this test talks to that one's server.
    """
    s = socket.socket()
    s.bind(("127.0.0.1", 0))
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    _reserved.append(s)
    return int(s.getsockname()[1])


def is_ready(readiness: httpx.Response) -> bool:
    return readiness.status_code == 200


def start_server(folder: Path, ready: Callable[[httpx.Response], bool] = is_ready, /, **settings: str) -> Server:
    """Start `fedsift serve` with these settings, and wait until it is ready by its answer to /readyz."""
    compile_kernels()
    port = int(settings.pop("port", 0)) or free_port()  # a restart may need the same one
    log = folder / f"server-{port}.log"
    command = [*FEDSIFT, "serve", "--port", str(port)]
    with log.open("wb") as stream:
        process = subprocess.Popen(command, env=environment(folder, **settings), stdout=stream, stderr=stream)
    ends_with_this_process(process)
    server = Server(f"http://127.0.0.1:{port}", process, log)

    def is_up() -> bool:
        assert process.poll() is None, log.read_text()
        try:
            return ready(httpx.get(f"{server.url}/readyz", timeout=10))
        except httpx.TransportError:
            return False

    try:
        until(is_up, log.read_text)
    except BaseException:
        process.kill()
        process.wait()
        raise
    return server


@contextmanager
def running_server(
    folder: Path, ready: Callable[[httpx.Response], bool] = is_ready, /, **settings: str
) -> Iterator[Server]:
    """A server that is asked to end when the block ends."""
    server = start_server(folder, ready, **settings)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.process.terminate()
            server.process.wait(PATIENCE)
