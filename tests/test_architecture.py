"""The shape of the code base: what is exported, what imports what, what a light process loads."""

import importlib
import pkgutil
import re
import subprocess
import sys
from types import ModuleType

import numpy as np
import pytest

from solver import plan_offloading, solve_fast, solve_many, start, step_problem
from solver.instances import random_network
from solver.kernels.horizon import solve_packed
from solver.kernels.step import solve_alone

PACKAGES = ("app", "fedl_sim", "fedsift_launcher", "sampler", "solver")


def modules() -> list[str]:
    found = []
    for name in PACKAGES:
        package = importlib.import_module(name)
        found += [name, *(m.name for m in pkgutil.walk_packages(package.__path__, f"{name}."))]
    return found


def sorting_key(name: str) -> tuple[int, list[tuple[int, int, str]]]:
    """Constants, then classes, then the rest; digits within a name count as numbers: how ruff sorts __all__."""
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2
    parts = re.split(r"(\d+)", name)
    return kind, [(1, int(part), "") if part.isdigit() else (0, 0, part) for part in parts if part]


@pytest.mark.parametrize("name", modules())
def test_exports_exist_and_are_sorted(name: str) -> None:
    module: ModuleType = importlib.import_module(name)
    exported = list(getattr(module, "__all__", []))
    assert exported == sorted(set(exported), key=sorting_key)
    for each in exported:
        assert hasattr(module, each), f"{name}.__all__ names {each}, which is not there"


def test_kernels_are_compiled_for_one_kind_of_arrays_only() -> None:
    """Numba compiles anew for each mixture of read-only and writable arrays, for half a minute each."""
    network = random_network(np.random.default_rng(1), 30)
    plan_offloading(network, [0, 1], horizon=3)
    problem = step_problem(network, start(network, [0, 1]))
    solve_fast(problem, tolerance=1)
    solve_many([problem])
    assert len(solve_alone.signatures) == 1  # type: ignore[attr-defined]
    assert len(solve_packed.signatures) == 1  # type: ignore[attr-defined]


@pytest.mark.parametrize("entry", ["solver", "app.main"])
def test_a_light_process_loads_neither_torch_nor_cvxpy(entry: str) -> None:
    script = (
        f"import {entry}, sys; print([m for m in ('torch', 'torch_geometric', 'cvxpy', 'sklearn') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
