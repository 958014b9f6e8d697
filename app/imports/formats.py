"""Which format a file has, by its content."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from app.imports import batman, graphml, node_link, olsr, tables
from app.imports.draft import Draft, Source
from solver.errors import InvalidInputError

__all__ = ["FORMATS", "is_graph", "read_sources", "recognise"]

FORMATS = ("json", "graphml", "csv", "olsr", "batman")


def read_sources(sources: Sequence[Source], format_name: str | None = None) -> Draft:
    """The rows of a file, or of the tables of devices and links; `format_name` of `FORMATS` overrides the content's.

    Raises:
        InvalidInputError: the content is not what its format asks for.
    """
    if not sources:
        raise InvalidInputError("files", "name one at least")
    chosen = format_name or recognise(sources[0])
    if chosen not in FORMATS:
        raise InvalidInputError("format", f"{chosen!r} is unknown; known: {', '.join(FORMATS)}")
    if chosen == "csv":
        return tables.read_tables(sources)
    if len(sources) > 1:
        raise InvalidInputError(sources[1].name, "only CSV may be in two files, devices and links")
    return _READERS[chosen](sources[0])


def recognise(source: Source) -> str:
    """The format that the content looks like.

    Raises:
        InvalidInputError: it looks like none.
    """
    if source.content[:1] == b"\x80":
        reason = "looks like a pickle, which can run any code when it is loaded; write the graph as GraphML or JSON"
        raise InvalidInputError(source.name, reason)
    text = source.text.lstrip()
    if not text:
        raise InvalidInputError(source.name, "is empty")
    if text[0] in "{[":
        return "batman" if _is_lines_of_objects(text) else "json"
    if text[0] == "<":
        return "graphml"
    if text.startswith(("digraph", "graph")) or "->" in text.partition("\n")[0]:
        return "batman"
    return "olsr" if text.startswith(("Table:", "Dest")) else "csv"


def is_graph(content: bytes, document: Any) -> bool:
    """Whether a file has one of these formats, not a request's, network's or fleet's JSON.

    `document` is its JSON, or None if it is not JSON.
    """
    if isinstance(document, Mapping):
        keys = document.keys()
        return bool({"nodes", "vis", "batadv"} & keys) or isinstance(document.get("topology"), list)
    text = content.lstrip()
    return document is None and (
        text[:1] not in {b"", b"{", b"["} or _is_lines_of_objects(text.decode("utf-8", "replace"))
    )


def _is_lines_of_objects(text: str) -> bool:
    first, _, rest = text.partition("\n")
    return first.rstrip().endswith("}") and rest.lstrip().startswith("{")


def _read_json(source: Source) -> Draft:
    document = _document(source)
    if "batadv" in document and isinstance(document["batadv"], Mapping):
        document = document["batadv"]
    nodes = document.get("nodes")
    if isinstance(nodes, int) and not isinstance(nodes, bool):
        return node_link.read_columns(source.name, document)
    if "vis" in document:
        return batman.read_vis(source.name, document)
    if "topology" in document and isinstance(document["topology"], list):
        return olsr.read_jsoninfo(source.name, document)
    if isinstance(nodes, list) or isinstance(document.get("devices"), list):
        return node_link.read_node_link(source.name, document)
    reason = "has none of nodes and links, devices and links, topology (OLSR) or vis (B.A.T.M.A.N.)"
    raise InvalidInputError(source.name, reason)


def _document(source: Source) -> Mapping[str, Any]:
    try:
        document = json.loads(source.text)
    except json.JSONDecodeError as error:
        raise InvalidInputError(
            f"{source.name}, line {error.lineno}, column {error.colno}", f"is not JSON: {error.msg}"
        ) from None
    except (ValueError, RecursionError):
        raise InvalidInputError(source.name, "is not JSON that can be read") from None
    if not isinstance(document, Mapping):
        raise InvalidInputError(source.name, "must be a JSON object")
    return document


def _read_olsr(source: Source) -> Draft:
    return _read_json(source) if source.text.lstrip().startswith("{") else olsr.read_txtinfo(source)


def _read_batman(source: Source) -> Draft:
    text = source.text.lstrip()
    if not text.startswith("{"):
        return batman.read_dot(source)
    return batman.read_vis_lines(source) if _is_lines_of_objects(text) else _read_json(source)


_READERS = {"json": _read_json, "graphml": graphml.read_graphml, "olsr": _read_olsr, "batman": _read_batman}
