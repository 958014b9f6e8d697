"""Kernels that a first plan does not need are compiled beside the service, by a process that ends with it."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from sampler.kernels.coverage import covered_data
from solver.kernels.step import solve_step
from tests.support.server import Server, is_ready, running_server

COMPILING = "app.operations.compiling"


def cache_without(folder: Path, modules: str) -> str:
    """A copy of the compiled code without the kernels of modules of such names, as a folder for NUMBA_CACHE_DIR."""
    cache = folder / "kernels"
    for kernel in (covered_data, solve_step):
        of_package = Path(getattr(kernel, "_cache").cache_path)  # noqa: B009 - numba's own
        copied = cache / of_package.parent.name / of_package.name
        shutil.copytree(of_package, copied, copy_function=os.link)
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


def lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def until(true: Callable[[], Any], seconds: float = 60) -> Any:
    deadline = time.monotonic() + seconds
    while not (value := true()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return value


def test_what_is_missing_is_compiled_and_readiness_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", cache_without(tmp_path, "coverage"))

    def is_done(readiness: httpx.Response) -> bool:
        return is_ready(readiness) and readiness.json()["kernels"] == "ok"

    with running_server(tmp_path, is_done, processes="2") as server, server.client() as client:
        assert client.get("/readyz").json()["kernels_missing"] == 0
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
        (process,) = until(lambda: compilers(server))
        ready = client.get("/readyz").json()
        assert (ready["ready"], ready["kernels"]) == (True, "compiling")
        assert ready["kernels_missing"] > 0
        until(lambda: os.getpriority(os.PRIO_PROCESS, process) > 0)
        server.process.send_signal(told)
        assert server.process.wait(60) == (0 if told == signal.SIGTERM else -told)
        until(lambda: not lives(process))
    assert "all kernels are compiled" not in server.log.read_text()


def test_where_all_is_compiled_nothing_is_started(tmp_path: Path) -> None:
    with running_server(tmp_path) as server, server.client() as client:
        assert client.get("/readyz").json()["kernels"] == "ok"
        client.post("/v1/plans", json={})  # comes after the start, in the same threads
        assert compilers(server) == []
