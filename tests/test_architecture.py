"""The shape of the code base: what is exported, what imports what, what a light process loads."""

import importlib
import pkgutil
import subprocess
import sys
from types import ModuleType

import pytest

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


@pytest.mark.parametrize("entry", ["solver", "app.main"])
def test_a_light_process_loads_neither_torch_nor_cvxpy(entry: str) -> None:
    script = (
        f"import {entry}, sys; print([m for m in ('torch', 'torch_geometric', 'cvxpy', 'sklearn') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
