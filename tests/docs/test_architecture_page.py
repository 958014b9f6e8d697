"""docs/architecture.md names every module, follows five requests through functions, and lists all contracts."""

import re
import tomllib
from collections import Counter

import pytest

from tests.support.documents import PACKAGES, ROOT, name_of, resolves

TEXT = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
WALKS = (
    "POST /v1/plans",
    "POST /v1/runs/{id}/aggregations",
    "POST /v1/validations",
    "fedsift experiment convergence",
    "fedsift train",
)


def section(title: str) -> str:
    """What stands under a heading of the second level."""
    return re.split(r"^## ", TEXT.split(f"\n## {title}\n")[1], flags=re.MULTILINE)[0]


def named_modules() -> list[str]:
    """Every module of the tables, as a path from the root: the heading has the folder, the first column the module."""
    found = []
    for folder, rows in re.findall(r"^### `([\w/]+)/`\n(.*?)(?=^##|\Z)", TEXT, flags=re.MULTILINE | re.DOTALL):
        found += [f"{folder}/{name}.py" for name in re.findall(r"^\| `(\w+)` \|", rows, re.MULTILINE)]
    return found


def test_the_page_names_each_module_once_and_no_other() -> None:
    tree = {
        name_of(path)
        for package in (*PACKAGES, "clients/python/fedsift_client")
        for path in (ROOT / package).rglob("*.py")
        if path.name != "__init__.py" and "__pycache__" not in path.parts
    }
    named = Counter(named_modules())
    assert sorted(tree - set(named)) == [], "missing in docs/architecture.md"
    assert sorted(set(named) - tree) == [], "named there, but not in the tree"
    assert [name for name, times in named.items() if times > 1] == []


@pytest.mark.parametrize("walk", WALKS)
def test_every_step_of_a_walk_exists(walk: str) -> None:
    walks = dict(re.findall(r"^### `([^`]+)`\n(.*?)(?=^###|\Z)", section("Walks"), flags=re.MULTILINE | re.DOTALL))
    assert set(walks) == set(WALKS)
    steps = re.findall(r"^\d+\. `([\w.]+)`", walks[walk], re.MULTILINE)
    assert len(steps) >= 5
    assert len(steps) == len(re.findall(r"^\d+\.", walks[walk], re.MULTILINE)), "a step begins with a function"
    assert [step for step in steps if step.count(".") < 2 or not resolves(step)] == []


def test_all_import_contracts_are_listed() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    listed = re.findall(r"^- (.+?)\.$", section("Import contracts"), re.MULTILINE)
    assert sorted(listed) == sorted(contract["name"] for contract in settings["contracts"])
