"""The real files, in the folder that FEDSIFT_TEST_DATA names; CI sets it, and there a skipped test is a failure."""

import os
from pathlib import Path

import numpy as np
import pytest

from fedl_sim.data.datasets import load_data_set
from fedl_sim.network.node_link import load_node_link

FOLDER = Path(os.environ.get("FEDSIFT_TEST_DATA", ""))
pytestmark = pytest.mark.skipif(
    "FEDSIFT_TEST_DATA" not in os.environ,
    reason="FEDSIFT_TEST_DATA names no folder with mnist/, fashion-mnist/ and mesh/",
)


def _offline(address: str, target: Path) -> bytes:
    raise OSError("tests do not download")


@pytest.mark.parametrize("name", ["mnist", "fashion-mnist"])
def test_the_published_data_sets_load(name: str) -> None:
    data = load_data_set(name, folders=[FOLDER], fetch=_offline)
    assert data.train.pixels.shape == (60000, 784)
    assert data.test.pixels.shape == (10000, 784)
    assert data.train.pixels.dtype == np.uint8
    np.testing.assert_array_equal(np.bincount(data.test.labels) > 800, [True] * 10)


@pytest.mark.parametrize(("name", "nodes"), [("leipzig", 210), ("cologne-bonn-area", 279), ("bremen", 834)])
def test_real_meshes_have_measured_directed_links(name: str, nodes: int) -> None:
    mesh = load_node_link(FOLDER / "mesh" / f"{name}.json")
    assert mesh.n_devices == nodes
    assert mesh.n_links > nodes
    pairs = {
        (s, t): q for s, t, q in zip(mesh.source.tolist(), mesh.target.tolist(), mesh.quality.tolist(), strict=True)
    }
    both = [(q, pairs[t, s]) for (s, t), q in pairs.items() if (t, s) in pairs]
    # Radio links differ by direction.
    assert np.mean([abs(a - b) > 0.01 for a, b in both]) > 0.3
