"""Tables with one set of columns, written as CSV, JSON and Markdown."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

__all__ = ["NOT_RUN", "Spread", "Table"]

NOT_RUN = "·"

Value = str | int | float | None


@dataclass(frozen=True)
class Spread:
    """A mean over seeds with its standard deviation; `None` where nothing was measured."""

    mean: float
    deviation: float
    count: int

    def text(self, digits: int = 3) -> str:
        """Return the text for a table."""
        if self.count == 0:
            return NOT_RUN
        mean = f"{self.mean:.{digits}f}"
        return mean if self.count == 1 else f"{mean} ± {self.deviation:.{digits}f}"


@dataclass(frozen=True)
class Table:
    """Rows of plain values under named columns.

    Attributes:
        name: file name without extension.
        title: one line above the Markdown.
        columns: in order.
        rows: each with a value for every column; None is an empty cell.
        notes: lines below the Markdown.
        bulk: thousands of rows for programs; written as CSV only.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[Mapping[str, Value], ...]
    notes: tuple[str, ...] = field(default=())
    bulk: bool = False

    def __post_init__(self) -> None:
        for row in self.rows:
            if set(row) != set(self.columns):
                raise ValueError(f"a row of {self.name} has {sorted(row)} where {sorted(self.columns)} is asked for")

    def csv(self) -> str:
        """Return the rows as CSV, numbers with all digits."""
        stream = io.StringIO()
        writer = csv.DictWriter(stream, self.columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows)
        return stream.getvalue()

    def json(self, about: Mapping[str, object]) -> str:
        """Return the rows and their origin as JSON."""
        return json.dumps({**about, "title": self.title, "rows": self.rows}, indent=1, ensure_ascii=False) + "\n"

    def markdown(self) -> str:
        """Return the table as Markdown, numbers rounded."""
        lines = [f"**{self.title}**", "", _line(self.columns), _line(["---"] * len(self.columns))]
        lines += [_line([_shown(row[column]) for column in self.columns]) for row in self.rows]
        if self.notes:
            lines += ["", *self.notes]
        return "\n".join(lines) + "\n"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _shown(value: Value) -> str:
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
