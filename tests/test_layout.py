"""The size of files, functions and folders, and names of modules that a reader could confuse."""

import ast
from collections import Counter, defaultdict

import pytest

from tests.support.documents import PACKAGES, ROOT, name_of

SOURCES = [path for package in (*PACKAGES, "clients") for path in sorted((ROOT / package).rglob("*.py"))]
ALL_PYTHON = [
    path
    for folder in (*PACKAGES, "benchmarks", "clients", "deploy", "docs", "examples", "tests")
    for path in sorted((ROOT / folder).rglob("*.py"))
]
# Names of roles: many folders have a module of the same role.
ROLES = {
    *("__init__", "__main__", "answer", "base", "command", "errors", "health", "main", "registry", "request"),
    *("router", "schemas", "service", "store"),
}
# Groups of names that stood for different things side by side: of each group one module at most remains.
CONFUSING = [
    {"experiment", "experiments"},
    {"trainer", "training"},
    {"plans", "planning"},
    {"scheme", "schemes"},
    {"informed"},
    {"probe"},
]


def test_no_file_is_longer_than_450_lines() -> None:
    long = {name_of(p): n for p in ALL_PYTHON if (n := len(p.read_text(encoding="utf-8").splitlines())) > 450}
    assert long == {}


def test_no_function_is_longer_than_60_lines() -> None:
    long = {}
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > 60:
                    long[f"{name_of(path)}:{node.name}"] = lines
    assert long == {}


def test_no_folder_is_a_crowd() -> None:
    """Up to 14 modules side by side. The solver's kernels are one pipeline and may stay flat (ADR 0040)."""
    sizes = Counter(path.parent for path in SOURCES if path.stem != "__init__")
    assert {name_of(folder): n for folder, n in sizes.items() if n > 14 and folder != ROOT / "solver" / "kernels"} == {}


@pytest.mark.parametrize("package", PACKAGES)
def test_a_name_stands_for_one_module_of_a_package(package: str) -> None:
    """Compiled kernels may have the name of the module that they compute for."""
    places = defaultdict(list)
    for path in sorted((ROOT / package).rglob("*.py")):
        if path.stem not in ROLES and path.parent.name != "kernels":
            places[path.stem].append(name_of(path))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


@pytest.mark.parametrize("group", CONFUSING, ids=lambda group: "-".join(sorted(group)))
def test_names_that_were_confused_do_not_return(group: set[str]) -> None:
    assert len([name_of(path) for path in SOURCES if path.stem in group]) <= 1


def test_all_devices_have_one_name() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in SOURCES)
    assert "EVERYBODY" not in text


# These have targets of their own: they drive what may take longer, and may be timed.
APART = {"browser", "chaos", "clients", "examples", "image"}
WAITS = {"communicate", "join", "result", "sleep", "wait", "wait_for_workers"}
CLOCKS = {"monotonic", "perf_counter", "perf_counter_ns"}


def called(node: ast.AST) -> str:
    """The last name of what is called."""
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def is_long(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float) and node.value > 60


def waits_too_long(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    timeouts = [word.value for word in node.keywords if word.arg in {"timeout", "patience"}]
    return any(map(is_long, timeouts + (node.args[:1] if called(node) in WAITS else [])))


def measures_time(node: ast.AST) -> bool:
    return isinstance(node, ast.Assign) and any(called(each) in CLOCKS for each in ast.walk(node.value))


def test_no_test_waits_for_more_than_a_minute_or_measures_time() -> None:
    """On a busy machine everything takes long: tests wait by `tests.support.waiting`, and benchmarks measure."""
    tests = ROOT / "tests"
    apart = {tests / "support" / name for name in ("containers.py", "waiting.py")}
    paths = {path for path in tests.rglob("*.py") if path.relative_to(tests).parts[0] not in APART} - apart
    found = {
        f"{name_of(path)}:{node.lineno}"
        for path in paths
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call | ast.Assign) and (waits_too_long(node) or measures_time(node))
    }
    assert found == set()
