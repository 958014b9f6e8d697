"""Networks to and from networkx graphs and files."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from solver.errors import InvalidInputError, MissingExtraError
from solver.network import DEVICE_COLUMNS, LINK_COLUMNS, Devices, Links, Network

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["epsilon_of", "from_networkx", "load_network", "save_network", "to_networkx"]

_FORMAT = "fedsift-network-1"


def from_networkx(graph: "nx.Graph[Any]") -> Network:
    """A network from a graph whose nodes carry the device columns and whose edges carry the link columns.

    Nodes are numbered in the graph's own order. An undirected edge becomes a link each way.
    """
    nodes = list(graph.nodes)
    position = {node: i for i, node in enumerate(nodes)}
    columns: dict[str, list[Any]] = {name: [] for name in DEVICE_COLUMNS}
    for node, attributes in graph.nodes(data=True):
        for name, column in columns.items():
            if name not in attributes:
                raise InvalidInputError(f"nodes[{node!r}].{name}", "is missing")
            column.append(attributes[name])
    edges = graph.to_directed(as_view=True).edges(data=True)
    links: dict[str, list[Any]] = {name: [] for name in LINK_COLUMNS}
    for source, target, attributes in edges:
        links["source"].append(position[source])
        links["target"].append(position[target])
        for name in LINK_COLUMNS[2:]:
            if name not in attributes:
                raise InvalidInputError(f"edges[{source!r}, {target!r}].{name}", "is missing")
            links[name].append(attributes[name])
    return Network(Devices(**columns), Links(**links))  # type: ignore[arg-type]


def to_networkx(network: Network) -> "nx.DiGraph[int]":
    """The same network as a directed graph, with every column as an attribute."""
    # Imported here: it is slow to load, and a serving process never needs it.
    try:
        import networkx as nx  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError("graphs need networkx: pip install networkx") from error

    graph: nx.DiGraph[int] = nx.DiGraph()
    columns = {name: getattr(network.devices, name).tolist() for name in DEVICE_COLUMNS}
    graph.add_nodes_from((i, {name: column[i] for name, column in columns.items()}) for i in range(len(network)))
    source, target, similarity, cost = (getattr(network.links, name).tolist() for name in LINK_COLUMNS)
    graph.add_edges_from(
        (s, t, {"similarity": lam, "transmit_cost": psi})
        for s, t, lam, psi in zip(source, target, similarity, cost, strict=True)
    )
    return graph


def save_network(network: Network, path: str | Path) -> None:
    """Write a network as an uncompressed .npz of plain arrays (no pickle)."""
    arrays = {name: getattr(network.devices, name) for name in DEVICE_COLUMNS}
    if network.devices.label_counts is not None:
        arrays["label_counts"] = network.devices.label_counts
    if network.devices.label_epsilon is not None:
        arrays["label_epsilon"] = np.array(network.devices.label_epsilon)
    arrays |= {name: getattr(network.links, name) for name in LINK_COLUMNS}
    with Path(path).open("wb") as file:
        np.savez(file, allow_pickle=False, format=np.array(_FORMAT), **arrays)


def load_network(path: str | Path) -> Network:
    """Read what `save_network` wrote; everything is validated again."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (BadZipFile, ValueError, EOFError, KeyError, TypeError, AttributeError) as error:
        raise InvalidInputError(str(path), f"is not a network file: {error}") from error
    if str(arrays.get("format")) != _FORMAT:
        raise InvalidInputError(str(path), f"is not a network file: its format is not {_FORMAT}")
    missing = [name for name in (*DEVICE_COLUMNS, *LINK_COLUMNS) if name not in arrays]
    if missing:
        raise InvalidInputError(str(path), f"lacks the array {missing[0]!r}")
    devices = Devices(
        **{name: arrays[name] for name in DEVICE_COLUMNS},
        label_counts=arrays.get("label_counts"),
        label_epsilon=epsilon_of(arrays),
    )
    return Network(devices, Links(**{name: arrays[name] for name in LINK_COLUMNS}))


def epsilon_of(arrays: Mapping[str, npt.NDArray[Any]]) -> float | None:
    """The ε of noisy label counts in an archive, its array `label_epsilon` of one number; None if there is none."""
    found = arrays.get("label_epsilon")
    if found is None:
        return None
    if found.size != 1 or found.dtype.kind not in "iuf":
        raise InvalidInputError("devices.label_epsilon", "must be one number")
    return float(found.reshape(()))
