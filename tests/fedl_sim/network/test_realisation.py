import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fedl_sim.data.datasets import load_data_set
from fedl_sim.errors import InvalidSettingError, TopologyError
from fedl_sim.network.realisation import RealisationSettings, realise

DIGITS = load_data_set("digits")


def test_a_realisation_is_a_function_of_seed_and_settings() -> None:
    settings = RealisationSettings(n_devices=30, mean_datapoints=40)
    one, same, other = (realise(settings, DIGITS, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.network.links.similarity, same.network.links.similarity)
    np.testing.assert_array_equal(one.partition.indices, same.partition.indices)
    assert len(one.partition.indices) != len(other.partition.indices)


def test_another_budget_changes_nothing_else() -> None:
    loose, tight = (
        realise(RealisationSettings(n_devices=20, mean_datapoints=40, budget=b), DIGITS, 0) for b in ("loose", "tight")
    )
    np.testing.assert_array_equal(loose.partition.indices, tight.partition.indices)
    np.testing.assert_array_equal(loose.network.links.source, tight.network.links.source)
    np.testing.assert_array_equal(loose.network.links.transmit_cost, tight.network.links.transmit_cost)
    assert np.all(tight.network.devices.receive_capacity < loose.network.devices.receive_capacity)


def test_the_network_says_what_the_partition_holds() -> None:
    drawn = realise(RealisationSettings(n_devices=25, mean_datapoints=40), DIGITS, 0)
    devices = drawn.network.devices
    np.testing.assert_array_equal(devices.data, drawn.partition.sizes)
    assert devices.label_counts is not None
    np.testing.assert_array_equal(devices.label_counts.sum(axis=1), devices.data)
    hidden = realise(RealisationSettings(n_devices=25, mean_datapoints=40, reveal_labels=False), DIGITS, 0)
    assert hidden.network.devices.label_counts is None


def test_devices_can_add_noise_to_their_label_counts() -> None:
    settings = RealisationSettings(n_devices=400, mean_datapoints=40)
    exact, noisy = (realise(replace(settings, label_epsilon=e), DIGITS, 0).network.devices for e in (None, 0.5))
    assert exact.label_epsilon is None
    assert noisy.label_epsilon == 0.5
    noise = np.asarray(noisy.label_counts) - np.asarray(exact.label_counts)
    # Laplace noise of scale b = 2: mean 0, mean magnitude b.
    assert abs(noise.mean()) < 0.2
    assert np.abs(noise).mean() == pytest.approx(2, rel=0.1)
    for reveal, epsilon in ((True, 0.0), (False, 1.0)):
        with pytest.raises(InvalidSettingError, match="label_epsilon"):
            replace(settings, reveal_labels=reveal, label_epsilon=epsilon)


def test_a_measured_mesh_sets_size_and_costs(tmp_path: Path) -> None:
    mesh = {"nodes": 4, "source": [0, 1, 2], "target": [1, 0, 3], "quality": [1.0, 0.5, 0.25]}
    (tmp_path / "mesh.json").write_text(json.dumps(mesh), encoding="utf-8")
    settings = RealisationSettings(n_devices=None, topology=str(tmp_path / "mesh.json"), mean_datapoints=30)
    network = realise(settings, DIGITS, 0).network
    assert (len(network), len(network.links)) == (4, 3)
    cost = dict(zip(network.links.source.tolist(), network.links.transmit_cost.tolist(), strict=True))
    ratio = {0: 1.0, 1: 2.0, 2: 4.0}
    assert all(round(cost[s] / ratio[s], 6) in {12.0, 2.0, round(12 / 9, 6)} for s in cost)
    with pytest.raises(TopologyError, match="4 devices, 5 were asked"):
        realise(RealisationSettings(n_devices=5, topology=str(tmp_path / "mesh.json")), DIGITS, 0)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"topology": "torus"}, "unknown topology"),
        ({"topology": "nowhere.json", "n_devices": None}, "no file"),
    ],
)
def test_topologies_that_are_not_there(settings: dict[str, object], reason: str) -> None:
    with pytest.raises(TopologyError, match=reason):
        realise(RealisationSettings(**settings), DIGITS, 0)  # type: ignore[arg-type]


def test_settings_check_themselves() -> None:
    with pytest.raises(ValueError, match="budget"):
        RealisationSettings(budget="endless")
    with pytest.raises(ValueError, match="n_devices"):
        RealisationSettings(n_devices=None)


def test_similarity_can_be_derived_from_label_counts_in_place_of_measuring() -> None:
    settings = RealisationSettings(n_devices=20, link_probability=0.4, mean_datapoints=60)
    measured, derived = (
        realise(one, load_data_set("digits"), 1).network
        for one in (settings, replace(settings, derive_similarity=True))
    )
    a, b = measured.links.similarity, derived.links.similarity
    assert not np.array_equal(a, b)
    assert np.corrcoef(a, b)[0, 1] > 0.5
    np.testing.assert_array_equal(measured.devices.data, derived.devices.data)
    with pytest.raises(InvalidSettingError, match="derive_similarity needs reveal_labels"):
        replace(settings, derive_similarity=True, reveal_labels=False)
    with pytest.raises(InvalidSettingError, match="dirichlet must be positive"):
        replace(settings, dirichlet=0.0)


def test_label_skew_by_dirichlet_changes_the_labels_alone() -> None:
    settings = RealisationSettings(n_devices=20, mean_datapoints=60)
    plain, skewed = (
        realise(one, load_data_set("digits"), 1).network for one in (settings, replace(settings, dirichlet=0.1))
    )
    np.testing.assert_array_equal(plain.devices.data, skewed.devices.data)
    np.testing.assert_array_equal(plain.links.source, skewed.links.source)
    counts = [network.devices.label_counts for network in (plain, skewed)]
    assert counts[0] is not None
    assert counts[1] is not None
    assert not np.array_equal(counts[0], counts[1])
