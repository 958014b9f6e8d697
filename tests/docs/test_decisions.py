"""Records of decisions: their numbers, heads, sections and index, and every mention of one."""

import datetime as dt
import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from tests.support.documents import ROOT, documents, name_of, source_texts

FOLDER = ROOT / "docs" / "adr"
RECORDS = sorted(FOLDER.glob("[0-9]*.md"))
NUMBERS = {path.name[:4] for path in RECORDS}
# "ADR 0008", "ADRs 0028 and 0029".
MENTION = re.compile(r"\bADRs? (\d{4})(?:(?:,| and) (\d{4}))?")


@pytest.fixture(scope="module")
def index() -> ModuleType:
    """The script that `make adr` runs."""
    spec = importlib.util.spec_from_file_location("adr_index", FOLDER / "index.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_numbers_have_no_gaps() -> None:
    assert [path.name[:4] for path in RECORDS] == [f"{k:04}" for k in range(1, len(RECORDS) + 1)]


def test_the_index_is_what_the_command_writes(index: ModuleType) -> None:
    written = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert written == index.index(), "run `make adr`"
    assert [line[2:8] for line in written.splitlines() if line.startswith("| [")] == [f"[{n}]" for n in sorted(NUMBERS)]


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.name)
def test_a_record_has_number_status_date_and_its_sections(path: Path, index: ModuleType) -> None:
    head = index.read(path)
    assert head.number == path.name[:4]
    assert not head.title.endswith(".")
    assert dt.date.fromisoformat(head.date) >= dt.date(2026, 11, 16)
    if head.status != "accepted":
        later = head.status.removeprefix("superseded by ")
        assert later in NUMBERS
        assert later > head.number
    text = path.read_text(encoding="utf-8")
    places = [text.find(f"**{section}.**") for section in ("Context", "Decision", "Consequences", "Alternatives")]
    assert -1 not in places
    assert places == sorted(places)
    assert len(text.splitlines()) <= 60, "one page each"


def test_a_record_without_a_date_is_named(index: ModuleType, tmp_path: Path) -> None:
    record = tmp_path / "0001-no-date.md"
    record.write_text("# 0001. No date\n\nStatus: accepted\n\n**Context.** None.\n", encoding="utf-8")
    with pytest.raises(ValueError, match="0001-no-date.md"):
        index.read(record)


def test_every_decision_that_is_cited_exists() -> None:
    unknown = {}
    for path in (*documents(), *source_texts()):
        cited = {number for match in MENTION.findall(path.read_text(encoding="utf-8")) for number in match if number}
        if cited - NUMBERS:
            unknown[name_of(path)] = cited - NUMBERS
    assert unknown == {}
