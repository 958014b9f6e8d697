"""CSV tables of devices, links and label counts, told apart by their headers."""

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from app.imports.draft import Draft, Row, Source
from solver.errors import InvalidInputError

__all__ = ["read_label_counts", "read_tables"]

_DELIMITERS = ",;\t"


def read_tables(sources: Sequence[Source]) -> Draft:
    """A table of links has the columns `from` and `to` (or `source` and `target`), one of devices has `id`.

    Without a table of devices, the ends of links are the devices. Links are one way.

    Raises:
        InvalidInputError: a table is neither, or both are of one kind.
    """
    devices: list[Row] | None = None
    links: list[Row] | None = None
    for source in sources:
        header, rows = _table(source)
        if {"from", "source"} & header and {"to", "target"} & header:
            if links is not None:
                raise InvalidInputError(source.name, "is a second table of links")
            links = list(rows)
        elif "id" in header:
            if devices is not None:
                raise InvalidInputError(source.name, "is a second table of devices")
            devices = list(rows)
        else:
            reason = "its first line must name the column id, for devices, or from and to, for links"
            raise InvalidInputError(f"{source.name}, line 1", reason)
    return Draft("CSV", devices or [], links or [], directed=True, complete=devices is not None)


def read_label_counts(source: Source) -> Iterable[Row]:
    """Rows with `id`, `class` and `count`.

    Raises:
        InvalidInputError: a column is missing.
    """
    header, rows = _table(source)
    missing = {"id", "class", "count"} - header
    if missing:
        raise InvalidInputError(f"{source.name}, line 1", f"lacks the column {min(missing)}")
    return rows


def _table(source: Source) -> tuple[set[str], Iterator[Row]]:
    """The names in the header, without units, and the rows."""
    lines = source.text.splitlines()
    first = lines[0] if lines else ""
    reader = csv.reader(lines, delimiter=max(_DELIMITERS, key=first.count), skipinitialspace=True, strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
    except csv.Error as error:
        raise InvalidInputError(f"{source.name}, line 1", f"is not CSV: {error}") from None
    double = next((name for name, count in Counter(header).items() if count > 1), None)
    if double is not None:
        raise InvalidInputError(f"{source.name}, line 1", f"names the column {double!r} twice")
    names = {name.partition("[")[0].partition("(")[0].strip() for name in header}
    return names, _rows(source.name, header, reader)


def _rows(name: str, header: list[str], reader: Iterator[list[str]]) -> Iterator[Row]:
    number = 1
    try:
        for number, cells in enumerate(reader, start=2):
            if not any(cells):
                continue
            if len(cells) != len(header):
                reason = f"has {len(cells)} cells, its header {len(header)}"
                raise InvalidInputError(f"{name}, line {number}", reason)
            yield Row(f"{name}, line {number}", dict(zip(header, map(str.strip, cells), strict=True)))
    except csv.Error as error:
        raise InvalidInputError(f"{name}, line {number + 1}", f"is not CSV: {error}") from None
