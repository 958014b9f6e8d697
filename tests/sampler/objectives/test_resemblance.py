from dataclasses import replace

import numpy as np
import pytest

from sampler import find_sampler
from sampler.objectives.holdings import Holdings
from sampler.objectives.resemblance import Resemblance
from sampler.objectives.similarity import low_rank
from solver.network import Links, Network
from tests.support.sampling import network, planted, problem

SETS = np.array([[0, 1, 2], [3, 5, 8], [11, 4, 6]])


def test_it_is_log_amount_minus_the_distance_in_the_kernel() -> None:
    net = network()
    task = problem(net, 3, horizon=8)
    estimate = low_rank(net)
    kernel = estimate.mean + estimate.factors @ estimate.factors.T
    np.fill_diagonal(kernel, np.maximum(estimate.ceiling, np.diag(kernel)))
    held = Holdings.of(task, np.eye(12)).pool(SETS).sums
    apart = held / held.sum(axis=1, keepdims=True) - net.devices.data / net.total_data
    distance = np.einsum("mi,ij,mj->m", apart, kernel, apart)
    expected = np.log(held.sum(axis=1) / net.total_data) - 3.0 * distance / estimate.ceiling
    np.testing.assert_allclose(Resemblance(task, beta=3.0).values(SETS), expected)


def test_without_links_only_the_amount_and_nothing_else_counts() -> None:
    net = Network(network().devices, Links.none())
    chosen = find_sampler("greedy")(problem(net, 3), np.random.default_rng(0))
    assert set(chosen.sampled) == set(np.argsort(-net.devices.data)[:3])


def test_it_takes_one_device_of_each_kind() -> None:
    net, _ = planted(80, 0.25)
    chosen = find_sampler("local_search")(problem(net, 4, offloading=False), np.random.default_rng(0))
    assert sorted(chosen.sampled % 4) == [0, 1, 2, 3]
    assert chosen.value == pytest.approx(Resemblance(problem(net, 4, offloading=False)).value(chosen.sampled))


def test_devices_that_there_was_no_time_for_are_not_scored() -> None:
    """A division by what they hold, nothing yet, would be a warning, which is an error here."""
    task = problem(network(), 3)
    over = replace(task, effort=task.effort._replace(deadline=0.0))
    similarity = low_rank(task.conditions)
    looked = Resemblance(over, similarity=similarity).standing().bounds(np.arange(12))
    assert np.all(looked == -np.inf)
