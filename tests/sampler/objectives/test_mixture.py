import numpy as np
import pytest

from sampler import MissingLabelsError, find_sampler
from sampler.objectives.holdings import Holdings
from sampler.objectives.mixture import Mixture, MixtureDistance, class_shares
from tests.support.sampling import labelled, network, problem

SETS = np.array([[0, 1, 2], [3, 5, 8], [11, 4, 6]])


def test_it_is_log_amount_minus_divergence() -> None:
    net = labelled()
    task = problem(net, 3, horizon=8)
    counts = np.asarray(net.devices.label_counts)
    shares = counts / counts.sum(axis=1, keepdims=True)
    held = Holdings.of(task, shares).pool(SETS).sums
    amount = held.sum(axis=1)
    whole = counts.sum(axis=0) / counts.sum()
    for exponent, aim in ((1.0, whole), (0.5, whole**0.5 / (whole**0.5).sum()), (0.0, np.full(5, 0.2))):
        divergence = (aim * np.log(aim / (held / amount[:, None]))).sum(axis=1)
        expected = np.log(amount / net.total_data) - divergence
        np.testing.assert_allclose(Mixture(task, epsilon=0.0, exponent=exponent).values(SETS), expected)
    assert Mixture(task).value(SETS[0]) == Mixture(task, exponent=0.5).value(SETS[0])


def test_places_left_are_credited_with_average_devices() -> None:
    net = labelled()
    task = problem(net, 4, offloading=False)
    counts = np.asarray(net.devices.label_counts)
    whole = counts.sum(axis=0) / counts.sum()
    held = counts[[2, 5]].sum(axis=0) / (whole * net.total_data)
    expected = whole @ np.log(held + 2 / 12)
    assert Mixture(task, epsilon=0.0, exponent=1.0).value(np.array([2, 5])) == pytest.approx(expected)


def test_a_missing_class_costs_much_and_more_of_it_pays() -> None:
    counts = np.array([[50.0, 0], [49, 0], [0, 30], [0, 29], [0, 28]])
    net = network(5, data=counts.sum(axis=1), label_counts=counts)
    chosen = find_sampler("greedy")(problem(net, 2, offloading=False), np.random.default_rng(0))
    assert set(chosen.sampled) == {0, 2}


def test_only_the_mixture_of_a_sketch_counts() -> None:
    net = labelled()
    scale = np.random.default_rng(0).uniform(0.1, 9, (12, 1))
    scaled = net.with_columns({"label_counts": np.asarray(net.devices.label_counts) * scale})
    one, other = (Mixture(problem(each, 3, horizon=8)).values(SETS) for each in (net, scaled))
    np.testing.assert_allclose(one, other)


def test_a_device_that_tells_nothing_is_taken_for_average() -> None:
    counts = np.array([[4.0, 0, 0], [0, 4, 0], [0, 0, 0]])
    shares, whole = class_shares(problem(network(3, data=np.array([10.0, 30, 60]), label_counts=counts), 1))
    np.testing.assert_allclose(whole, [0.25, 0.75, 0])
    np.testing.assert_allclose(shares[2], whole)


def test_the_distance_is_between_what_is_held_and_the_network() -> None:
    counts = np.array([[10.0, 0], [0, 10], [5, 5]])
    net = network(3, data=np.full(3, 10.0), label_counts=counts)
    objective = MixtureDistance(problem(net, 1, offloading=False))
    np.testing.assert_allclose(objective.values(np.arange(3)[:, None]), [-0.5, -0.5, 0])


@pytest.mark.parametrize("counts", [None, np.zeros((12, 3)), np.zeros((12, 0))])
def test_without_counts_it_says_so_and_the_default_does_without(counts: np.ndarray | None) -> None:
    net = network(label_counts=counts)
    for name in ("mixture", "distance"):
        with pytest.raises(MissingLabelsError, match="devices.label_counts"):
            find_sampler(f"greedy:{name}")(problem(net), np.random.default_rng(0))
    assert len(find_sampler("greedy")(problem(net), np.random.default_rng(0)).sampled) == 4
