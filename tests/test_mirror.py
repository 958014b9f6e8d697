"""The shape of the tests: they mirror the source, and share nothing but tests/support."""

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
SOURCE = TESTS.parent
PACKAGES = ("app", "fedl_sim", "fedsift_launcher", "sampler", "solver")


def imported(path: Path) -> set[str]:
    """The modules that a file names in its imports, also those of `from package import module`."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            package = "." * node.level + (node.module or "")
            names |= {package, *(f"{package}.{alias.name}" for alias in node.names)}
    return names


def test_tests_share_nothing_but_support() -> None:
    shared = {
        (str(path.relative_to(TESTS)), name)
        for path in TESTS.rglob("*.py")
        if "programs" not in path.parts  # programs that tests start, written for users
        for name in imported(path)
        if name.startswith(("tests.", ".", "conftest")) and not f"{name}.".startswith("tests.support.")
    }
    assert shared == set()


@pytest.mark.parametrize("package", PACKAGES)
def test_every_folder_of_tests_stands_where_its_source_stands(package: str) -> None:
    folders = {path.parent.relative_to(TESTS) for path in (TESTS / package).rglob("test_*.py")}
    assert folders
    assert [folder for folder in sorted(folders) if not any((SOURCE / folder).glob("*.py"))] == []
