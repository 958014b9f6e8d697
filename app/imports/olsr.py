"""OLSR's topology, as jsoninfo (JSON) or txtinfo (text) give it.

A row says that `last hop` reaches `destination`. LQ is the share of the destination's packets that arrive at the last
hop, NLQ that of the last hop's packets that arrive at the destination. So a row measures both ways.
"""

import re
from collections.abc import Mapping
from typing import Any

from app.imports.draft import Draft, Row, Source
from solver.errors import InvalidInputError

__all__ = ["read_jsoninfo", "read_txtinfo"]

_NOTES = ("loss from NLQ towards the destination, from LQ back where no row has that way",)
# Begun once: a search would try every `dest` of a line, and read the rest of the line each time.
_HEADER = re.compile(r"(?:(?!dest).)*+dest\S*+\s.*last\s?hop", re.IGNORECASE)


def read_jsoninfo(name: str, document: Mapping[str, Any]) -> Draft:
    """The list `topology` of a jsoninfo answer.

    Raises:
        InvalidInputError: an entry lacks one of its ends.
    """
    entries = document["topology"]
    if not isinstance(entries, list):
        raise InvalidInputError(f"{name}, topology", "must be a list")
    rows = []
    for i, entry in enumerate(entries):
        place = f"{name}, topology[{i}]"
        if not isinstance(entry, Mapping):
            raise InvalidInputError(place, "must be an object")
        ends = entry.get("lastHopIP"), entry.get("destinationIP")
        if None in ends:
            raise InvalidInputError(place, "must have lastHopIP and destinationIP")
        rows.append((place, *ends, entry.get("linkQuality"), entry.get("neighborLinkQuality")))
    return _draft("OLSR jsoninfo", rows)


def read_txtinfo(source: Source) -> Draft:
    """The table with destination, last hop, LQ and NLQ; other tables are passed over.

    Raises:
        InvalidInputError: there is no such table, or a row of it is cut short.
    """
    rows: list[tuple[Any, ...]] = []
    within = found = False
    for number, line in enumerate(source.text.splitlines(), start=1):
        cells = line.split()
        if _HEADER.match(line):
            within = found = True
        elif not cells or cells[0] == "Table:":
            within = False
        elif within:
            if len(cells) < 4:
                raise InvalidInputError(f"{source.name}, line {number}", "must have destination, last hop, LQ and NLQ")
            rows.append((f"{source.name}, line {number}", cells[1], cells[0], cells[2], cells[3]))
    if not found:
        raise InvalidInputError(source.name, "has no table with destination, last hop, LQ and NLQ")
    return _draft("OLSR txtinfo", rows)


def _draft(name: str, rows: list[tuple[Any, ...]]) -> Draft:
    links = {(hop, end): Row(place, {"from": hop, "to": end, "quality": nlq}) for place, hop, end, _, nlq in rows}
    back = {
        (end, hop): Row(place, {"from": end, "to": hop, "quality": lq})
        for place, hop, end, lq, _ in rows
        if (end, hop) not in links and lq is not None
    }
    return Draft(name, [], [*links.values(), *back.values()], directed=True, complete=False, notes=_NOTES)
