"""The examples run as they stand against a live service."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from statistics import mean
from typing import Any

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


def test_a_plan_in_plain_python(server: Server, tmp_path: Path) -> None:
    """With `-S`, without any package: they run with what `make install` installs, and with less."""
    said = run(sys.executable, "-S", EXAMPLES / "plan.py", server.url, cwd=tmp_path)
    assert "train; the plan is within" in said
    assert said.count("step ") == 3


def test_the_closed_loop(server: Server, tmp_path: Path) -> None:
    said = run(sys.executable, "-S", EXAMPLES / "closed_loop.py", server.url, cwd=tmp_path)
    until = [f"until step {t}" for t in (5, 10, 15, 20)]
    assert [line.split(":")[0] for line in said.splitlines()] == [*until[:3], "device 0 is lost", until[3]]
    assert len((EXAMPLES / "closed_loop.py").read_text(encoding="utf-8").splitlines()) <= 40


def check_federated(reports: list[dict[str, Any]], rounds: int) -> None:
    """Only sampled nodes train, the dead one is replaced and comes back, and what moved is what was ordered."""
    for report in reports:
        assert len(report["sampled"]) == len(report["trained"]) == rounds
        half = rounds // 2 - 1
        for k in range(rounds):
            silent = {report["dead"]} if k == half else set()
            assert set(report["trained"][k]) == set(report["sampled"][k]) - silent
        assert report["dead"] in report["sampled"][half]
        assert all(report["dead"] not in sampled for sampled in report["sampled"][half + 1 : half + 3])
        # Others may join too, if they were late at the start.
        assert [k for k, back in enumerate(report["joined"]) if report["dead"] in back] == [half + 2]
        assert [one["lost"] for one in report["replaced"][half + 1]] == [report["dead"]]
        assert report["moved"] == sum(report["ordered"]) > 0
    # Single rounds are noisy. Who is drawn at random differs from run to run, so that is for the table alone.
    assert mean(value for one in reports for value in one["accuracy"][-3:]) > reports[0]["accuracy"][0] + 0.2
    assert all(len(one["random"]) == rounds + 1 for one in reports)


@pytest.mark.flower
def test_flower_trains_on_the_nodes_that_fedsift_samples(server: Server, tmp_path: Path) -> None:
    python = os.environ.get("FEDSIFT_TEST_FLOWER")
    if not python:
        pytest.skip("needs an environment with Flower: `make test-flower`")
    program = EXAMPLES / "federated" / "with_flower.py"
    said = run(python, program, server.url, cwd=tmp_path, timeout=900)
    print(said)
    check_federated([json.loads(line) for line in said.splitlines() if line.startswith("{")], rounds=6)


@pytest.mark.flare
def test_flare_trains_on_the_sites_that_fedsift_samples(server: Server, tmp_path: Path) -> None:
    python = os.environ.get("FEDSIFT_TEST_FLARE")
    if not python:
        pytest.skip("needs an environment with NVIDIA FLARE: `make test-flare`")
    program = EXAMPLES / "federated" / "with_flare.py"
    said = run(python, program, server.url, cwd=tmp_path, timeout=900)
    print(said)
    check_federated([json.loads(line) for line in said.splitlines() if line.startswith("{")], rounds=6)
