from itertools import combinations

import numpy as np
import pytest

from sampler import (
    DEFAULT_SAMPLER,
    SamplingProblem,
    Selection,
    TooFewDevicesError,
    UnknownSamplerError,
    find_sampler,
    register_sampler,
    sampler_names,
)
from sampler.reach import attainable_counts, link_reach
from solver.network import Devices, Links, Network
from solver.schedule import Schedule


def network(n: int = 12, seed: int = 0, **columns: object) -> Network:
    generator = np.random.default_rng(seed)
    values: dict[str, object] = {
        "data": generator.integers(20, 60, n).astype(float),
        "processing_capacity": generator.uniform(200, 900, n),
        "processing_cost": np.ones(n),
        "receive_capacity": generator.uniform(2, 20, n),
        "transmit_budget": generator.uniform(2, 20, n),
    }
    values |= columns
    adjacent = generator.random((n, n)) < 0.3
    np.fill_diagonal(adjacent, val=False)
    source, target = np.nonzero(adjacent)
    links = Links(source, target, generator.random(len(source)), generator.uniform(1, 5, len(source)))
    return Network(Devices(**values), links)  # type: ignore[arg-type]


def problem(net: Network, size: int = 4, **options: object) -> SamplingProblem:
    return SamplingProblem.of(Schedule.of(net), size, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", sampler_names())
class TestEverySampler:
    def test_it_chooses_that_many_different_candidates(self, name: str) -> None:
        net = network(data=np.r_[np.zeros(3), np.full(8, 30.0), 1e6])
        chosen = find_sampler(name)(problem(net, 8), np.random.default_rng(0))
        # Three hold nothing, one cannot process what it holds.
        assert sorted(chosen.sampled) == list(range(3, 11))
        assert np.all(np.isfinite(chosen.scores))

    def test_the_generator_decides(self, name: str) -> None:
        one, same = (find_sampler(name)(problem(network()), np.random.default_rng(3)) for _ in range(2))
        np.testing.assert_array_equal(one.sampled, same.sampled)

    def test_too_few_candidates_are_explained(self, name: str) -> None:
        net = network(data=np.r_[np.zeros(9), np.full(3, 30.0)])
        with pytest.raises(TooFewDevicesError, match="4 devices are to be sampled, 3 can be — device 0") as caught:
            find_sampler(name)(problem(net, 4), np.random.default_rng(0))
        assert len(caught.value.obstacles) == 9

    def test_only_allowed_devices_are_candidates(self, name: str) -> None:
        allowed = np.arange(12) % 2 == 0
        chosen = find_sampler(name)(problem(network(), 5, allowed=allowed), np.random.default_rng(0))
        assert np.all(chosen.sampled % 2 == 0)


def test_random_sampling_is_uniform() -> None:
    counts = np.zeros(12)
    for seed in range(3000):
        counts[find_sampler("random")(problem(network(), 3), np.random.default_rng(seed)).sampled] += 1
    # Each device is expected 750 times, with a deviation of √(3000·¼·¾) ≈ 24.
    assert np.all(np.abs(counts - 750) < 5 * 24)


def test_the_heuristic_takes_the_highest_capacities() -> None:
    net = network()
    chosen = find_sampler("heuristic")(problem(net), np.random.default_rng(0))
    best = np.sort(net.devices.processing_capacity)[::-1][:4]
    np.testing.assert_allclose(chosen.scores, best)


class TestGreedy:
    def value(self, net: Network, sampled: tuple[int, ...], horizon: int) -> float:
        """f(𝒮) from its definition."""
        counts = attainable_counts(net, horizon)[list(sampled)].sum(axis=0)
        held = net.devices.label_counts
        assert held is not None
        return float(np.sqrt(held.sum(axis=0) / held.sum() * counts).sum())

    def test_gains_add_up_to_the_objective_and_stand_near_the_optimum(self) -> None:
        for seed in range(5):
            counts = np.random.default_rng(seed).integers(0, 40, (12, 5)).astype(float)
            net = network(seed=seed, data=counts.sum(axis=1), label_counts=counts)
            chosen = find_sampler("greedy")(problem(net, 3, horizon=10), np.random.default_rng(0))
            found = self.value(net, tuple(chosen.sampled), 10)
            assert chosen.scores.sum() == pytest.approx(found)
            assert np.all(np.diff(chosen.scores) <= 1e-9)
            best = max(self.value(net, each, 10) for each in combinations(range(12), 3))
            assert (1 - 1 / np.e) * best <= found <= best + 1e-9

    def test_it_prefers_labels_that_are_missing(self) -> None:
        counts = np.array([[50.0, 0], [49, 0], [0, 30], [0, 29], [0, 28]])
        net = network(5, data=counts.sum(axis=1), label_counts=counts)
        chosen = find_sampler("greedy")(problem(net, 2, offloading=False), np.random.default_rng(0))
        assert set(chosen.sampled) == {0, 2}

    def test_without_labels_it_takes_what_can_hold_most(self) -> None:
        net = network()
        chosen = find_sampler("greedy")(problem(net, 3, horizon=5), np.random.default_rng(0))
        attainable = attainable_counts(net, 5)[:, 0]
        np.testing.assert_array_equal(chosen.sampled, np.argsort(-attainable)[:3])


class TestReach:
    def test_one_link_by_hand(self) -> None:
        devices = Devices(
            data=np.array([100.0, 40.0]),
            processing_capacity=np.full(2, 500.0),
            processing_cost=np.ones(2),
            receive_capacity=np.full(2, 9.0),
            transmit_budget=np.full(2, 20.0),
        )
        net = Network(devices, Links(np.array([0]), np.array([1]), np.array([0.5]), np.array([2.0])))
        # A step sends 20 / (100·2) = 0.1 of the data, half of which is new; two steps 1 − 0.9² = 0.19.
        np.testing.assert_allclose(link_reach(net, 2), [0.5 * 0.19])
        np.testing.assert_allclose(attainable_counts(net, 2)[:, 0], [100, 40 + 9.5])
        np.testing.assert_allclose(attainable_counts(net, 0)[:, 0], [100, 40])

    def test_receivers_take_no_more_than_they_may(self) -> None:
        net = network(receive_capacity=np.full(12, 0.5))
        received = attainable_counts(net, 4)[:, 0] - net.devices.data
        assert received.max() == pytest.approx(2.0)


def test_names_are_unique_and_unknown_ones_are_explained() -> None:
    assert DEFAULT_SAMPLER in sampler_names()
    with pytest.raises(UnknownSamplerError, match="greedy, heuristic"):
        find_sampler("oracle")
    with pytest.raises(ValueError, match="already"):
        register_sampler("random", find_sampler("random"))


def test_a_selection_checks_itself() -> None:
    with pytest.raises(ValueError, match="twice"):
        Selection(np.array([1, 1]), np.zeros(2))
    with pytest.raises(ValueError, match="score"):
        Selection(np.array([1, 2]), np.zeros(3))
