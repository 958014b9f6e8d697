"""The console script runs our packages, also where PYTHONPATH leads to others of the same names."""

import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from app.plans.request import EXAMPLE
from tests.support.command import packages_of_our_names
from tests.support.waiting import PATIENCE

FEDSIFT = Path(sys.executable).with_name("fedsift")


def run(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "PYTHONPATH": "."}
    command = [str(FEDSIFT), *words]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE
    )


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    return packages_of_our_names(tmp_path / "hostile")


def test_a_command_runs_beside_packages_of_the_same_names(hostile: Path) -> None:
    done = run(hostile, "--version")
    assert (done.stdout, done.stderr) == (f"fedsift {version('fedsift')}\n", "")


def test_it_plans_beside_packages_of_the_same_names(hostile: Path) -> None:
    (hostile / "request.json").write_text(json.dumps(EXAMPLE))
    done = run(hostile, "plan", "request.json", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["status"] == "optimal"


def test_one_of_these_packages_may_be_loaded_already(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("")
    (tmp_path / "sitecustomize.py").write_text("import app\n")
    done = run(tmp_path, "--version")
    assert (done.stdout, done.stderr) == (f"fedsift {version('fedsift')}\n", "")
