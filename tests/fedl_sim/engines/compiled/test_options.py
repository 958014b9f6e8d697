"""A process that compiles the training kernels and one that loads them from the cache compute the same bits."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[4]


def run(cache: Path) -> dict[str, Any]:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, "-m", "tests.support.kernel_bits"]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=True)
    report: dict[str, Any] = json.loads(done.stdout)
    return report


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def compiling(cache: Path) -> dict[str, Any]:
    return run(cache)


def test_a_loading_process_computes_the_bits_of_the_compiling_one(compiling: dict[str, Any], cache: Path) -> None:
    loading = run(cache)
    assert (compiling["loaded"], compiling["compiled"]) == (0, 6)
    assert (loading["loaded"], loading["compiled"]) == (6, 0)
    assert loading["measured"] == compiling["measured"]


def test_no_kernel_calls_another(compiling: dict[str, Any]) -> None:
    assert len(compiling["calls"]) == 6
    assert {name for name, called in compiling["calls"].items() if called} == set()
