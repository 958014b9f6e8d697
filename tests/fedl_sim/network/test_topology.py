from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from fedl_sim.errors import TopologyError
from fedl_sim.network.node_link import load_node_link, parse_node_link
from fedl_sim.network.topology import RANDOM_TOPOLOGIES, Topology, from_networkx, load_graphml, random_topology


@pytest.mark.parametrize("kind", RANDOM_TOPOLOGIES)
def test_random_graphs_have_both_directions_and_about_the_asked_density(kind: str) -> None:
    topology = random_topology(kind, 200, np.random.default_rng(0), link_probability=0.1)
    pairs = set(zip(topology.source, topology.target, strict=True))
    assert topology.n_devices == 200
    assert all((b, a) in pairs for a, b in pairs)
    assert topology.n_links / (200 * 199) == pytest.approx(0.1, abs=0.03)
    np.testing.assert_array_equal(topology.quality, 1)


@pytest.mark.parametrize("kind", RANDOM_TOPOLOGIES)
def test_the_generator_decides(kind: str) -> None:
    one, same, other = (random_topology(kind, 60, np.random.default_rng(s)) for s in (1, 1, 2))
    np.testing.assert_array_equal(one.source, same.source)
    assert one.n_links != other.n_links or np.any(one.target != other.target)


@pytest.mark.parametrize("kind", [k for k in RANDOM_TOPOLOGIES if k != "barabasi-albert"])
def test_one_device_has_no_links(kind: str) -> None:
    if kind == "watts-strogatz":
        assert random_topology(kind, 2, np.random.default_rng(0)).n_devices == 2
    else:
        assert random_topology(kind, 1, np.random.default_rng(0)).n_links == 0


def test_unknown_kinds_and_densities_are_refused() -> None:
    with pytest.raises(ValueError, match="erdos-renyi"):
        random_topology("torus", 5, np.random.default_rng(0))
    with pytest.raises(ValueError, match="link_probability"):
        random_topology("geometric", 5, np.random.default_rng(0), link_probability=0)


def test_directed_graphs_keep_their_directions_and_quality() -> None:
    graph = nx.DiGraph()
    graph.add_edge("b", "a", quality=0.5)
    graph.add_edge("a", "c")
    graph.add_edge("c", "c")
    topology = from_networkx(graph)
    assert list(zip(topology.source, topology.target, topology.quality, strict=True)) == [
        (0, 1, 0.5),
        (1, 2, 1.0),
    ]


def test_graphml_round_trip(tmp_path: Path) -> None:
    graph = nx.path_graph(4)
    nx.write_graphml(graph, tmp_path / "path.graphml")
    topology = load_graphml(tmp_path / "path.graphml")
    assert (topology.n_devices, topology.n_links) == (4, 6)


def test_a_file_that_is_no_graphml_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.graphml").write_text("<no", encoding="utf-8")
    with pytest.raises(TopologyError, match="GraphML"):
        load_graphml(tmp_path / "x.graphml")


class TestNodeLink:
    def test_columns_with_measured_quality(self) -> None:
        topology = parse_node_link(
            {"nodes": 3, "source": [0, 1, 2, 1], "target": [1, 0, 0, 1], "quality": [0.25, 0.75, 0, None]}
        )
        links = list(zip(topology.source, topology.target, topology.quality, strict=True))
        # Unknown quality becomes the median of the known ones; the self-link is gone.
        assert links == [(0, 1, 0.25), (1, 0, 0.75), (2, 0, 0.5)]

    def test_networkx_form(self) -> None:
        graph = nx.cycle_graph(5)
        topology = parse_node_link(nx.node_link_data(graph, edges="edges"))
        assert (topology.n_devices, topology.n_links) == (5, 10)

    @pytest.mark.parametrize(
        "document",
        [
            [],
            {"nodes": 2},
            {"nodes": 2, "source": [0], "target": []},
            {"nodes": 2, "source": [0], "target": [2]},
            {"nodes": 2, "source": [0.5], "target": [1]},
            {"nodes": [{"id": 1}], "links": [{"source": 1, "target": 9}]},
            {"nodes": 2, "source": [0], "target": [1], "quality": [7]},
        ],
    )
    def test_other_documents_are_refused(self, document: object) -> None:
        with pytest.raises(TopologyError):
            parse_node_link(document)

    def test_a_file_that_is_no_json_is_named(self, tmp_path: Path) -> None:
        (tmp_path / "mesh.json").write_text("{", encoding="utf-8")
        with pytest.raises(TopologyError, match=r"mesh\.json"):
            load_node_link(tmp_path / "mesh.json")


def test_a_topology_checks_itself() -> None:
    one = np.array([0]), np.array([1]), np.array([1.0])
    Topology(2, *one)
    for n, source, target, quality in [
        (0, *one),
        (1, *one),
        (2, one[0], one[0], one[2]),
        (2, one[0], one[1], np.array([0.0])),
        (2, np.array([0, 0]), np.array([1, 1]), np.ones(2)),
        (2, one[0], np.array([1, 0]), one[2]),
    ]:
        with pytest.raises(ValueError, match=r"link|length|device"):
            Topology(n, source, target, quality)
