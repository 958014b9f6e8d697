"""The service and its worker side by side: restarts, and a follower that notices nothing."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import httpx
import pytest

from app.store.paging import Page
from tests.support.command import FEDSIFT
from tests.support.crew import Crew
from tests.support.server import Server, free_port, running_server, start_server

REQUEST = {
    "source": {"kind": "generator", "devices": 12, "mean_datapoints": 20, "link_probability": 0.4},
    "schemes": ["ours-offload", "heuristic"],
    "sample_size": 3,
    "aggregations": 60,
    "aggregation_period": 2,
}


def follow(url: str, *arguments: str) -> "subprocess.Popen[str]":
    command = [*FEDSIFT, "validate", *arguments, "--url", url]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_the_service_is_killed_under_a_job_and_its_follower(database_url: str, tmp_path: Path) -> None:
    request = tmp_path / "request.json"
    request.write_text(json.dumps(REQUEST))
    port = str(free_port())
    settings = {"database_url": database_url, "port": port}
    with Crew(database_url, tmp_path) as crew:
        crew.hire(1)
        server = start_server(tmp_path, **settings)
        try:
            undisturbed = follow(server.url, str(request), "--json")
            expected = json.loads(undisturbed.communicate(timeout=400)[0])
            assert expected["state"] == "succeeded"
            follower = follow(server.url, str(request), "--json", "-o", str(tmp_path / "curves.png"))
            crew.until(lambda: len(crew.validations.page("local", Page(9))) == 2)
            validation = crew.validations.page("local", Page(9))[1].id
            for _ in range(4):
                crew.until_more_rounds(validation, 6)
                server.process.kill()
                server.process.wait()
                server = start_server(tmp_path, **settings)
            out, err = follower.communicate(timeout=400)
            assert out, err
            result = json.loads(out)
            assert (result["id"], result["state"]) == (validation, "succeeded"), err
            assert result["schemes"] == expected["schemes"]
            assert crew.begun(validation) == 2 * 61
            assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")
        finally:
            server.process.kill()
            server.process.wait()


def worker_of(server: Server) -> int | None:
    found = subprocess.run(["pgrep", "-P", str(server.process.pid)], capture_output=True, text=True, check=False)
    return int(found.stdout.split()[0]) if found.stdout else None


def lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]


def gone(pid: int, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not lives(pid):
            return True
        time.sleep(0.1)
    return False


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_serve_replaces_a_dead_worker_and_takes_it_along_when_it_ends(tmp_path: Path, end: signal.Signals) -> None:
    with running_server(tmp_path, workers="1") as server:
        first = worker_of(server)
        assert first is not None
        os.kill(first, signal.SIGKILL)
        deadline = time.monotonic() + 120
        while worker_of(server) in {None, first} and time.monotonic() < deadline:
            time.sleep(0.1)
        second = worker_of(server)
        assert second not in {None, first}
        while httpx.get(f"{server.url}/readyz", timeout=60).json()["validations"] != "ok":
            assert time.monotonic() < deadline + 120
            time.sleep(0.1)
        server.process.send_signal(end)
        server.process.wait(60)
        assert second is not None
        assert gone(second, 120)


def test_validate_refuses_what_the_service_refuses(tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text(json.dumps({**REQUEST, "schemes": ["clever"]}))
    with running_server(tmp_path) as server:
        out, err = follow(server.url, str(bad)).communicate(timeout=200)
        assert out == ""
        assert "/schemes/0" in err
        asked = follow(server.url, str(bad), "--json")
        assert json.loads(asked.communicate(timeout=200)[0])["status"] == 422
        assert asked.returncode == 2
        missing = follow(server.url, str(tmp_path / "nothing.json"))
        assert "nothing.json" in missing.communicate(timeout=200)[1]
    away = follow(server.url, str(bad))
    assert "refused" in away.communicate(timeout=200)[1]
    assert away.returncode == 2
