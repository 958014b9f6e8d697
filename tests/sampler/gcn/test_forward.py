import subprocess
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sampler.errors import TimeIsOverError
from sampler.gcn.features import FEATURES, GENERAL_FEATURES, device_features, standardised
from sampler.gcn.forward import Propagation, gcn_scores
from sampler.gcn.torch_model import GcnScorer, edges_of
from solver.network import Devices, Links, Network
from tests.support.networks import random_devices


def dense_scores(
    network: Network, features: NDArray[np.float64], layers: list[NDArray[np.float64]]
) -> NDArray[np.float64]:
    """The formula of Sec. IV-B as it stands, on N×N matrices."""
    n = len(network)
    A = np.eye(n)
    for k, i, similarity in zip(network.links.source, network.links.target, network.links.similarity, strict=True):
        A[k, i] += similarity
    root = np.diag(A.sum(axis=1) ** -0.5)
    H = features
    for depth, Q in enumerate(layers):
        H = root @ A @ root @ H @ Q
        H = np.maximum(H, 0) if depth + 1 < len(layers) else H
    return np.asarray(H[:, 0] - np.log(np.exp(H[:, 0]).sum()))


def weights(seed: int, widths: list[int]) -> list[NDArray[np.float64]]:
    generator = np.random.default_rng(seed)
    return [generator.normal(size=pair) for pair in pairwise(widths)]


def torch_scores(
    network: Network, features: NDArray[np.float64], layers: list[NDArray[np.float64]]
) -> NDArray[np.float64]:
    model = GcnScorer([features.shape[1], *(Q.shape[1] for Q in layers)])
    with torch.no_grad():
        for layer, Q in zip(model.layers, layers, strict=True):
            layer.get_parameter("lin.weight").copy_(torch.from_numpy(Q.T.copy()))
        scores = model(torch.from_numpy(features), *edges_of(network), torch.zeros(len(network), dtype=torch.long))
    return np.asarray(scores.numpy())


@given(
    st.integers(1, 30),
    st.floats(0, 1),
    st.integers(0, 2**32 - 1),
    st.sampled_from([[4, 16, 1], [4, 3, 1], [4, 8, 8, 1]]),
)
@settings(deadline=None, max_examples=60)
def test_numpy_and_torch_equal_the_dense_formula(n: int, density: float, seed: int, widths: list[int]) -> None:
    network = random_devices(n, density, seed)
    features, layers = device_features(network, 1), weights(seed, widths)
    expected = dense_scores(network, features, layers)
    np.testing.assert_allclose(gcn_scores(features, Propagation(network), layers), expected, atol=1e-6)
    np.testing.assert_allclose(torch_scores(network, features, layers), expected, atol=1e-6)
    assert np.exp(expected).sum() == pytest.approx(1)


@given(st.integers(2, 25), st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=40)
def test_relabelling_devices_relabels_the_scores(n: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    network, layers = random_devices(n, 0.3, seed), weights(seed, [4, 16, 1])
    order = generator.permutation(n)  # new device j is old device order[j]
    place = np.argsort(order)
    columns = {
        name: getattr(network.devices, name)[order]
        for name in ("data", "processing_capacity", "processing_cost", "receive_capacity", "transmit_budget")
    }
    links = network.links
    moved = Network(
        Devices(**columns), Links(place[links.source], place[links.target], links.similarity, links.transmit_cost)
    )
    one, other = (gcn_scores(device_features(net, 3), Propagation(net), layers) for net in (network, moved))
    np.testing.assert_allclose(other, one[order], atol=1e-6)


def test_a_link_and_its_reverse_differ() -> None:
    """Λ is not symmetric: row i of Ã is about i's data, and i gathers from whom it may send to."""
    devices = Devices([60, 50, 40], [900] * 3, [1] * 3, [20] * 3, [9] * 3)  # type: ignore[arg-type]
    network = Network(devices, Links(np.array([0]), np.array([2]), np.array([0.5]), np.array([1.0])))
    gathered = Propagation(network)(np.eye(3))
    # Ã = [[1, 0, ½], [0, 1, 0], [0, 0, 1]]; D̃ = (1.5, 1, 1).
    np.testing.assert_allclose(gathered, [[1 / 1.5, 0, 0.5 / 1.5**0.5], [0, 1, 0], [0, 0, 1]])


def test_features_do_not_depend_on_units_or_size() -> None:
    network = random_devices(20, 0.1, 0)
    other = network.with_columns({"processing_capacity": network.devices.processing_capacity * 1e-6})
    np.testing.assert_allclose(device_features(network, 3), device_features(other, 3), atol=1e-9)
    assert device_features(network, 3).shape == (20, len(FEATURES))
    general = device_features(network, 3, GENERAL_FEATURES)
    np.testing.assert_allclose(general[:, -1], 0.15)
    np.testing.assert_allclose(general[:, :-1].mean(axis=0), 0, atol=1e-12)


def test_columns_without_end_or_variation_are_harmless() -> None:
    columns = np.array([[1e308, 5.0, 0.0], [1e308, 5.0, 0.0], [1.0, 5.0, 0.0]])
    features = standardised(columns)
    assert np.all(np.isfinite(features))
    np.testing.assert_array_equal(features[:, 1:], 0)


def test_serving_the_gcn_loads_no_torch() -> None:
    script = (
        "import sampler, sampler.gcn.sampler, sys; print([m for m in ('torch', 'torch_geometric') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_rows_gathered_in_blocks_are_those_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    network, values = random_devices(23, 0.3, 1), np.random.default_rng(0).normal(size=(23, 3))
    whole = Propagation(network)(values)
    monkeypatch.setattr("sampler.gcn.forward._ROWS", 5)
    np.testing.assert_array_equal(Propagation(network)(values), whole)


def test_no_block_is_gathered_after_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sampler.gcn.forward._ROWS", 5)
    network, values = random_devices(23, 0.3, 1), np.ones((23, 3))
    # Building looks twice, and five blocks once each.
    for looks, whole in ((7, True), (6, False), (2, False), (1, False)):
        clock = iter([True] * looks)

        def look(clock: Iterator[bool] = clock) -> None:
            if not next(clock, False):
                raise TimeIsOverError("time is over")

        with nullcontext() if whole else pytest.raises(TimeIsOverError):
            Propagation(network, look)(values)
