"""Graphs of networkx, for Python programs. A pickle of one is never read: loading it can run any code."""

from typing import TYPE_CHECKING, Any

from app.imports.assembly import Defaults, Imported, make_fleet
from app.imports.draft import Draft, Row

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["fleet_from_networkx"]


def fleet_from_networkx(graph: "nx.Graph[Any]", defaults: Defaults | None = None) -> Imported:
    """A fleet of a graph whose attributes have the names of a fleet's fields; nodes become ids.

    Raises:
        InvalidInputError: an attribute is wrong; the text names its node or edge.
    """
    nodes = [Row(f"node {node!r}", {**attributes, "id": str(node)}) for node, attributes in graph.nodes(data=True)]
    edges = [
        Row(f"edge {a!r}, {b!r}", {**attributes, "from": str(a), "to": str(b)})
        for a, b, attributes in graph.edges(data=True)
    ]
    draft = Draft("networkx graph", nodes, edges, directed=bool(graph.is_directed()), settings=graph.graph)
    return make_fleet(draft, defaults or Defaults())
