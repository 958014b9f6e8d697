"""A server of its own for a benchmark: started, waited for, measured, ended."""

import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

__all__ = ["ServerProcess", "empty_server", "fedsift_server"]

_EMPTY = """
import sys, uvicorn
from fastapi import FastAPI
app = FastAPI()
@app.post("/")
async def nothing() -> dict[str, str]:
    return {}
uvicorn.run(app, port=int(sys.argv[1]), access_log=False, log_level="error")
"""


@dataclass
class ServerProcess:
    """A running server."""

    port: int
    process: "subprocess.Popen[bytes]"
    ready_seconds: float

    def resident_mebibytes(self) -> float | None:
        """Resident memory, where /proc tells."""
        return self._memory("VmRSS")

    def peak_mebibytes(self) -> float | None:
        """The most resident memory so far, where /proc tells."""
        return self._memory("VmHWM")

    def _memory(self, name: str) -> float | None:
        status = Path(f"/proc/{self.process.pid}/status")
        if not status.exists():
            return None
        line = next(line for line in status.read_text(encoding="utf-8").splitlines() if line.startswith(name))
        return round(int(line.split()[1]) / 1024, 1)


@contextmanager
def fedsift_server(**settings: str) -> Iterator[ServerProcess]:
    """The service with its default settings, besides those given, on loopback."""
    with tempfile.TemporaryDirectory() as folder:
        given = {"database_url": f"sqlite:///{folder}/fedsift.db", "log_level": "warning", **settings}
        environment = {**os.environ, **{f"FEDSIFT_{name.upper()}": value for name, value in given.items()}}
        code = "from app.cli import main; main()"
        with _running([sys.executable, "-c", code, "serve", "--port"], "/readyz", environment) as server:
            yield server


@contextmanager
def empty_server() -> Iterator[ServerProcess]:
    """FastAPI with one endpoint that does nothing."""
    with _running([sys.executable, "-c", _EMPTY], "/docs", dict(os.environ)) as server:
        yield server


@contextmanager
def _running(command: list[str], path: str, environment: dict[str, str]) -> Iterator[ServerProcess]:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = int(s.getsockname()[1])
    begin = time.perf_counter()
    process = subprocess.Popen([*command, str(port)], env=environment, stderr=subprocess.DEVNULL)
    try:
        while not _answers(f"http://127.0.0.1:{port}{path}"):
            if process.poll() is not None:
                raise RuntimeError("the server ended before it was ready")
            time.sleep(0.02)
        yield ServerProcess(port, process, time.perf_counter() - begin)
    finally:
        process.terminate()
        process.wait(60)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url) as answer:  # noqa: S310 - our own server on loopback
            return bool(answer.status == 200)
    except (urllib.error.URLError, ConnectionError):
        return False
