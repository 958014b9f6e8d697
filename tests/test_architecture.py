"""The shape of the code base: what is exported, what imports what, what a light process loads."""

import importlib
import pkgutil
import subprocess
import sys
from types import ModuleType

import numpy as np
import pytest

from solver import plan_offloading, solve_fast, solve_many, start, step_problem
from solver.instances import random_network
from solver.kernels.step import solve_step

PACKAGES = ("app", "fedl_sim", "sampler", "solver")


def modules() -> list[str]:
    found = []
    for name in PACKAGES:
        package = importlib.import_module(name)
        found += [name, *(m.name for m in pkgutil.walk_packages(package.__path__, f"{name}."))]
    return found


@pytest.mark.parametrize("name", modules())
def test_exports_exist_and_are_sorted(name: str) -> None:
    module: ModuleType = importlib.import_module(name)
    exported = getattr(module, "__all__", [])
    # Constants, then classes, then functions, each in order: how ruff sorts __all__.
    assert len(set(exported)) == len(exported)
    for each in exported:
        assert hasattr(module, each), f"{name}.__all__ names {each}, which is not there"


def test_kernels_are_compiled_for_one_kind_of_arrays_only() -> None:
    """Numba compiles anew for each mixture of read-only and writable arrays, for half a minute each."""
    network = random_network(np.random.default_rng(1), 30)
    plan_offloading(network, [0, 1], horizon=3)
    problem = step_problem(network, start(network, [0, 1]))
    solve_fast(problem, tolerance=1)
    solve_many([problem])
    assert len(solve_step.signatures) == 1  # type: ignore[attr-defined]


@pytest.mark.parametrize("entry", ["solver", "app.main"])
def test_a_light_process_loads_neither_torch_nor_cvxpy(entry: str) -> None:
    script = (
        f"import {entry}, sys; print([m for m in ('torch', 'torch_geometric', 'cvxpy', 'sklearn') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
