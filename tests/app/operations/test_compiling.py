"""Kernels that a first plan does not need are compiled beside the service, by a process that ends with it."""

import shutil
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from app.ledger import Ledger
from app.operations import compiling
from sampler.kernels.coverage import covered_data
from solver.kernels.step import solve_step
from tests.support.kernels import compile_kernels
from tests.support.server import Server, is_ready, running_server
from tests.support.waiting import lives, until

COMPILING = "app.operations.compiling"


def cache_without(folder: Path, modules: str) -> str:
    """A copy of the compiled code without the kernels of modules of such names, as a folder for NUMBA_CACHE_DIR."""
    compile_kernels()  # before a server does, which would fill the copy
    cache = folder / "kernels"
    for kernel in (covered_data, solve_step):
        of_package = Path(getattr(kernel, "_cache").cache_path)  # noqa: B009 - numba's own
        copied = cache / of_package.parent.name / of_package.name
        shutil.copytree(of_package, copied)
        for entry in copied.glob(f"{modules}.*"):
            entry.unlink()
    return str(cache)


def compilers(server: Server) -> list[int]:
    """Processes below the server that compile."""
    found, below = [], [server.process.pid]
    while below:
        listed = subprocess.run(["pgrep", "-aP", str(below.pop())], capture_output=True, text=True, check=False).stdout
        for line in listed.splitlines():
            pid, command = line.split(maxsplit=1)
            below.append(int(pid))
            found += [int(pid)] if COMPILING in command else []
    return found


def test_what_is_missing_is_compiled_and_readiness_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", cache_without(tmp_path, "coverage"))

    def is_done(readiness: httpx.Response) -> bool:
        return is_ready(readiness) and readiness.json()["kernels"] == "ok"

    with running_server(tmp_path, is_done, processes="2") as server:
        # Both server processes: each answers some of the connections.
        until(
            lambda: all(httpx.get(f"{server.url}/readyz", timeout=60).json()["kernels_missing"] == 0 for _ in range(8))
        )
        until(lambda: not compilers(server))
        told = server.log.read_text()
        assert told.count("compiling what only some requests need") == 1
        assert told.count("all kernels are compiled") == 1


@pytest.mark.parametrize(("told", "processes"), [(signal.SIGTERM, "1"), (signal.SIGKILL, "1"), (signal.SIGKILL, "2")])
def test_it_ends_with_its_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: signal.Signals, processes: str
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", cache_without(tmp_path, "joint*"))
    with running_server(tmp_path, processes=processes) as server, server.client() as client:
        until(lambda: compilers(server))
        (process,) = compilers(server)
        ready = client.get("/readyz").json()
        assert (ready["ready"], ready["kernels"]) == (True, "compiling")
        assert ready["kernels_missing"] > 0
        until(lambda: "compiling what only some requests need" in server.log.read_text())
        server.process.send_signal(told)
        assert server.process.wait(60) == (0 if told == signal.SIGTERM else -told)
        until(lambda: not lives(process))
    assert "all kernels are compiled" not in server.log.read_text()


def test_where_all_is_compiled_nothing_is_started(tmp_path: Path) -> None:
    with running_server(tmp_path) as server, server.client() as client:
        assert client.get("/readyz").json()["kernels"] == "ok"
        client.post("/v1/plans", json={})  # comes after the start, in the same threads
        assert compilers(server) == []


def service_of(ledger: Ledger, *, tidies: bool = True) -> Any:
    failures = ledger.tally("compile_failures")
    return SimpleNamespace(
        solver="ok", tidies=tidies, kernels="compiling", kernels_missing=0, compile_failures=failures
    )


def test_a_process_that_fails_is_waited_for_and_all_processes_say_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    ledger, started = Ledger(2), []

    class Kept(subprocess.Popen[bytes]):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            started.append(self.pid)

    monkeypatch.setattr(compiling, "count_missing", lambda: 3)
    monkeypatch.setattr(compiling, "_COMMAND", (sys.executable, "-c", "raise SystemExit(1)"))
    monkeypatch.setattr(subprocess, "Popen", Kept)
    service = service_of(ledger)
    followed = compiling.Compiling(service)
    followed.start()
    until(lambda: service.kernels == "failed")
    assert service.kernels_missing == 3
    (process,) = started
    assert not Path(f"/proc/{process}").exists()
    followed.stop()
    ledger.column = 1
    other = service_of(ledger, tidies=False)
    compiling.Compiling(other)
    assert (other.kernels, len(started)) == ("failed", 1)
    monkeypatch.setattr(compiling, "count_missing", lambda: 0)
    compiling.Compiling(other)
    assert (other.kernels, other.kernels_missing) == ("ok", 0)


def test_what_cannot_be_read_is_no_error_of_readiness(monkeypatch: pytest.MonkeyPatch) -> None:
    def count() -> int:
        raise PermissionError

    monkeypatch.setattr(compiling, "count_missing", count)
    service = service_of(Ledger())
    compiling.Compiling(service)
    assert (service.kernels, service.kernels_missing) == ("failed", 1)
