"""The examples run as they stand against a live service."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.server import Server

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(*command: str | Path, cwd: Path, timeout: float = 120) -> str:
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, capture_output=True, text=True, check=False, timeout=timeout
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
    return done.stdout


def test_curl(server: Server, tmp_path: Path) -> None:
    if not shutil.which("curl"):
        pytest.skip("there is no curl here")
    said = run(EXAMPLES / "plan.sh", server.url, cwd=tmp_path)
    answers = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    assert [answer["status"] for answer in answers] == ["optimal", "optimal"]
    assert answers[1]["aggregation"] == 1


def test_a_plan_with_httpx(server: Server, tmp_path: Path) -> None:
    said = run(sys.executable, EXAMPLES / "plan.py", server.url, cwd=tmp_path)
    assert "train; the plan is within" in said
    assert said.count("step ") == 3


def test_the_closed_loop(server: Server, tmp_path: Path) -> None:
    said = run(sys.executable, EXAMPLES / "closed_loop.py", server.url, cwd=tmp_path)
    until = [f"until step {t}" for t in (5, 10, 15, 20)]
    assert [line.split(":")[0] for line in said.splitlines()] == [*until[:3], "device 0 is lost", until[3]]
    assert len((EXAMPLES / "closed_loop.py").read_text(encoding="utf-8").splitlines()) <= 40


@pytest.mark.flower
def test_flower_trains_with_the_sampled_nodes_only(server: Server, tmp_path: Path) -> None:
    python = os.environ.get("FEDSIFT_TEST_FLOWER")
    if not python:
        pytest.skip("needs an environment with Flower: `make test-flower`")
    program = EXAMPLES / "flower" / "train_digits.py"
    said = run(python, program, server.url, "--rounds", "4", cwd=tmp_path, timeout=400)
    report = json.loads(said.splitlines()[-1])
    print(report)
    assert len(report["sampled"]) == 3
    assert report["trained"] == [report["sampled"]] * 4
    # Neighbours' points arrive from the first round on, and more in each.
    totals = [sum(datapoints) for datapoints in report["datapoints"]]
    assert 3 * 60 < totals[0] < totals[-1]
    assert report["accuracy"][-1] > report["accuracy"][0] + 0.2
