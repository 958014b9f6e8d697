import sys
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from solver import InvalidInputError, MissingExtraError, Network, from_networkx, load_network, save_network, to_networkx
from solver.instances import random_network
from solver.network import DEVICE_COLUMNS


def same(one: Network, other: Network) -> None:
    for name in DEVICE_COLUMNS:
        assert_array_equal(getattr(one.devices, name), getattr(other.devices, name))
    for name in ("source", "target", "similarity", "transmit_cost"):
        assert_array_equal(getattr(one.links, name), getattr(other.links, name))


def test_networkx_and_back() -> None:
    net = random_network(np.random.default_rng(3), 20)
    same(net, from_networkx(to_networkx(net)))


def test_an_undirected_edge_is_a_link_each_way() -> None:
    graph: nx.Graph[str] = nx.Graph()
    for name in "ab":
        graph.add_node(name, **dict.fromkeys(DEVICE_COLUMNS, 2.0))
    graph.add_edge("a", "b", similarity=0.25, transmit_cost=3.0)
    net = from_networkx(graph)
    assert_array_equal(net.links.source, [1, 0])
    assert_array_equal(net.links.target, [0, 1])
    assert_array_equal(net.links.transmit_cost, [3.0, 3.0])


def test_a_graph_without_a_column_says_which() -> None:
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_node(0, data=1.0)
    with pytest.raises(InvalidInputError, match=r"nodes\[0\].processing_capacity: is missing"):
        from_networkx(graph)


def test_a_file_keeps_everything(tmp_path: Path) -> None:
    net = random_network(np.random.default_rng(4), 30)
    counts = np.arange(90.0).reshape(30, 3)
    net = net.with_columns({"label_counts": counts})
    save_network(net, tmp_path / "net.npz")
    again = load_network(tmp_path / "net.npz")
    same(net, again)
    assert_array_equal(again.devices.label_counts, counts)
    assert again.devices.label_epsilon is None


def test_a_file_keeps_the_noise_of_label_counts(tmp_path: Path) -> None:
    net = random_network(np.random.default_rng(4), 30)
    net = net.with_columns({"label_counts": np.arange(90.0).reshape(30, 3) - 40, "label_epsilon": 0.25})
    save_network(net, tmp_path / "net.npz")
    again = load_network(tmp_path / "net.npz").devices
    assert again.label_epsilon == 0.25
    assert_array_equal(again.label_counts, net.devices.label_counts)
    with np.load(tmp_path / "net.npz") as file:
        arrays = {**file, "label_epsilon": np.array([1.0, 2.0])}
    np.savez(tmp_path / "two.npz", **arrays)
    with pytest.raises(InvalidInputError, match="label_epsilon: must be one number"):
        load_network(tmp_path / "two.npz")


def test_a_million_devices_fit_a_file(tmp_path: Path) -> None:
    generator = np.random.default_rng(5)
    net = random_network(generator, 1_000_000, link_probability=2e-6)
    save_network(net, tmp_path / "big.npz")
    again = load_network(tmp_path / "big.npz")
    assert len(again) == 1_000_000
    same(net, again)


def test_other_files_are_refused(tmp_path: Path) -> None:
    text = tmp_path / "text.npz"
    text.write_text("not an archive")
    with pytest.raises(InvalidInputError, match="is not a network file"):
        load_network(text)
    pickled = tmp_path / "pickled.npz"
    with pickled.open("wb") as file:
        np.savez(file, data=np.array([object()], dtype=object))
    with pytest.raises(InvalidInputError, match="is not a network file"):
        load_network(pickled)
    other = tmp_path / "other.npz"
    np.savez(other, data=np.ones(3))
    with pytest.raises(InvalidInputError, match="its format is not"):
        load_network(other)
    lacking = tmp_path / "lacking.npz"
    np.savez(lacking, format=np.array("fedsift-network-1"), data=np.ones(3))
    with pytest.raises(InvalidInputError, match="lacks the array 'processing_capacity'"):
        load_network(lacking)


def test_without_networkx_a_graph_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    network = random_network(np.random.default_rng(1), 3)
    with pytest.raises(MissingExtraError, match="networkx"):
        to_networkx(network)
