import numpy as np
import pytest

from fedl_sim.data.datasets import load_data_set
from fedl_sim.data.images import Images
from fedl_sim.network.partition import Partition, partition_by_labels
from fedl_sim.network.similarity import estimate_similarity, nearest_same_label, similar_radius
from fedl_sim.network.topology import Topology, random_topology

DIGITS = load_data_set("digits").train


def test_distances_are_those_of_the_definition() -> None:
    generator = np.random.default_rng(0)
    points, held = generator.integers(len(DIGITS), size=40), generator.integers(len(DIGITS), size=90)
    x, y = DIGITS.features(points, np.float64), DIGITS.features(held, np.float64)
    distance = np.linalg.norm(x[:, None] - y[None], axis=2)
    distance[DIGITS.labels[points][:, None] != DIGITS.labels[held]] = np.inf
    found = nearest_same_label(DIGITS, points, held)
    np.testing.assert_allclose(found, distance.min(axis=1), rtol=1e-3)


def test_a_point_is_similar_to_itself_and_not_to_another_label() -> None:
    images = Images(np.zeros((2, 1), np.uint8), np.array([0, 1]), side=1, classes=2)
    assert nearest_same_label(images, np.array([0]), np.array([0]))[0] == 0
    assert nearest_same_label(images, np.array([0]), np.array([1]))[0] == np.inf


def test_the_radius_is_the_quantile_of_same_label_distances() -> None:
    small, large = (similar_radius(DIGITS, np.random.default_rng(0), quantile=q) for q in (0.05, 0.5))
    assert 0 < small < large
    generator = np.random.default_rng(1)
    close = 0
    for label in range(10):
        own = np.flatnonzero(DIGITS.labels == label)
        a, b = generator.choice(own, 400), generator.choice(own, 400)
        gap = np.linalg.norm(DIGITS.features(a) - DIGITS.features(b), axis=1)
        close += (gap[a != b] <= large).mean() / 10
    assert close == pytest.approx(0.5, abs=0.05)


def test_a_whole_broadcast_gives_the_exact_share() -> None:
    # Device 0 holds rows 0..9; device 1 half of them: exactly these are covered at radius 0.
    partition = Partition.from_lists([np.arange(10), np.arange(0, 10, 2)])
    topology = Topology(2, np.array([0, 1]), np.array([1, 0]), np.ones(2))
    similarity = estimate_similarity(DIGITS, partition, topology, 0.0, np.random.default_rng(0))
    np.testing.assert_array_equal(similarity, [0.5, 1.0])


def test_a_sample_estimates_without_bias() -> None:
    partition = Partition.from_lists([np.arange(200), np.arange(0, 200, 4)])
    topology = Topology(2, np.array([0]), np.array([1]), np.ones(1))
    estimates = [
        estimate_similarity(DIGITS, partition, topology, 0.0, np.random.default_rng(s), sample_size=20)[0]
        for s in range(200)
    ]
    # Hypergeometric: deviation of one estimate √(¼·¾/20·180/199) ≈ 0.092, of the mean of 200 ≈ 0.0065.
    assert np.mean(estimates) == pytest.approx(0.25, abs=0.026)
    assert np.std(estimates) == pytest.approx(0.092, rel=0.25)


def test_only_links_are_estimated_and_seeds_decide() -> None:
    generator = np.random.default_rng(5)
    partition = partition_by_labels(DIGITS, 30, generator, mean_datapoints=40)
    topology = random_topology("erdos-renyi", 30, generator)
    radius = similar_radius(DIGITS, generator, quantile=0.3)
    one, same = (estimate_similarity(DIGITS, partition, topology, radius, np.random.default_rng(9)) for _ in range(2))
    assert one.shape == (topology.n_links,)
    assert np.all((one >= 0) & (one <= 1))
    assert 0 < one.mean() < 1
    np.testing.assert_array_equal(one, same)


def test_devices_without_data_are_served() -> None:
    partition = Partition.from_lists([np.arange(5), np.arange(0)])
    topology = Topology(2, np.array([0, 1]), np.array([1, 0]), np.ones(2))
    similarity = estimate_similarity(DIGITS, partition, topology, 1.0, np.random.default_rng(0))
    np.testing.assert_array_equal(similarity, [0.0, 1.0])
