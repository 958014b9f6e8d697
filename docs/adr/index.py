"""Write README.md of this folder: one row for each decision. `make adr` runs it."""

import re
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Decision", "decisions", "index", "read"]

FOLDER = Path(__file__).parent
HEADER = """# Decisions

Each record is one page: context, decision, consequences, alternatives. A decision that no longer holds keeps its
record, and its status names the record that supersedes it. `make adr` writes this index from the files.

| number | decision | status | date |
|---|---|---|---|
"""
HEAD = re.compile(
    r"# (?P<number>\d{4})\. (?P<title>\S.*)\n\n"
    r"Status: (?P<status>accepted|superseded by \d{4})\n"
    r"Date: (?P<date>\d{4}-\d{2}-\d{2})\n\n"
)


@dataclass(frozen=True)
class Decision:
    """The head of one record."""

    file: str
    number: str
    title: str
    status: str
    date: str


def read(path: Path) -> Decision:
    """The head of the record, or a ValueError that names the file."""
    head = HEAD.match(path.read_text(encoding="utf-8"))
    if head is None:
        raise ValueError(f"{path.name} does not begin with '# NNNN. Title', 'Status: …' and 'Date: YYYY-MM-DD'")
    return Decision(path.name, **head.groupdict())


def decisions() -> list[Decision]:
    """All records in the order of their numbers."""
    return [read(path) for path in sorted(FOLDER.glob("[0-9]*.md"))]


def index() -> str:
    """The text of README.md."""
    rows = (f"| [{each.number}]({each.file}) | {each.title} | {each.status} | {each.date} |\n" for each in decisions())
    return HEADER + "".join(rows)


if __name__ == "__main__":
    (FOLDER / "README.md").write_text(index(), encoding="utf-8")
