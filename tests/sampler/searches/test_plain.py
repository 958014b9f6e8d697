"""Searches that keep what they know of a set find what they find when every value is computed anew."""

import numpy as np
import pytest

from sampler import find_objective
from sampler.objectives.base import Objective
from sampler.objectives.standing import PlainStanding, Standing
from sampler.objectives.surrogate import Surrogate
from sampler.searches.greedy import sample_greedily
from sampler.searches.local_search import sample_by_local_search
from solver.horizon.transfer import TRANSFERS
from solver.instances import BUDGETS, random_network
from tests.support.sampling import problem


class Plain(Objective):
    """The same objective, without anything kept between two values."""

    def __init__(self, objective: Objective) -> None:
        self._objective = objective

    def values(self, sets: np.ndarray) -> np.ndarray:
        return self._objective.values(sets)

    def standing(self) -> Standing:
        return PlainStanding(self)


@pytest.mark.parametrize("budgets", BUDGETS)
@pytest.mark.parametrize("name", ["mixture", "resemblance", "coverage", "distance"])
def test_both_choose_the_same_devices(name: str, budgets: str) -> None:
    for seed, size in ((0, 4), (1, 15)):
        receive, transmit = BUDGETS[budgets]
        generator = np.random.default_rng(seed)
        net = random_network(generator, 40, link_probability=0.2, receive=receive, transmit=transmit)
        net = net.with_columns({"label_counts": generator.random((40, 6)) ** 3})
        task = problem(net, size, horizon=10)
        objective = find_objective(name)(task)
        for search in (sample_greedily, sample_by_local_search):
            ours = search(objective, task, np.random.default_rng(seed))
            plain = search(Plain(objective), task, np.random.default_rng(seed))
            assert ours.sampled.tolist() == plain.sampled.tolist()
            np.testing.assert_allclose(ours.scores, plain.scores, rtol=1e-6, atol=1e-9)
            assert ours.value == pytest.approx(plain.value, rel=1e-9)


@pytest.mark.parametrize("transfer", TRANSFERS)
@pytest.mark.parametrize("budgets", BUDGETS)
def test_bounds_spare_solving_and_change_no_choice(budgets: str, transfer: str) -> None:
    receive, transmit = BUDGETS[budgets]
    for seed, horizon in ((0, 5), (1, 70)):
        net = random_network(np.random.default_rng(seed), 25, link_probability=0.3, receive=receive, transmit=transmit)
        task = problem(net, 5, horizon=horizon, transfer=transfer)
        ours = sample_greedily(Surrogate(task), task, np.random.default_rng(seed))
        plain = sample_greedily(Plain(Surrogate(task)), task, np.random.default_rng(seed))
        assert ours.sampled.tolist() == plain.sampled.tolist()
        assert ours.value == pytest.approx(plain.value, rel=1e-12)


def test_equal_devices_are_all_looked_at() -> None:
    """A tie is broken by the order of the candidates, which the bounds must not change."""
    net = random_network(np.random.default_rng(2), 20, link_probability=0.0)
    net = net.with_columns({"data": np.full(20, 50.0), "processing_capacity": np.full(20, 1e9)})
    task = problem(net, 3, horizon=4)
    for seed in range(5):
        ours = sample_greedily(Surrogate(task), task, np.random.default_rng(seed))
        plain = sample_greedily(Plain(Surrogate(task)), task, np.random.default_rng(seed))
        assert ours.sampled.tolist() == plain.sampled.tolist()
