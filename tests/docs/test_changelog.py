"""CHANGELOG.md has the shape of Keep a Changelog 1.1, and this version stands in it."""

import datetime as dt
import re
import tomllib

from tests.support.documents import ROOT

TEXT = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
KINDS = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")
RELEASE = re.compile(r"^## \[(\d+\.\d+\.\d+)\] - (\d{4}-\d{2}-\d{2})$")


def sections() -> list[tuple[str, list[str]]]:
    """Each heading of the second level with the lines under it."""
    parts = re.split(r"^(## .+)$", TEXT, flags=re.MULTILINE)[1:]
    return [(head, body.strip().splitlines()) for head, body in zip(parts[::2], parts[1::2], strict=True)]


def test_unreleased_comes_first_and_releases_follow_newest_first() -> None:
    heads = [head for head, _ in sections()]
    assert heads[0] == "## [Unreleased]"
    releases = [match.groups() for head in heads[1:] if (match := RELEASE.match(head))]
    assert len(releases) == len(heads) - 1
    order = [(dt.date.fromisoformat(date), tuple(map(int, version.split(".")))) for version, date in releases]
    assert order == sorted(order, reverse=True)


def test_entries_are_sorted_by_kind() -> None:
    for head, lines in sections():
        kinds = [line.removeprefix("### ") for line in lines if line.startswith("#")]
        assert kinds == sorted(set(kinds), key=KINDS.index), head
        assert lines[0].startswith("### "), f"{head} has an entry without a kind"
        for line in lines:
            assert not line or line.startswith(("### ", "- ", "  ")), line


def test_the_version_of_the_package_is_released_in_it() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert f"## [{project['version']}] - " in TEXT


def test_the_client_has_the_version_of_the_service() -> None:
    """Each distribution is built alone, so each names its version; they are released together."""
    files = (ROOT / "pyproject.toml", ROOT / "clients" / "python" / "pyproject.toml")
    first, second = (tomllib.loads(file.read_text(encoding="utf-8"))["project"]["version"] for file in files)
    assert first == second
