"""Tables on a terminal that never cut a cell: where columns do not fit, each row becomes a few lines."""

import shutil
from collections.abc import Sequence

__all__ = ["text_table"]

_BETWEEN = "  "


def text_table(headings: Sequence[str], rows: Sequence[Sequence[str]], width: int | None = None) -> str:
    """The rows under their headings, the first column to the left and the others to the right.

    If that is wider than `width`, by default the terminal's, every row is a paragraph: its first cell, and below it
    each other heading with its cell.
    """
    room = shutil.get_terminal_size().columns if width is None else width
    columns = list(zip(headings, *rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    if sum(widths) + len(_BETWEEN) * (len(widths) - 1) > room:
        return "\n".join(_paragraph(headings, row) for row in rows)
    lines = [_line(headings, widths), _BETWEEN.join("─" * one for one in widths)]
    return "\n".join([*lines, *(_line(row, widths) for row in rows)])


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = zip(cells, widths, strict=True)
    told = [first[0].ljust(first[1]), *(cell.rjust(one) for cell, one in others)]
    return _BETWEEN.join(told).rstrip()


def _paragraph(headings: Sequence[str], row: Sequence[str]) -> str:
    longest = max(map(len, headings[1:]), default=0)
    told = (
        f"{_BETWEEN}{name.ljust(longest)}{_BETWEEN}{cell}" for name, cell in zip(headings[1:], row[1:], strict=True)
    )
    return "\n".join([row[0], *told])
