"""Where a scenario runs: the code under test, a folder, and services started on it."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from benchmarks.chaos.databases import Sqlite
from benchmarks.chaos.processes import command_of, descendants, is_alive, send

__all__ = ["Service", "Site", "end", "free_port", "until"]

_READY_SECONDS = 300.0  # kernels may have to be compiled first
_END_SECONDS = 60.0
_SERVE = "from app.cli import main; main()"


@dataclass
class Service:
    """`fedsift serve` with its workers; `key` is sent with every request if there is one."""

    port: int
    process: "subprocess.Popen[bytes]"
    log: Path
    key: str = ""

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    def client(self, seconds: float = 30.0) -> httpx.Client:
        """A client that gives up after so many seconds without a sign of life."""
        headers = {"X-API-Key": self.key} if self.key else {}
        # Without `verify=False` every client would load certificates, for no use.
        return httpx.Client(base_url=self.url, timeout=seconds, headers=headers, verify=False)

    def workers(self) -> list[int]:
        """Its worker processes."""
        return self._running("app.worker.main")

    def trainers(self) -> list[int]:
        """The training processes of its workers."""
        return self._running("fedl_sim.trainer")

    def servers(self) -> list[int]:
        """`fedsift serve` and the server processes that it forked."""
        forked = [pid for pid in descendants(self.process.pid) if is_alive(pid) and " serve --port " in command_of(pid)]
        return [self.process.pid, *forked]

    def deaths(self) -> int:
        """How many workers ended so far, by the supervisor's log."""
        return self.log.read_text(errors="replace").count("a worker ended")

    def _running(self, module: str) -> list[int]:
        return [pid for pid in descendants(self.process.pid) if is_alive(pid) and f"-m {module}" in command_of(pid)]


@dataclass
class Site:
    """A folder of a scenario, and the checkout whose code is run."""

    code: Path
    folder: Path
    environment: dict[str, str] = field(default_factory=dict)
    processes: int = 1

    def sqlite(self) -> Sqlite:
        """A database in this folder."""
        return Sqlite(self.folder / "fedsift.db")

    def command(self, *arguments: str, **settings: str) -> "subprocess.CompletedProcess[str]":
        """Run `fedsift` with these arguments to its end."""
        command = [sys.executable, "-P", "-c", _SERVE, *arguments]
        environment = self._variables(settings)
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)

    def compile(self) -> None:
        """Compile the kernels of this checkout, once: a server that starts does it otherwise, and may take minutes."""
        command = [sys.executable, "-P", "-m", "sampler.warm_up"]
        subprocess.run(command, env=self._variables({}), check=True, stdout=subprocess.DEVNULL)

    def start(self, url: str, **settings: str) -> Service:
        """Start `fedsift serve`; it is not waited for."""
        port = free_port()
        log = self.folder / f"service-{port}.log"
        command = [sys.executable, "-P", "-c", _SERVE, "serve", "--port", str(port)]
        scratch = self.folder / "scratch"
        scratch.mkdir(exist_ok=True)
        variables = self._variables({"database_url": url, "scratch_dir": str(scratch)} | settings)
        with log.open("wb") as stream:
            process = subprocess.Popen(command, env=variables, stdout=stream, stderr=stream, cwd=self.folder)
        return Service(port, process, log)

    @contextmanager
    def service(self, url: str, **settings: str) -> Iterator[Service]:
        """A service that is ready, with its workers; it is ended with the block, by force if need be."""
        made = self.start(url, **settings)
        try:
            _await_ready(made, int(settings.get("workers", "0")))
            yield made
        finally:
            end(made)

    @contextmanager
    def service_with_key(self, url: str, **settings: str) -> Iterator[Service]:
        """The same, where every request needs a key and has one."""
        done = self.command("keys", "create", "chaos", "--json", database_url=url)
        key = str(json.loads(done.stdout)["key"])
        with self.service(url, auth="required", **settings) as made:
            made.key = key
            yield made

    def _variables(self, settings: dict[str, str]) -> dict[str, str]:
        chosen = {"processes": str(self.processes)} | settings
        given = {f"FEDSIFT_{name.upper()}": value for name, value in chosen.items()}
        return {**os.environ, "PYTHONPATH": f"{self.code}:{self.folder}", **self.environment, **given}


def end(service: Service) -> None:
    """Ask the service to end; kill what is left of it after a while."""
    family = [service.process.pid, *descendants(service.process.pid)]
    send(family, signal.SIGCONT)
    service.process.terminate()
    try:
        service.process.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        service.process.kill()
        service.process.wait()
    send([pid for pid in family if is_alive(pid) and "-m " in command_of(pid)], signal.SIGKILL)


def until(true: Callable[[], object], seconds: float, *, look: float = 0.1) -> bool:
    """Wait until it is true; returns whether it became so in time."""
    deadline = time.monotonic() + seconds
    while not true():
        if time.monotonic() > deadline:
            return False
        time.sleep(look)
    return True


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


def _await_ready(service: Service, workers: int) -> None:
    def ready() -> bool:
        if service.process.poll() is not None:
            raise RuntimeError(f"the service ended: {service.log.read_text(errors='replace')[-400:]}")
        try:
            answer = httpx.get(f"{service.url}/readyz", timeout=5, verify=False)
        except httpx.HTTPError:
            return False
        return answer.status_code == 200 and len(service.trainers()) >= workers

    if not until(ready, _READY_SECONDS):
        raise RuntimeError(f"the service did not become ready: {service.log.read_text(errors='replace')[-400:]}")
