"""Every make target that a document names is run by CI, or CONTRIBUTING says that it is not, and why."""

import re
from functools import cache

from tests.support.documents import ROOT, code_of, documents

NAME = r"[a-z]+(?:-[a-z]+)*"
NAMED = re.compile(rf"\bmake ({NAME})")


@cache
def makefiles() -> str:
    """All makefiles as one text, each line whole."""
    paths = [ROOT / "Makefile", *(ROOT / "deploy").glob("*.mk")]
    return "\n".join(path.read_text(encoding="utf-8") for path in paths).replace("\\\n", " ")


@cache
def needs() -> dict[str, set[str]]:
    """The targets that each target runs: its prerequisites, and those that its recipe calls make for."""
    lists = dict(re.findall(r"^([A-Z]+) := (.+)$", makefiles(), re.MULTILINE))
    found: dict[str, set[str]] = {}
    for names, first, recipe in re.findall(r"^([a-z -]+):(?!=)([^#\n]*).*\n((?:\t.*\n)*)", makefiles(), re.MULTILINE):
        calls = re.findall(r"^\t\$\((?:MAKE|SMALL)\)(.*)$", recipe, re.MULTILINE)
        words = re.sub(r"\$\(([A-Z]+)\)", lambda one: lists.get(one[1], ""), " ".join([first, *calls])).split()
        for name in names.split():
            found.setdefault(name, set()).update(words)
    return found


def with_all_needed(names: set[str]) -> set[str]:
    more = {one for name in names for one in needs().get(name, ()) if one in needs()} - names
    return with_all_needed(names | more) if more else names


def run_by_ci() -> set[str]:
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    return with_all_needed({name for line in lines if not line.startswith("#") for name in NAMED.findall(line)})


def not_run_by_ci() -> set[str]:
    """The first column of CONTRIBUTING's table."""
    rows = re.findall(r"^\| (`make .+?) \|", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.MULTILINE)
    return {name for row in rows for name in NAMED.findall(row)}


def test_ci_runs_every_target_that_a_document_names() -> None:
    # The changelog is history.
    pages = [path for path in documents() if path.name != "CHANGELOG.md"]
    code = [line.split("#")[0] for path in pages for line in code_of(path.read_text(encoding="utf-8"))]
    named = {name for line in code for name in NAMED.findall(line)}
    assert len(named) > 30
    assert named - run_by_ci() - not_run_by_ci() == set()


def test_every_target_that_measures_is_run_by_ci() -> None:
    measuring = {name for name in needs() if name.startswith(("bench-", "test-"))}
    assert measuring - run_by_ci() - not_run_by_ci() == set()


def test_ci_does_not_run_what_contributing_says_it_does_not() -> None:
    assert not_run_by_ci() & run_by_ci() == set()
    assert not_run_by_ci() <= needs().keys()
