"""JSON graphs: nodes and links as objects (networkx, d3, NetJSON, meshviewer, fleets), or a mesh as columns."""

from collections.abc import Iterator, Mapping
from typing import Any

from app.imports.draft import Draft, Row
from solver.errors import InvalidInputError

__all__ = ["COLUMNS", "read_columns", "read_node_link"]

_IDS = ("id", "node_id", "name")
# A column of links becomes a value of each link. The other columns are of nodes.
COLUMNS = ("source", "target", "quality", "etx", "mbps", "loss", "similarity", "joules_per_megabyte")


def read_columns(name: str, document: Mapping[str, Any]) -> Draft:
    """A mesh as columns: `nodes` is their number, `source` and `target` are node numbers, a link each way.

    Every other list has a value for each node, or for each link if `COLUMNS` has its name. Ids are the nodes' numbers.
    """
    count = document["nodes"]
    source = document.get("source")
    if not isinstance(source, list):
        raise InvalidInputError(f"{name}, source", "must be a list")
    columns = {key: value for key, value in document.items() if isinstance(value, list)}
    links = {key: column for key, column in columns.items() if key in COLUMNS}
    nodes = {key: column for key, column in columns.items() if key not in COLUMNS}
    for group, length in ((nodes, count), (links, len(source))):
        for key, column in group.items():
            if len(column) != length:
                raise InvalidInputError(f"{name}, {key}", f"must have {length} entries, has {len(column)}")
    return Draft(
        "mesh as columns (JSON)",
        # Without a column of nodes their number is only a claim: the devices of the links count.
        [Row(f"{name}, node {i}", {"id": i, **row}) for i, row in enumerate(_rows(nodes, count))] if nodes else [],
        [Row(f"{name}, link {i}", row) for i, row in enumerate(_rows(links, len(source)))],
        directed=True,
        complete=bool(nodes),
        settings={key: value for key, value in document.items() if key not in columns},
    )


def _rows(columns: Mapping[str, list[Any]], length: int) -> Iterator[dict[str, Any]]:
    for i in range(length):
        yield {key: column[i] for key, column in columns.items()}


def read_node_link(name: str, document: Mapping[str, Any]) -> Draft:
    """Objects in `nodes` or `devices`, and in `links` or `edges`.

    A link is one way if the document says `directed` or is a fleet. Without ids, links name nodes by their number.
    Values may stand in an object `properties` (NetJSON), coordinates in `location` (meshviewer).
    """
    nodes_key = "devices" if "devices" in document else "nodes"
    links_key = "links" if "links" in document else "edges"
    nodes = _objects(document, nodes_key, name)
    numbered = not any(key in node for node in nodes for key in _IDS)
    cost_is_etx = document.get("type") == "NetworkGraph"
    links: list[Row] = []
    for i, link in enumerate(_objects(document, links_key, name)):
        links += _link_rows(f"{name}, {links_key}[{i}]", link, cost_is_etx=cost_is_etx)
    return Draft(
        "NetJSON" if cost_is_etx else "fleet (JSON)" if nodes_key == "devices" else "node-link JSON",
        [Row(f"{name}, {nodes_key}[{i}]", _node(node, i if numbered else None)) for i, node in enumerate(nodes)],
        links,
        directed=bool(document.get("directed", nodes_key == "devices")),
        settings={**_graph_attributes(document), **document},
        notes=["cost is read as ETX"] if cost_is_etx else [],
    )


def _graph_attributes(document: Mapping[str, Any]) -> Mapping[str, Any]:
    attributes = document.get("graph")
    return attributes if isinstance(attributes, Mapping) else {}


def _objects(document: Mapping[str, Any], key: str, name: str) -> list[Mapping[str, Any]]:
    found = document.get(key, [])
    if not isinstance(found, list):
        raise InvalidInputError(f"{name}, {key}", "must be a list")
    for i, one in enumerate(found):
        if not isinstance(one, Mapping):
            raise InvalidInputError(f"{name}, {key}[{i}]", "must be an object")
    return found


def _node(node: Mapping[str, Any], number: int | None) -> dict[str, Any]:
    values = _flat(node)
    name = next((values.pop(key) for key in _IDS if values.get(key) is not None), number)
    return {"id": name, **{key: value for key, value in values.items() if key not in _IDS}}


def _flat(item: Mapping[str, Any]) -> dict[str, Any]:
    """The values of an object with those of its `properties` and `location`; its own win."""
    nested = [item[key] for key in ("properties", "location") if isinstance(item.get(key), Mapping)]
    values = {key: value for inner in nested for key, value in inner.items()}
    values |= {key: value for key, value in item.items() if key not in {"properties", "location"}}
    return values


def _link_rows(place: str, link: Mapping[str, Any], *, cost_is_etx: bool) -> list[Row]:
    """A link; two if it has a transmit quality for each end, as in meshviewer.json."""
    values = _flat(link)
    if cost_is_etx and "cost" in values:
        values["etx"] = values.pop("cost")
    if "source_tq" not in values or "target_tq" not in values:
        return [Row(place, values)]
    there, back = values.pop("source_tq"), values.pop("target_tq")
    ends = {"from": values.pop("source", None), "to": values.pop("target", None)}
    turned = {"from": ends["to"], "to": ends["from"]}
    return [Row(place, {**values, **ends, "quality": there}), Row(place, {**values, **turned, "quality": back})]
