import numpy as np
import pytest

from sampler import find_sampler
from sampler.errors import SamplingError
from sampler.objectives.resemblance import Resemblance
from sampler.objectives.similarity import along_links, along_paths, low_rank
from solver.network import Devices, Links, Network
from tests.support.sampling import network, planted, problem


def dense(net: Network) -> np.ndarray:
    full = np.zeros((len(net), len(net)))
    full[net.links.source, net.links.target] = net.links.similarity
    return full


def test_links_give_what_was_measured_and_ones_for_oneself() -> None:
    net = network()
    expected = dense(net)
    np.fill_diagonal(expected, 1.0)
    np.testing.assert_allclose(along_links(net).toarray(), expected)


@pytest.mark.parametrize("seed", range(3))
def test_paths_fill_in_what_was_not_measured(seed: int) -> None:
    net = network(seed=seed)
    measured = dense(net)
    expected = (measured[:, :, None] * measured[None]).max(axis=1)
    linked = np.zeros(expected.shape, bool)
    linked[net.links.source, net.links.target] = True
    expected[linked] = measured[linked]
    np.fill_diagonal(expected, 1.0)
    np.testing.assert_allclose(along_paths(net).toarray(), expected)


def test_too_many_paths_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sampler.objectives.similarity._MOST_PATHS", 10)
    with pytest.raises(SamplingError, match="paths of two links; at most 10"):
        along_paths(network())


def test_low_rank_completion_finds_the_kinds() -> None:
    net, truth = planted(80, 0.25)
    estimate = low_rank(net)
    full = estimate.matrix()
    unlinked = np.ones(truth.shape, bool)
    unlinked[net.links.source, net.links.target] = False
    np.fill_diagonal(unlinked, val=False)
    assert np.corrcoef(full[unlinked], truth[unlinked])[0, 1] > 0.95
    assert estimate.ceiling == pytest.approx(0.6, abs=0.1)


def test_networks_that_say_nothing_get_a_constant() -> None:
    net = network()
    alone = Network(net.devices, Links.none())
    np.testing.assert_array_equal(low_rank(alone).factors, 0)
    same = Links(net.links.source, net.links.target, np.full(len(net.links), 0.3), net.links.transmit_cost)
    estimate = low_rank(Network(net.devices, same))
    np.testing.assert_array_equal(estimate.factors, 0)
    assert estimate.mean == pytest.approx(0.3)


@pytest.mark.parametrize(("devices", "degree", "fitted"), [(5000, 3, True), (5001, 15, True), (5001, 14, False)])
def test_large_networks_with_few_links_get_the_mean(devices: int, degree: int, *, fitted: bool) -> None:
    estimate = low_rank(_ring(devices, degree), rounds=1)
    assert estimate.factors.shape == (devices, 10 if fitted else 0)
    assert estimate.mean == pytest.approx(0.4, abs=0.01)


def test_a_network_that_is_not_fitted_is_sampled_by_amount_and_spread() -> None:
    net = _ring(5001, 2)
    chosen = find_sampler("greedy")(problem(net, 3), np.random.default_rng(0))
    objective = Resemblance(problem(net, 3))
    assert chosen.value == pytest.approx(objective.value(chosen.sampled))
    assert objective.value(chosen.sampled) > objective.value(np.array([0, 1, 2]))


def _ring(n: int, degree: int) -> Network:
    """Each device receives from the next few."""
    target = np.repeat(np.arange(n), degree)
    source = (target + 1 + np.tile(np.arange(degree), n)) % n
    similarity = np.random.default_rng(0).uniform(0, 0.8, n * degree)
    devices = Devices(*(np.full(n, value) for value in (50.0, 1e4, 1.0, 50.0, 50.0)))  # type: ignore[arg-type]
    return Network(devices, Links(source, target, similarity, np.ones(n * degree)))
