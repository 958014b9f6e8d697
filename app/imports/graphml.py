"""GraphML, read by expat: nothing that a document declares is expanded, and every error has its line."""

from typing import Any
from xml.parsers import expat

from app.imports.draft import Draft, Row, Source
from app.wire.budget import charge
from app.wire.estimate import imported_defaults
from solver.errors import InvalidInputError

__all__ = ["read_graphml"]


def read_graphml(source: Source) -> Draft:
    """Nodes, edges and their attributes by `attr.name`; `edgedefault` says whether an edge is a link one way.

    Raises:
        InvalidInputError: it is not GraphML, or it declares entities or attributes.
        TooLargeError: its defaults, which every node or edge gets, need more memory than there is for requests.
    """
    reader = _Reader(source.name)
    try:
        reader.parser.Parse(source.content, True)  # noqa: FBT003 - expat takes no keywords
    except expat.ExpatError as error:
        reason = f"is not well-formed XML: {expat.ErrorString(error.code)}"
        raise InvalidInputError(f"{source.name}, line {error.lineno}", reason) from None
    if reader.directed is None:
        raise InvalidInputError(source.name, "has no graph")
    return Draft("GraphML", reader.nodes, reader.edges, directed=reader.directed, settings=reader.graph)


class _Reader:
    """Collects nodes and edges as expat meets them."""

    def __init__(self, name: str) -> None:
        self.nodes: list[Row] = []
        self.edges: list[Row] = []
        self.graph: dict[str, Any] = {}
        self.directed: bool | None = None
        self._name = name
        self._names: dict[str, str] = {}
        self._defaults: dict[str, dict[str, str]] = {"node": {}, "edge": {}}
        self._owner: dict[str, Any] = self.graph
        self._key: tuple[str, str] = ("", "")
        self._text: list[str] | None = None
        # UTF-8 whatever the document declares: the memory that it needs was counted by what its bytes mean in UTF-8.
        self.parser = expat.ParserCreate("utf-8", " ")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters
        self.parser.EntityDeclHandler = self._refuse_entities
        self.parser.AttlistDeclHandler = self._refuse_attributes

    def _place(self) -> str:
        return f"{self._name}, line {self.parser.CurrentLineNumber}"

    def _refuse_entities(self, *_: object) -> None:
        raise InvalidInputError(self._place(), "declares an XML entity; they are not read")

    def _refuse_attributes(self, *_: object) -> None:
        raise InvalidInputError(self._place(), "declares the attributes of an element; such declarations are not read")

    def _with_defaults(self, kind: str, values: dict[str, Any]) -> Row:
        defaults = self._defaults[kind]
        if defaults:  # a few bytes of a file become values of all its rows
            charge(imported_defaults(len(defaults)), f"giving each {kind} its defaults")
        self._owner = {**defaults, **values}
        return Row(self._place(), self._owner)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        element = tag.rpartition(" ")[2]
        if self.directed is None and element not in {"graphml", "key", "default", "desc", "data", "graph"}:
            raise InvalidInputError(self._place(), f"is not GraphML: it has the element {element!r}")
        match element:
            case "key":
                name = attributes.get("attr.name", "")
                self._names[attributes.get("id", "")] = name
                self._key = (attributes.get("for", "all"), name)
            case "graph":
                self.directed = attributes.get("edgedefault", "undirected") == "directed"
            case "node":
                self.nodes.append(self._with_defaults("node", {"id": attributes.get("id")}))
            case "edge":
                ends = {"from": attributes.get("source"), "to": attributes.get("target")}
                self.edges.append(self._with_defaults("edge", ends))
            case "hyperedge":
                raise InvalidInputError(self._place(), "has a hyperedge; a link joins two devices")
            case "data" | "default":
                self._text = []
                if element == "data":
                    self._key = ("", self._names.get(attributes.get("key", ""), ""))

    def _characters(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)

    def _end(self, tag: str) -> None:
        element = tag.rpartition(" ")[2]
        if element in {"node", "edge"}:
            self._owner = self.graph
        if element not in {"data", "default"} or self._text is None:
            return
        (kind, name), text, self._text = self._key, "".join(self._text).strip(), None
        if not name or name in {"id", "from", "to", "source", "target"}:
            return
        if element == "data":
            self._owner[name] = text
        for owner in ("node", "edge") if element == "default" else ():
            if kind in {owner, "all"}:
                self._defaults[owner][name] = text
