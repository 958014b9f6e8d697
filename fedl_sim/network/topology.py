"""The links of a network: random graphs (Sec. V-A and others), and graphs from files.

Links are directed; an undirected edge gives both directions. A link has a quality in (0, 1]: the measured delivery
ratio if a file has it, otherwise 1.
"""

from dataclasses import dataclass
from pathlib import Path

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from fedl_sim.contract import TOPOLOGIES
from fedl_sim.errors import InvalidSettingError, TopologyError

__all__ = ["RANDOM_TOPOLOGIES", "Topology", "from_networkx", "load_graphml", "random_topology"]

RANDOM_TOPOLOGIES = TOPOLOGIES


@dataclass(frozen=True)
class Topology:
    """Directed D2D links among n devices: A_ij(t) of Sec. II-B, held fixed.

    Attributes:
        n_devices: N.
        source: sender of each link.
        target: receiver of each link.
        quality: share of transmissions that arrive, per link, in (0, 1].
    """

    n_devices: int
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    quality: NDArray[np.float64]

    def __post_init__(self) -> None:
        links = len(self.source)
        if self.n_devices < 1:
            raise ValueError("a topology needs at least one device")
        if self.target.shape != (links,) or self.quality.shape != (links,):
            raise ValueError("source, target and quality must have one length")
        if links:
            ends = np.concatenate([self.source, self.target])
            if ends.min() < 0 or ends.max() >= self.n_devices:
                raise ValueError(f"links must join devices 0..{self.n_devices - 1}")
            if np.any(self.source == self.target):
                raise ValueError("a device has no link to itself")
            if len(np.unique(self.source * self.n_devices + self.target)) != links:
                raise ValueError("a link appears twice")
            if not np.all((self.quality > 0) & (self.quality <= 1)):
                raise ValueError("link quality must lie in (0, 1]")

    @property
    def n_links(self) -> int:
        """Directed links."""
        return len(self.source)


def random_topology(
    kind: str, n_devices: int, generator: np.random.Generator, *, link_probability: float = 0.1
) -> Topology:
    """Draw a random graph whose expected density is `link_probability`; it need not be connected.

    Kinds: `erdos-renyi` (Sec. V-A), `geometric` (radius πr² = p in the unit square, ignoring its edges),
    `barabasi-albert` (each newcomer brings p(N−1)/2 links) and `watts-strogatz` (p(N−1) ring neighbours,
    a tenth of the links rewired).
    """
    if not 0 < link_probability <= 1:
        raise InvalidSettingError("link_probability must lie in (0, 1]")
    if n_devices < 1:
        raise InvalidSettingError("a topology needs at least one device")
    seed = int(generator.integers(2**32))
    degree = link_probability * (n_devices - 1)
    if kind == "erdos-renyi":
        graph = nx.fast_gnp_random_graph(n_devices, link_probability, seed=seed)
    elif kind == "geometric":
        graph = nx.random_geometric_graph(n_devices, (link_probability / np.pi) ** 0.5, seed=seed)
    elif kind == "barabasi-albert":
        graph = nx.barabasi_albert_graph(n_devices, min(max(1, round(degree / 2)), n_devices - 1), seed=seed)
    elif kind == "watts-strogatz":
        neighbours = min(max(2, 2 * round(degree / 2)), n_devices - 1)
        graph = nx.watts_strogatz_graph(n_devices, neighbours, 0.1, seed=seed)
    else:
        raise InvalidSettingError(f"unknown topology {kind!r}; known: {', '.join(RANDOM_TOPOLOGIES)}")
    return from_networkx(graph)


def from_networkx(graph: nx.Graph, quality: str = "quality") -> Topology:
    """Number the nodes in the graph's order; the edge attribute named `quality` is a link's quality."""
    index = {node: i for i, node in enumerate(graph.nodes)}
    ends: dict[tuple[int, int], float] = {}
    for a, b, attributes in graph.edges(data=True):
        if a == b:
            continue
        value = float(attributes.get(quality, 1.0))
        ends[index[a], index[b]] = value
        if not graph.is_directed():
            ends[index[b], index[a]] = value
    pairs = sorted(ends)
    return Topology(
        n_devices=len(index),
        source=np.array([a for a, _ in pairs], np.int64),
        target=np.array([b for _, b in pairs], np.int64),
        quality=np.array([ends[pair] for pair in pairs], np.float64),
    )


def load_graphml(path: Path) -> Topology:
    """Read a GraphML file; an edge's `quality`, if any, is its delivery ratio.

    Raises:
        TopologyError: the file is not GraphML, or an edge is not a valid link.
    """
    try:
        return from_networkx(nx.read_graphml(path))
    except FileNotFoundError:
        raise
    except Exception as error:  # networkx lets its XML parser's own errors through
        raise TopologyError(f"{path} cannot be read as a GraphML network: {error}") from error
