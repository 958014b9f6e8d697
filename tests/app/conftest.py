"""A real server for the tests: a process of its own, on a port of its own."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest


@dataclass
class Server:
    url: str
    process: "subprocess.Popen[bytes]"
    log: Path

    def client(self, **options: object) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=120, **options)  # type: ignore[arg-type]


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


def start_server(folder: Path, **settings: str) -> Server:
    port = int(settings.pop("port", 0)) or free_port()  # a restart may need the same one
    environment = {
        **os.environ,
        "FEDSIFT_DATABASE_URL": f"sqlite:///{folder}/fedsift.db",
        **{f"FEDSIFT_{name.upper()}": value for name, value in settings.items()},
    }
    log = folder / f"server-{port}.log"
    command = [sys.executable, "-c", "from app.cli import main; main()", "serve", "--port", str(port)]
    with log.open("wb") as stream:
        process = subprocess.Popen(command, env=environment, stdout=stream, stderr=stream)
    server = Server(f"http://127.0.0.1:{port}", process, log)
    for _ in range(1800):  # kernels may have to be compiled first
        if process.poll() is not None:
            break
        try:
            if httpx.get(f"{server.url}/readyz").status_code == 200:
                return server
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    process.kill()
    process.wait()
    raise AssertionError(f"the server did not become ready: {log.read_text()}")


@contextmanager
def running_server(folder: Path, **settings: str) -> Iterator[Server]:
    server = start_server(folder, **settings)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.process.terminate()
            server.process.wait(60)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running_server(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture(scope="session")
def client(server: Server) -> Iterator[httpx.Client]:
    with server.client() as made:
        yield made
