from dataclasses import replace

import numpy as np
import pytest

from sampler import find_sampler
from sampler.base import SamplingProblem
from sampler.label_counts.histograms import class_counts, tell_enough
from sampler.objectives.mixture import Mixture
from solver.network import Devices, Network
from tests.support.sampling import labelled, network, problem

CLASSES = 10


def skewed(seed: int, mean: int, n: int = 60) -> Network:
    """Devices with two of ten labels each."""
    generator = np.random.default_rng([seed, mean])
    counts = np.zeros((n, CLASSES))
    for row in counts:
        row[generator.choice(CLASSES, 2, replace=False)] = generator.integers(mean // 4, 3 * mean // 4, 2)
    return network(n, seed, data=counts.sum(axis=1), processing_capacity=np.full(n, 1e6), label_counts=counts)


def with_noise(net: Network, epsilon: float, seed: int = 0) -> Network:
    counts = np.asarray(net.devices.label_counts)
    noise = np.random.default_rng([seed, 7]).laplace(0, 1 / epsilon, counts.shape)
    return net.with_columns({"label_counts": counts + noise, "label_epsilon": epsilon})


def known(devices: Devices) -> np.ndarray:
    counts = class_counts(devices)
    assert counts is not None
    return counts


def test_exact_counts_stay_as_they_are() -> None:
    net = labelled()
    np.testing.assert_array_equal(known(net.devices), net.devices.label_counts)


@pytest.mark.parametrize("counts", [None, np.zeros((12, 3)), np.zeros((12, 0))])
def test_no_counts_are_none(counts: np.ndarray | None) -> None:
    assert class_counts(network(label_counts=counts).devices) is None


def test_estimates_are_counts_of_each_devices_data() -> None:
    net = with_noise(skewed(0, 40), 0.2)
    assert np.asarray(net.devices.label_counts).min() < 0
    counts = known(net.devices)
    assert counts.min() >= 0
    np.testing.assert_allclose(counts.sum(axis=1), net.devices.data)


def test_little_noise_changes_little_and_much_noise_leaves_the_networks_mixture() -> None:
    net = skewed(1, 400)
    exact = np.asarray(net.devices.label_counts)
    np.testing.assert_allclose(known(with_noise(net, 1000.0).devices), exact, atol=0.05)
    blurred = known(with_noise(net, 1e-4).devices) / net.devices.data[:, None]
    assert np.ptp(blurred, axis=0).max() < 0.02


def test_a_small_device_is_moved_further_than_a_large_one() -> None:
    generator = np.random.default_rng(3)
    data = np.where(np.arange(40) % 2, 1000.0, 10.0)
    counts = np.zeros((40, 4))
    counts[np.arange(40), generator.integers(4, size=40)] = data
    net = with_noise(network(40, data=data, processing_capacity=np.full(40, 1e6), label_counts=counts), 0.1)
    off = np.abs(known(net.devices) / data[:, None] - counts / data[:, None]).sum(axis=1)
    assert off[data == 10].mean() > 5 * off[data == 1000].mean()


def test_counts_are_used_until_noise_hides_them() -> None:
    net = skewed(4, 40)
    assert tell_enough(net.devices)
    assert not tell_enough(network().devices)
    assert [tell_enough(with_noise(net, epsilon).devices) for epsilon in (1.0, 0.3, 0.03, 0.01)] == [1, 1, 0, 0]
    hidden = Network(replace(net.devices, label_counts=None), net.links)
    greedy = find_sampler("greedy")
    drowned, without = (greedy(problem(n), np.random.default_rng(0)) for n in (with_noise(net, 0.01), hidden))
    assert drowned.sampled.tolist() == without.sampled.tolist()


@pytest.mark.parametrize(("mean", "epsilon"), [(40, 0.3), (40, 0.1), (40, 0.03), (400, 0.03), (400, 0.01)])
def test_greedy_chooses_no_worse_by_shrunk_than_by_raw_counts(mean: int, epsilon: float) -> None:
    greedy = find_sampler("greedy:mixture")
    gains = []
    for seed in range(24):
        net = skewed(seed, mean)
        noisy = with_noise(net, epsilon, seed)
        raw = net.with_columns({"label_counts": clipped(noisy)})
        truth = Mixture(task(net))
        by_shrunk, by_raw = (greedy(task(seen), np.random.default_rng(0)).sampled for seen in (noisy, raw))
        gains.append(truth.value(by_shrunk) - truth.value(by_raw))
    assert np.mean(gains) >= 0


def task(net: Network) -> SamplingProblem:
    return problem(net, 5, offloading=False)


def clipped(noisy: Network) -> np.ndarray:
    """Shares as a sampler that does not know of the noise would take them."""
    counts = np.maximum(np.asarray(noisy.devices.label_counts), 0)
    shares: np.ndarray = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-300)
    return shares


def test_every_sampler_takes_noisy_counts() -> None:
    net = with_noise(skewed(2, 40, 12), 0.05)
    for name in ("greedy", "local_search", "gcn_rank", "greedy:mixture", "greedy:distance"):
        assert len(find_sampler(name)(problem(net), np.random.default_rng(0)).sampled) == 4
