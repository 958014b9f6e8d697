"""`fedsift serve` as a real process: it starts in any folder, and leaves no process behind."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.support.command import SITE, environment, packages_of_our_names
from tests.support.kernels import compile_kernels
from tests.support.server import free_port
from tests.support.validations import wait
from tests.support.waiting import PATIENCE, lives, until

FEDSIFT = Path(sys.executable).with_name("fedsift")
VALIDATION = {
    "source": {"kind": "generator", "devices": 6, "mean_datapoints": 20, "link_probability": 0.5},
    "schemes": ["heuristic-offload"],
    "sample_size": 2,
    "aggregations": 1,
}


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[tuple["subprocess.Popen[bytes]", httpx.Client]]:
    port = free_port()
    compile_kernels()
    surroundings = environment(folder, scratch_dir=str(folder)) | {"PYTHONPATH": f".{os.pathsep}{SITE}"}
    command = [str(FEDSIFT), "serve", "--port", str(port), *options]
    log = folder.parent / "serve.log"
    with log.open("wb") as stream:
        process = subprocess.Popen(command, cwd=folder, env=surroundings, stdout=stream, stderr=stream)
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE) as client:
            until(lambda: workers_ready(client, process), log.read_text)
            yield process, client
    finally:
        process.kill()
        process.wait()


def workers_ready(client: httpx.Client, process: "subprocess.Popen[bytes]") -> bool:
    assert process.poll() is None, "the server ended"
    try:
        answer = client.get("/readyz")
    except httpx.TransportError:
        return False
    return answer.status_code == 200 and answer.json()["validations"] == "ok"


def descendants(pid: int) -> set[int]:
    """Every process below this one that works: servers, workers and their trainers.

    Python's own resource tracker, which `--processes` brings along, writes nothing and ends with its parent's pipe.
    """
    found = subprocess.run(["pgrep", "-aP", str(pid)], capture_output=True, text=True, check=False).stdout.splitlines()
    ours = {int(line.split()[0]) for line in found if "resource_tracker" not in line}
    return ours.union(*(descendants(child) for child in ours))


@pytest.mark.parametrize("processes", ["1", "2"])
def test_it_serves_and_trains_in_a_folder_with_packages_of_the_same_names(tmp_path: Path, processes: str) -> None:
    hostile = packages_of_our_names(tmp_path / "hostile")
    with serving(hostile, "--workers", "1", "--processes", processes) as (process, client):
        answer = client.post("/v1/validations", json=VALIDATION)
        assert answer.status_code == 202, answer.text
        place = answer.headers["location"]
        assert wait(client, place)["state"] == "succeeded"
        process.terminate()
        assert process.wait(PATIENCE) == 0


@pytest.mark.parametrize(("told", "processes"), [(signal.SIGTERM, "1"), (signal.SIGINT, "1"), (signal.SIGTERM, "2")])
def test_told_to_stop_it_ends_after_all_its_processes(tmp_path: Path, told: signal.Signals, processes: str) -> None:
    folder = tmp_path / "served"
    folder.mkdir()
    with serving(folder, "--workers", "1", "--processes", processes) as (process, client):
        endless = {**VALIDATION, "aggregations": 10_000}
        place = client.post("/v1/validations", json=endless).headers["location"]
        until(lambda: client.get(place).json()["progress"] > 0)
        children = descendants(process.pid)
        assert len(children) >= 2  # a worker and its trainer
        process.send_signal(told)
        status = process.wait(PATIENCE)
        assert not [child for child in children if lives(child)]
        shutil.rmtree(folder)
        assert status == 0


def test_told_to_stop_while_it_starts_it_leaves_nothing_behind(tmp_path: Path) -> None:
    settings = {"FEDSIFT_DATABASE_URL": f"sqlite:///{tmp_path}/fedsift.db", "FEDSIFT_PORT": str(free_port())}
    command = [str(FEDSIFT), "serve", "--workers", "1"]
    process = subprocess.Popen(command, cwd=tmp_path, env={**os.environ, **settings}, stderr=subprocess.DEVNULL)
    try:
        until(lambda: descendants(process.pid))
        children = descendants(process.pid)
        process.terminate()
        assert process.wait(PATIENCE) == 0
        assert not [child for child in children if lives(child)]
    finally:
        process.kill()
        process.wait()
