"""What scenarios found, as lines and as the table of docs/reliability.md."""

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["row", "table"]

_MARKS = {True: "holds", False: "FAILS", None: "not run"}


def row(found: Mapping[str, Any]) -> str:
    """One scenario in one line."""
    return f"{_MARKS[found['holds']]:8} {found['name']} ({found['seconds']} s): {found['measured']}"


def table(found: Sequence[Mapping[str, Any]], before: Mapping[str, Mapping[str, Any]]) -> str:
    """A Markdown table: fault, what must hold, what an earlier run measured, what this one did."""
    lines = ["| fault | must hold | before | now |", "|---|---|---|---|"]
    for one in found:
        earlier = before.get(one["name"])
        lines.append(f"| {one['fault']} | {one['must']} | {_cell(earlier)} | {_cell(one)} |")
    return "\n".join(lines)


def _cell(found: Mapping[str, Any] | None) -> str:
    if found is None:
        return "–"
    return str(found["measured"]) if found["holds"] else f"**{found['measured']}**"
