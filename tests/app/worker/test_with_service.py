"""The service and its worker side by side: restarts, and a follower that notices nothing."""

import json
import os
import signal
import subprocess
from pathlib import Path

import httpx
import pytest

from app.store.paging import Page
from tests.support.command import FEDSIFT
from tests.support.crew import Crew
from tests.support.server import Server, free_port, running_server, start_server
from tests.support.waiting import PATIENCE, lives, until

REQUEST = {
    "source": {"kind": "generator", "devices": 12, "mean_datapoints": 20, "link_probability": 0.4},
    "schemes": ["ours-offload", "heuristic"],
    "sample_size": 3,
    "aggregations": 24,
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
            expected = json.loads(undisturbed.communicate(timeout=PATIENCE)[0])
            assert expected["state"] == "succeeded"
            follower = follow(server.url, str(request), "--json", "-o", str(tmp_path / "curves.png"))
            crew.until(lambda: len(crew.validations.page("local", Page(9))) == 2)
            validation = crew.validations.page("local", Page(9))[1].id
            for _ in range(2):
                crew.until_more_rounds(validation, 6)
                server.process.kill()
                server.process.wait()
                server = start_server(tmp_path, **settings)
            out, err = follower.communicate(timeout=PATIENCE)
            assert out, err
            result = json.loads(out)
            assert (result["id"], result["state"]) == (validation, "succeeded"), err
            assert result["schemes"] == expected["schemes"]
            assert crew.begun(validation) == 2 * 25
            assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")
        finally:
            server.process.kill()
            server.process.wait()


def worker_of(server: Server) -> int | None:
    found = subprocess.run(["pgrep", "-P", str(server.process.pid)], capture_output=True, text=True, check=False)
    return int(found.stdout.split()[0]) if found.stdout else None


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_serve_replaces_a_dead_worker_and_takes_it_along_when_it_ends(tmp_path: Path, end: signal.Signals) -> None:
    with running_server(tmp_path, workers="1") as server:
        first = worker_of(server)
        assert first is not None
        os.kill(first, signal.SIGKILL)
        until(lambda: worker_of(server) not in {None, first})
        second = worker_of(server)
        assert second is not None
        until(lambda: httpx.get(f"{server.url}/readyz", timeout=PATIENCE).json()["validations"] == "ok")
        server.process.send_signal(end)
        server.process.wait(PATIENCE)
        until(lambda: not lives(second))


def test_validate_refuses_what_the_service_refuses(tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text(json.dumps({**REQUEST, "schemes": ["clever"]}))
    with running_server(tmp_path) as server:
        out, err = follow(server.url, str(bad)).communicate(timeout=PATIENCE)
        assert out == ""
        assert "/schemes/0" in err
        asked = follow(server.url, str(bad), "--json")
        assert json.loads(asked.communicate(timeout=PATIENCE)[0])["status"] == 422
        assert asked.returncode == 2
        missing = follow(server.url, str(tmp_path / "nothing.json"))
        assert "nothing.json" in missing.communicate(timeout=PATIENCE)[1]
    away = follow(server.url, str(bad))
    assert "refused" in away.communicate(timeout=PATIENCE)[1]
    assert away.returncode == 2
