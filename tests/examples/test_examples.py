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


def check_federated(said: str, rounds: int) -> None:
    """Only sampled devices train, a failed server goes on, who dies is replaced and comes back, orders are kept."""
    reports = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    assert reports
    for report in reports:
        lines: list[dict[str, Any]] = report["fedsift"]
        # The server failed in round 2. The next one went on with the same run, and no round is missing or there twice.
        assert len(lines) == len(report["random"]) == rounds
        assert len({line["run"] for line in lines}) == 1
        assert report["moved"] == sum(line["arrived"] for line in lines) > 0
        dead = lines[2]["dead"]
        assert [line["dead"] for line in lines] == [None, None, dead, dead, *[None] * (rounds - 4)]
        for number, line in enumerate(lines, 1):
            assert set(line["trained"]) == set(line["sampled"]) - set(line["lost"])
            # Frameworks may lose devices at a start, too, and find them again. Those send nothing.
            if set(line["lost"]) <= {line["dead"]}:
                assert line["arrived"] == line["ordered"]
            assert (dead in line["lost"]) == (number == 3)
            assert (dead in line["joined"]) == (number == 5)
            assert (dead in [one["lost"] for one in line["replaced"]]) == (number == 4)
        assert all(dead not in line["sampled"] for line in lines[3:5])
    # Single rounds are noisy. Who is drawn at random differs from run to run, so that is for the table alone.
    late = [line["accuracy"] for report in reports for line in report["fedsift"][-3:]]
    assert mean(late) > reports[0]["start"] + 0.2


def train_with(framework: str, server: Server, tmp_path: Path) -> None:
    python = os.environ.get(f"FEDSIFT_TEST_{framework.upper()}")
    if not python:
        pytest.skip(f"needs an environment with the framework: `make test-{framework}`")
    program = EXAMPLES / "federated" / f"with_{framework}.py"
    said = run(python, program, server.url, "--seeds", "1", cwd=tmp_path, timeout=1800)
    print(said)
    check_federated(said, rounds=6)


@pytest.mark.flower
def test_flower_trains_on_the_nodes_that_fedsift_samples(server: Server, tmp_path: Path) -> None:
    train_with("flower", server, tmp_path)


@pytest.mark.flare
def test_flare_trains_on_the_sites_that_fedsift_samples(server: Server, tmp_path: Path) -> None:
    train_with("flare", server, tmp_path)
