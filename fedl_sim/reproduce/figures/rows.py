"""The rows that figures are drawn from: of a table that was just made, or of its CSV file."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fedl_sim.reproduce.tables import Table

__all__ = ["Measured", "Rows", "measured", "number", "read_tables", "rows_of"]

Rows = Sequence[Mapping[str, object]]


@dataclass(frozen=True)
class Measured:
    """What a cell of a table tells: a mean with its error, or the share of runs that reached a target."""

    mean: float | None
    error: float = 0.0
    share: float = 1.0


def rows_of(tables: Sequence[Table]) -> dict[str, Rows]:
    """Return the rows of tables by name."""
    return {table.name: table.rows for table in tables}


def read_tables(folder: Path) -> dict[str, Rows]:
    """Return the rows of all CSV files of a folder by name.

    Raises:
        OSError: there is no such folder.
    """
    found: dict[str, Rows] = {}
    for path in sorted(folder.iterdir()):
        if path.suffix == ".csv":
            with path.open(encoding="utf-8", newline="") as file:
                found[path.stem] = list(csv.DictReader(file))
    return found


def number(value: object) -> float:
    """Return a cell as a number."""
    return float(str(value))


def measured(cell: object) -> Measured:
    """Read `mean ± error`, `mean`, or `– share` of a target that not all runs reached; a point is where nothing ran."""
    text = str(cell)
    if text.startswith("–"):
        share = text.removeprefix("–").strip().removesuffix("%")
        return Measured(None, share=float(share) / 100 if share else 0.0)
    mean, _, error = text.partition(" ± ")
    try:
        return Measured(float(mean), float(error or 0.0))
    except ValueError:
        return Measured(None, share=float("nan"))
