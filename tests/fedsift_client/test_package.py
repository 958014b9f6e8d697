"""The client's distribution: light, for old Pythons too, and without code of the service."""

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2] / "clients" / "python"
MODULES = sorted((ROOT / "fedsift_client").rglob("*.py"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NEEDED = {"httpx", "numpy"}
OPTIONAL = {"flwr", "nvflare", "pandas"}


def roots(path: Path) -> set[str]:
    """The top-level packages that a module imports, anywhere in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 10))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            names.add(node.module or "")
    return {name.partition(".")[0] for name in names}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_a_module_imports_what_the_distribution_declares(path: Path) -> None:
    assert roots(path) - set(sys.stdlib_module_names) <= {"fedsift_client", *NEEDED, *OPTIONAL}


def test_it_declares_two_packages() -> None:
    assert {line.partition(">")[0] for line in PROJECT["dependencies"]} == NEEDED
    assert PROJECT["requires-python"] == ">=3.10"


def test_it_loads_nothing_optional() -> None:
    script = (
        f"import sys, fedsift_client; print(sorted({OPTIONAL | {'networkx', 'app', 'solver'}!r} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
