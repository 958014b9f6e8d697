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

__all__ = ["ServerProcess", "empty_server", "fedsift_server", "plain_server"]

_EMPTY = """
import sys, uvicorn
from fastapi import FastAPI
app = FastAPI()
@app.post("/")
async def nothing() -> dict[str, str]:
    return {}
uvicorn.run(app, port=int(sys.argv[1]), access_log=False, log_level="error")
"""
# The application with uvicorn's own protocol in place of ours.
_PLAIN = """
import sys, uvicorn
uvicorn.run("app.asgi:served_app", factory=True, port=int(sys.argv[1]), http="httptools", ws="none", log_config=None,
            access_log=False, server_header=False)
"""


@dataclass
class ServerProcess:
    """A running server."""

    port: int
    process: "subprocess.Popen[bytes]"
    ready_seconds: float

    def resident_mebibytes(self) -> float | None:
        """Resident memory of all processes, what they share counted once (PSS), where /proc tells."""
        return self._memory("smaps_rollup", "Pss:")

    def peak_mebibytes(self) -> float | None:
        """The most resident memory of each process so far, added up, where /proc tells."""
        return self._memory("status", "VmHWM:")

    def processor_seconds(self) -> float | None:
        """Processor time of all processes so far, where /proc tells."""
        if not Path("/proc/self/stat").exists():
            return None
        texts = [Path(f"/proc/{pid}/stat").read_text(encoding="utf-8") for pid in _family(self.process.pid)]
        # After the name, which may hold blanks: the state, ten numbers, then user and system time in ticks.
        fields = [text.rpartition(")")[2].split() for text in texts]
        return sum(int(one[11]) + int(one[12]) for one in fields) / os.sysconf("SC_CLK_TCK")

    def reset_peak(self) -> None:
        """Begin a new measurement of the peak, where /proc allows it."""
        for pid in _family(self.process.pid):
            clear = Path(f"/proc/{pid}/clear_refs")
            if clear.exists():
                clear.write_text("5", encoding="utf-8")

    def _memory(self, file: str, name: str) -> float | None:
        if not Path("/proc/self", file).exists():
            return None
        texts = [Path(f"/proc/{pid}/{file}").read_text(encoding="utf-8") for pid in _family(self.process.pid)]
        lines = [line for text in texts for line in text.splitlines() if line.startswith(name)]
        return round(sum(int(line.split()[1]) for line in lines) / 1024, 1)


@contextmanager
def fedsift_server(**settings: str) -> Iterator[ServerProcess]:
    """The service with its default settings, besides those given, on loopback."""
    code = "from app.cli import main; main()"
    command = [sys.executable, "-c", code, "serve", "--port"]
    with _environment(settings) as environment, _running(command, "/readyz", environment) as server:
        yield server


@contextmanager
def plain_server() -> Iterator[ServerProcess]:
    """The service in one process, with uvicorn's own protocol, which has no limits on connections."""
    command = [sys.executable, "-c", _PLAIN]
    with _environment({"processes": "1"}) as environment, _running(command, "/readyz", environment) as server:
        yield server


@contextmanager
def _environment(settings: dict[str, str]) -> Iterator[dict[str, str]]:
    with tempfile.TemporaryDirectory() as folder:
        given = {"database_url": f"sqlite:///{folder}/fedsift.db", "log_level": "warning", **settings}
        yield {**os.environ, **{f"FEDSIFT_{name.upper()}": value for name, value in given.items()}}


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


def _family(pid: int) -> list[int]:
    """A process and all below it."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    return [pid, *(one for child in children for one in _family(int(child)))]
