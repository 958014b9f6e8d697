"""docs/notation.md names only what is in the code."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def rows() -> list[tuple[str, list[str], list[str]]]:
    """Symbol, code names and files of each row of the table."""
    found = []
    for line in (ROOT / "docs/notation.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| ") and cells[0] != "paper":
            found.append((cells[0], re.findall(r"`([^`]+)`", cells[1]), re.findall(r"`([^`]+)`", cells[4])))
    return found


@pytest.mark.parametrize(("symbol", "names", "files"), rows(), ids=[row[0] for row in rows()])
def test_each_name_stands_in_a_file_named_beside_it(symbol: str, names: list[str], files: list[str]) -> None:
    text = "\n".join((ROOT / file).read_text() for file in files)
    for name in names:
        word = re.split(r"\W", name.removeprefix("len(").split(".")[-1])[0]
        assert not files or re.search(rf"\b{word}\b", text), f"{symbol}: {name} is not in {', '.join(files)}"


def test_the_table_is_read() -> None:
    assert len(rows()) >= 35
