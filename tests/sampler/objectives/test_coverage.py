from itertools import combinations

import numpy as np
import pytest

from sampler import find_sampler
from sampler.errors import SamplingError
from sampler.objectives.coverage import Coverage
from sampler.objectives.similarity import along_links, along_paths, low_rank
from tests.support.sampling import network, problem

KINDS = {"links": (Coverage.along_links, along_links), "paths": (Coverage.along_paths, along_paths)}


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_the_data_that_has_a_like_in_the_set(kind: str) -> None:
    net = network()
    make, matrix = KINDS[kind]
    objective = make(problem(net))
    full = matrix(net).toarray()
    sets = np.array(list(combinations(range(12), 3)))
    expected = [(net.devices.data * full[:, row].max(axis=1)).sum() for row in sets]
    np.testing.assert_allclose(objective.values(sets), expected)


def test_low_rank_estimates_keep_what_was_measured() -> None:
    net = network()
    full = low_rank(net).matrix()
    full[net.links.source, net.links.target] = net.links.similarity
    expected = (net.devices.data * full[:, [2, 7]].max(axis=1)).sum()
    assert Coverage.by_low_rank(problem(net)).value(np.array([2, 7])) == pytest.approx(expected)


def test_all_pairs_of_a_large_network_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sampler.objectives.coverage._MOST_DENSE", 11)
    with pytest.raises(SamplingError, match="at most 11 devices, here are 12"):
        Coverage.by_low_rank(problem(network()))


def test_gains_fall_as_a_set_grows() -> None:
    """Submodular and monotone: what lazy greedy and the guarantee rest on."""
    objective = Coverage.along_paths(problem(network(seed=3)))
    generator = np.random.default_rng(0)
    for _ in range(50):
        order = generator.permutation(12)
        small, large, one = order[:2], order[:6], order[-1:]
        gains = [objective.value(np.append(base, one)) - objective.value(base) for base in (small, large)]
        assert gains[0] >= gains[1] - 1e-9
        assert gains[1] >= -1e-9


@pytest.mark.parametrize("seed", range(6))
def test_lazy_greedy_picks_what_plain_greedy_picks_and_its_guarantee_holds(seed: int) -> None:
    net = network(seed=seed)
    task = problem(net, 4)
    objective = Coverage.along_links(task)
    chosen = find_sampler("greedy:coverage")(task, np.random.default_rng(0))
    sampled: list[int] = []
    for _ in range(4):
        values = {i: objective.value(np.array([*sampled, i])) for i in range(12) if i not in sampled}
        sampled.append(max(values, key=lambda i: values[i]))
    assert list(chosen.sampled) == sampled
    assert chosen.value == pytest.approx(objective.value(np.array(sampled)))
    best = objective.values(np.array(list(combinations(range(12), 4)))).max()
    value = objective.value(np.array(sampled))
    gains = sorted(
        (objective.value(np.array([*sampled, i])) - value for i in range(12) if i not in sampled), reverse=True
    )
    assert chosen.guarantee == pytest.approx(value / (value + sum(gains[:4])))
    assert chosen.guarantee is not None
    assert 1 - 1 / np.e < chosen.guarantee <= objective.value(np.array(sampled)) / best + 1e-12
