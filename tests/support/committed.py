"""The committed results of experiments, and the sentences about them."""

import csv
import re
from functools import cache
from pathlib import Path

from tests.support.documents import ROOT

RESULTS = ROOT / "docs" / "results"
Row = dict[str, str]


@cache
def rows(table: str) -> list[Row]:
    """The rows of a table in docs/results/, such as `ours/ours`."""
    with (RESULTS / f"{table}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def row(table: str, **wanted: str) -> Row:
    """The one row that has these values."""
    (found,) = (one for one in rows(table) if wanted.items() <= one.items())
    return found


def prose(page: Path) -> str:
    """The text of a page on one line, so that a sentence may break anywhere."""
    return re.sub(r"\s+", " ", page.read_text(encoding="utf-8"))
