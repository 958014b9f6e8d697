"""Networks from JSON: networkx's node-link form, and the column form that measured meshes come in.

Column form: `{"nodes": n, "source": [..], "target": [..], "quality": [..]}` with 0-based indices;
`quality` is optional, null or 0 meaning unknown. Node-link form: `{"nodes": [{"id": ..}, ..],
"links"|"edges": [{"source": id, "target": id, "quality": ..}, ..], "directed": bool}`.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from fedl_sim.errors import TopologyError
from fedl_sim.network.topology import Topology

__all__ = ["load_node_link", "parse_node_link"]


def load_node_link(path: Path) -> Topology:
    """Read a JSON network of either form.

    Raises:
        TopologyError: the file is not JSON, or has neither form.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, UnicodeDecodeError) as error:
        raise TopologyError(f"{path} is not JSON: {error}") from error
    try:
        return parse_node_link(document)
    except TopologyError as error:
        raise TopologyError(f"{path}: {error}") from error


def parse_node_link(document: Any) -> Topology:
    """Turn a parsed JSON document into a topology.

    The last quality counts for a link that is listed twice. Self-links are dropped. A link of unknown quality gets the
    median of the known qualities, or 1 if none is known.
    """
    if not isinstance(document, dict) or "nodes" not in document:
        raise TopologyError("a network needs 'nodes'")
    try:
        count, links = _columns(document) if isinstance(document["nodes"], int) else _records(document)
        return _topology(count, links)
    except (KeyError, TypeError, ValueError) as error:
        raise TopologyError(f"not a network of the node-link or column form: {error!r}") from error


Link = tuple[int, int, float]


def _columns(document: dict[str, Any]) -> tuple[int, list[Link]]:
    source, target = document["source"], document["target"]
    quality = document.get("quality") or [None] * len(source)
    rows = zip(source, target, quality, strict=True)
    return document["nodes"], [(_index(a), _index(b), float(q or 0)) for a, b, q in rows]


def _records(document: dict[str, Any]) -> tuple[int, list[Link]]:
    index = {node["id"]: i for i, node in enumerate(document["nodes"])}
    records = document["links"] if "links" in document else document["edges"]
    links = [(index[r["source"]], index[r["target"]], float(r.get("quality") or 0)) for r in records]
    if not document.get("directed", False):
        links += [(b, a, q) for a, b, q in links]
    return len(index), links


def _index(value: Any) -> int:
    if not isinstance(value, int):
        raise TypeError(f"a device index must be an integer, not {value!r}")
    return value


def _topology(count: int, links: list[Link]) -> Topology:
    known = [q for _, _, q in links if q > 0]
    default = float(np.median(known)) if known else 1.0
    ends = {(a, b): q or default for a, b, q in links if a != b}
    pairs = sorted(ends)
    return Topology(
        n_devices=count,
        source=np.array([a for a, _ in pairs], np.int64),
        target=np.array([b for _, b in pairs], np.int64),
        quality=np.array([ends[pair] for pair in pairs], np.float64),
    )
