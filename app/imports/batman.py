"""B.A.T.M.A.N. advanced's map as alfred's batadv-vis and `batctl vd` write it: JSON lines, one document, or dot.

A link's label is 255/TQ: how many transmissions one delivery takes. Interfaces of one device (`secondary`) are merged.
Clients behind a device (`TT`) are no devices.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from app.imports.draft import Draft, Row, Source
from solver.errors import InvalidInputError

__all__ = ["read_dot", "read_vis", "read_vis_lines"]

_NOTES = ("a link's label is read as 255/TQ",)
# Spaces are taken once and for all (`*+`): given back one by one, a line of a thousand of them takes minutes.
_NAME = r'"?([\w.:-]+)"?'
_ARROW = re.compile(rf"\s*+{_NAME}\s*+->\s*+{_NAME}\s*+(?:\[([^\]]*+)\]\s*+)?;?\s*+")
_LABEL = re.compile(r'label\s*=\s*"?([^",\]\s]+)')
_CLUSTER = re.compile(r'\s*+subgraph\s++"?cluster_([\w.:-]+)"?\s*+{?\s*+')
_MEMBER = re.compile(rf"\s*+{_NAME}\s*+(?:\[[^\]]*+\]\s*+)?;?\s*+")


class _Map:
    """The devices by their interfaces, and links between interfaces."""

    def __init__(self) -> None:
        self.device_of: dict[str, str] = {}
        self.links: list[tuple[str, str, str, str]] = []

    def add(self, place: str, router: Any, neighbor: Any, label: Any) -> None:
        """A link between two interfaces; a label that is not a number belongs to a client."""
        try:
            float(label)
        except (TypeError, ValueError):
            if label == "TT":
                return
            raise InvalidInputError(place, f"the label {label!r} is not a number") from None
        self.links.append((place, str(router), str(neighbor), label))

    def draft(self, name: str) -> Draft:
        """The links between devices."""
        devices = dict.fromkeys(self.device_of.values())
        rows = [
            Row(place, {"from": self.device_of.get(a, a), "to": self.device_of.get(b, b), "etx": label})
            for place, a, b, label in self.links
        ]
        nodes = [Row(name, {"id": device}) for device in devices]
        return Draft(name, nodes, rows, directed=True, complete=False, notes=_NOTES)


def read_vis(name: str, document: Mapping[str, Any]) -> Draft:
    """One JSON document (`batadv-vis -f jsondoc`).

    Raises:
        InvalidInputError: an entry of `vis` is no such object.
    """
    found = _Map()
    entries = document["vis"]
    if not isinstance(entries, list):
        raise InvalidInputError(f"{name}, vis", "must be a list")
    for i, entry in enumerate(entries):
        place = f"{name}, vis[{i}]"
        if not isinstance(entry, Mapping) or not isinstance(entry.get("primary"), str):
            raise InvalidInputError(place, "must be an object with the address primary")
        for interface in (entry["primary"], *_list(entry, "secondary", place)):
            found.device_of[str(interface)] = entry["primary"]
        for j, link in enumerate(_list(entry, "neighbors", place)):
            if not isinstance(link, Mapping) or "router" not in link or "neighbor" not in link:
                raise InvalidInputError(f"{place}.neighbors[{j}]", "must have router and neighbor")
            found.add(f"{place}.neighbors[{j}]", link["router"], link["neighbor"], link.get("metric"))
    return found.draft("B.A.T.M.A.N. map (JSON)")


def _list(entry: Mapping[str, Any], key: str, place: str) -> list[Any]:
    found = entry.get(key, [])
    if not isinstance(found, list):
        raise InvalidInputError(f"{place}.{key}", "must be a list")
    return found


def read_vis_lines(source: Source) -> Draft:
    """An object on each line (`batadv-vis -f json`, `batctl vd json`).

    Raises:
        InvalidInputError: a line is no JSON object.
    """
    found = _Map()
    for number, line in enumerate(source.text.splitlines(), start=1):
        place = f"{source.name}, line {number}"
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
        except json.JSONDecodeError as error:
            raise InvalidInputError(f"{place}, column {error.colno}", f"is not JSON: {error.msg}") from None
        except (ValueError, RecursionError):
            entry = None
        if not isinstance(entry, Mapping):
            raise InvalidInputError(place, "is not a JSON object")
        if "primary" in entry:
            found.device_of.setdefault(str(entry["primary"]), str(entry["primary"]))
        elif "secondary" in entry and "of" in entry:
            found.device_of[str(entry["secondary"])] = str(entry["of"])
        elif "router" in entry and "neighbor" in entry:
            found.add(place, entry["router"], entry["neighbor"], entry.get("label"))
    return found.draft("B.A.T.M.A.N. map (JSON lines)")


def read_dot(source: Source) -> Draft:
    """Graphviz's dot, as batadv-vis writes it: one link or node on a line.

    Raises:
        InvalidInputError: a line is none of these.
    """
    found = _Map()
    cluster: str | None = None
    for number, line in enumerate(source.text.splitlines(), start=1):
        place = f"{source.name}, line {number}"
        if arrow := _ARROW.fullmatch(line):
            label = _LABEL.search(arrow[3] or "")
            if label is None:
                raise InvalidInputError(place, "the link has no label")
            found.add(place, arrow[1], arrow[2], label[1])
        elif start := _CLUSTER.fullmatch(line):
            cluster = start[1]
        elif line.strip() in {"}", "};"}:
            cluster = None
        elif "{" in line or not line.strip():
            continue
        elif member := _MEMBER.fullmatch(line):
            found.device_of[member[1]] = cluster or member[1]
        else:
            raise InvalidInputError(place, "is neither a link nor a node")
    return found.draft("B.A.T.M.A.N. map (dot)")
