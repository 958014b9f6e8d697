from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from solver import InvalidInputError, Links, Network
from tests.support.solving import devices, links, network


def test_links_are_sorted_by_target_then_source_and_indexed_by_target() -> None:
    net = network(4, (3, 1), (0, 2), (0, 1), link_columns={"similarity": [0.3, 0.2, 0.1]})
    assert_array_equal(net.links.source, [0, 3, 0])
    assert_array_equal(net.links.target, [1, 1, 2])
    assert_array_equal(net.links.similarity, [0.1, 0.3, 0.2])
    assert_array_equal(net.incoming, [0, 0, 2, 3, 3])


def test_dense_and_sparse_input_give_the_same_network() -> None:
    generator = np.random.default_rng(1)
    A = (generator.random((6, 6)) < 0.4).astype(int)
    np.fill_diagonal(A, 0)
    lam, psi = generator.random((6, 6)), generator.random((6, 6))
    source, target = np.nonzero(A)
    sparse = Network(devices(6), Links(source, target, lam[source, target], psi[source, target]))
    dense = Network.from_dense(devices(6), A, lam, psi)
    for name in ("source", "target", "similarity", "transmit_cost"):
        assert_array_equal(getattr(sparse.links, name), getattr(dense.links, name))
    assert_array_equal(dense.matrix("similarity").toarray(), lam * A)


def test_columns_are_read_only_copies() -> None:
    data = np.array([1.0, 2.0])
    net = Network(devices(2, data=data), Links.none())
    data[0] = 99.0
    assert net.devices.data[0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        net.devices.data[0] = 5.0


BAD_DEVICES: list[tuple[dict[str, Any], str]] = [
    ({"data": []}, "devices.data: must name at least one device"),
    ({"data": [1.0, 2.0, 3.0]}, "devices.processing_capacity: must have 3 entries, has 4"),
    ({"receive_capacity": [1.0] * 5}, "devices.receive_capacity: must have 4 entries, has 5"),
    ({"data": [1, 2, float("nan"), 4]}, "devices.data[2] is nan: must be finite"),
    ({"transmit_budget": [1, float("inf"), 1, 1]}, "devices.transmit_budget[1] is inf: must be finite"),
    ({"processing_cost": [1, 1, 1, -0.5]}, "devices.processing_cost[3] is -0.5: must be at least 0"),
    ({"data": [[1, 2], [3, 4]]}, "devices.data: must be a flat list of numbers, has 2 dimensions"),
    ({"data": ["a", "b", "c", "d"]}, "devices.data: must hold numbers, holds <U1"),
    ({"data": [True, False, True, True]}, "devices.data: must hold numbers, holds bool"),
    ({"data": [[1], [2, 3]]}, "devices.data: must be a regular array of numbers; its rows differ in length"),
    ({"label_counts": [[1, 2]] * 3}, "devices.label_counts: must have shape 4×?, has 3×2"),
    ({"label_counts": [[1, 2], [1, -2], [0, 0], [0, 0]]}, "devices.label_counts[1, 1] is -2.0: must be at least 0"),
    ({"label_epsilon": 1.0}, "devices.label_epsilon: needs devices.label_counts"),
    ({"label_epsilon": 0.0, "label_counts": [[1.0]] * 4}, "devices.label_epsilon: must be at least 1e-06, is 0"),
    (
        {"label_epsilon": 1.0, "label_counts": [[1.0], [np.nan], [-1], [1]]},
        "devices.label_counts[1, 0] is nan: must be finite",
    ),
]


def test_only_noisy_counts_may_be_negative() -> None:
    counts = [[1.5, -2.25], [0, 0], [3, -1], [2, 2]]
    assert devices(4, label_counts=counts, label_epsilon=0.5).label_counts is not None


@pytest.mark.parametrize(("columns", "message"), BAD_DEVICES)
def test_bad_devices_are_named(columns: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError) as raised:
        devices(4, **columns)
    assert str(raised.value) == message


BAD_LINKS: list[tuple[dict[str, Any], str]] = [
    ({"source": [0, 4]}, "links.source[1] is 4: must be below the number of devices, 4"),
    ({"target": [7, 0]}, "links.target[0] is 7: must be below the number of devices, 4"),
    ({"source": [0, -1]}, "links.source[1] is -1: must be at least 0"),
    ({"source": [0.0, 1.0]}, "links.source: must be a flat list of integers, is 1-d float64"),
    ({"source": [0, 1, 2]}, "links.target: must have 3 entries like links.source, has 2"),
    ({"source": [0, 3]}, "links.source[1] is 3: links a device with itself"),
    ({"source": [0, 0], "target": [1, 1]}, "links.source[1] is 0: repeats the link 0 → 1"),
    ({"similarity": [0.5, 1.5]}, "links.similarity[1] is 1.5: must be at most 1"),
    ({"similarity": [-0.1, 0.5]}, "links.similarity[0] is -0.1: must be at least 0"),
    ({"similarity": [0.1]}, "links.similarity: must have 2 entries, has 1"),
    ({"transmit_cost": [1.0, float("nan")]}, "links.transmit_cost[1] is nan: must be finite"),
]


@pytest.mark.parametrize(("columns", "message"), BAD_LINKS)
def test_bad_links_are_named(columns: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError) as raised:
        Network(devices(4), links((0, 1), (1, 3), **columns))
    assert str(raised.value) == message


BAD_MATRICES: list[tuple[str, Any, str]] = [
    ("adjacency", [[0, 2], [0, 0]], "topology.adjacency[0, 1] is 2.0: must be 0 or 1"),
    ("adjacency", [[1, 0], [0, 0]], "topology.adjacency[0, 0] is 1.0: links a device with itself"),
    ("adjacency", [[0, 1]], "topology.adjacency: must have shape 2×2, has 1×2"),
    ("similarity", [[0, 2], [0, 0]], "topology.similarity[0, 1] is 2.0: must be at most 1"),
    ("transmit_cost", [[0, -1], [0, 0]], "topology.transmit_cost[0, 1] is -1.0: must be at least 0"),
    ("transmit_cost", [0, 1, 0, 0], "topology.transmit_cost: must have shape 2×2, has 4"),
]


@pytest.mark.parametrize(("name", "value", "message"), BAD_MATRICES)
def test_bad_matrices_are_named(name: str, value: Any, message: str) -> None:
    matrices: dict[str, Any] = {
        "adjacency": [[0, 1], [0, 0]],
        "similarity": [[0, 0.5], [0, 0]],
        "transmit_cost": [[0, 1.0], [0, 0]],
    }
    with pytest.raises(InvalidInputError) as raised:
        Network.from_dense(devices(2), **(matrices | {name: value}))
    assert str(raised.value) == message


def test_an_error_carries_field_index_and_value() -> None:
    with pytest.raises(InvalidInputError) as raised:
        devices(4, data=[1, 2, -3, 4])
    error = raised.value
    assert (error.field, error.index, error.value, error.reason) == ("devices.data", 2, -3.0, "must be at least 0")
