"""`fedsift validate` tells at once what it can tell: the id, a missing worker, a picture that could not be drawn."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from app.commands.validate import verdict_text
from tests.support.command import FEDSIFT
from tests.support.server import Server
from tests.support.waiting import PATIENCE

REQUEST = {
    "source": {"kind": "generator", "devices": 6, "mean_datapoints": 20, "link_probability": 0.5},
    "schemes": ["heuristic"],
    "sample_size": 2,
    "aggregations": 1,
}
NOWHERE = "http://127.0.0.1:1"


def test_on_a_pipe_it_prints_the_id_and_that_no_worker_is_there(server: Server, tmp_path: Path) -> None:
    request = tmp_path / "request.json"
    request.write_text(json.dumps(REQUEST))
    command = [*FEDSIFT, "validate", str(request), "--url", server.url]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        said = [process.stderr.readline() for _ in range(2)]  # it waits for a worker from here on
        validation = said[0].split()[1]
        assert said[0] == f"validation {validation}\n"
        assert said[1] == "no worker is there: it waits until one is started, with `fedsift worker`\n"
        with server.client() as client:
            assert client.get(f"/v1/validations/{validation}").json()["state"] == "queued"
            assert client.post(f"/v1/validations/{validation}/cancel").is_success
        out, _ = process.communicate(timeout=PATIENCE)
        assert validation in out
        assert process.returncode == 1
    finally:
        process.kill()
        process.wait()


def test_a_service_that_is_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "request.json").write_text(json.dumps(REQUEST))
    command = [*FEDSIFT, "validate", str(tmp_path / "request.json"), "--url", NOWHERE]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
    told = f"{NOWHERE} does not answer: Connection refused (--url or FEDSIFT_URL names the service)"
    assert (done.returncode, done.stderr) == (2, f"error: {told}\n")


@pytest.mark.parametrize("name", ["curves", "curves.txt", "curves.jpeg2"])
def test_a_picture_of_another_kind_is_refused_before_anything_is_sent(tmp_path: Path, name: str) -> None:
    command = [*FEDSIFT, "validate", str(tmp_path / "absent.json"), "--url", NOWHERE, "-o", name]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"error: --output {name}: must end in .png, .svg or .pdf\n"


def test_the_extra_for_pictures_is_named_in_full_before_anything_is_sent(tmp_path: Path) -> None:
    block = "import sys, importlib.util as u; f = u.find_spec; "
    block += "u.find_spec = lambda name, *rest: None if name == 'matplotlib' else f(name, *rest); "
    command = [sys.executable, "-c", f"{block}{FEDSIFT[2]}", "validate", "x.json", "--url", NOWHERE, "-o", "c.png"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, "error: pictures need matplotlib: install fedsift[plots]\n")


@pytest.mark.parametrize(
    ("outcome", "error", "printed"),
    [("too_few_runs", 2.775, "too few runs (+277.5%)"), ("too_few_runs", -0.2, "too few runs (-20.0%)"),
     ("as_predicted", 0.08, "as predicted (+8.0%)"), ("more", 0.3, "more (+30.0%)"),
     ("nothing_predicted", None, "nothing predicted")],
)  # fmt: skip
def test_the_verdict_is_printed_with_its_error(outcome: str, error: float | None, printed: str) -> None:
    verdict: dict[str, str | float] = {"outcome": outcome}
    if error is not None:
        verdict["relative_error"] = error
    assert verdict_text(verdict) == printed
