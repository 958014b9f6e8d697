from itertools import combinations

import numpy as np
import pytest

from sampler import SamplingProblem, TooManySetsError, find_objective, find_sampler, objective_names
from sampler.objectives.base import Objective
from sampler.searches.local_search import LocalSearch
from solver import Schedule
from solver.instances import BUDGETS, random_network
from tests.support.sampling import labelled, network, problem


class Table(Objective):
    """A value for every set, from nowhere."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def values(self, sets: np.ndarray) -> np.ndarray:
        return np.array([np.random.default_rng([self._seed, *sorted(row)]).random() for row in sets])


@pytest.mark.parametrize("objective", objective_names())
@pytest.mark.parametrize("seed", range(3))
def test_exhaustive_finds_the_best_local_search_too_and_greedy_comes_near(objective: str, seed: int) -> None:
    task = problem(labelled(10, seed), 4, horizon=6)
    judge = find_objective(objective)(task)
    best = judge.values(np.array(list(combinations(range(10), 4)))).max()
    values = {}
    for name in ("exhaustive", "local_search", "greedy"):
        chosen = find_sampler(f"{name}:{objective}")(task, np.random.default_rng(seed))
        values[name] = judge.value(chosen.sampled)
        assert chosen.value == pytest.approx(values[name], rel=1e-6)
        assert np.all(np.isfinite(chosen.scores))
    assert values["exhaustive"] == pytest.approx(best, rel=1e-9)
    assert values["local_search"] == pytest.approx(best, rel=1e-9)
    assert values["greedy"] <= best + 1e-9 * abs(best)


def test_local_search_stops_where_no_swap_gains() -> None:
    everyone = np.arange(30)
    for seed in range(5):
        objective = Table(seed)
        sampled, value = LocalSearch(objective, problem(network(30), 4), everyone).improve(np.arange(4))
        assert value == objective.value(sampled) > objective.value(np.arange(4))
        for place in range(4):
            for other in np.setdiff1d(everyone, sampled):
                swapped = sampled.copy()
                swapped[place] = other
                assert objective.value(swapped) <= value


def test_two_swaps_at_once_are_tried_in_small_networks() -> None:
    for seed in range(10):
        objective = Table(seed)
        sampled, value = LocalSearch(objective, problem(network(8), 3), np.arange(8)).improve(np.arange(3))
        for out in combinations(range(3), 2):
            for pair in combinations(np.setdiff1d(np.arange(8), sampled), 2):
                swapped = sampled.copy()
                swapped[list(out)] = pair
                assert objective.value(swapped) <= value


def test_a_large_network_is_too_much_to_try_everything() -> None:
    task = problem(random_network(np.random.default_rng(0), 800), 6)
    with pytest.raises(TooManySetsError, match=r"6 of 800 devices are about 4e\+14 sets; .* at most 100000, use local"):
        find_sampler("exhaustive")(task, np.random.default_rng(0))


@pytest.mark.parametrize("name", ["greedy", "local_search", "exhaustive", "greedy:coverage", "local_search:surrogate"])
def test_all_devices_or_one_can_be_asked_for(name: str) -> None:
    net = labelled(6)
    for size in (1, 6):
        chosen = find_sampler(name)(problem(net, size, horizon=3), np.random.default_rng(0))
        assert len(chosen.sampled) == size
    one = find_sampler(name)(problem(net, 1, horizon=3), np.random.default_rng(0))
    task = problem(net, 1, horizon=3)
    objective = find_objective(name.partition(":")[2] or "balance")(task)
    assert objective.value(one.sampled) == pytest.approx(objective.values(np.arange(6)[:, None]).max())


def test_chance_breaks_ties() -> None:
    net = labelled(6).with_columns({"label_counts": np.ones((6, 2)), "data": np.full(6, 10.0)})
    task = problem(net, 1, offloading=False)
    for name in ("greedy", "local_search", "exhaustive"):
        drawn = {int(find_sampler(name)(task, np.random.default_rng(s)).sampled[0]) for s in range(60)}
        assert drawn == set(range(6))


@pytest.mark.parametrize("name", ["greedy", "local_search", "greedy:coverage", "greedy:resemblance"])
def test_large_networks_are_searched_without_a_matrix_of_all_pairs(name: str) -> None:
    n = 20_000  # all pairs would take 3.2 GB
    network = random_network(np.random.default_rng(0), n, link_probability=10 / n)
    counts = np.random.default_rng(1).random((n, 10))
    task = SamplingProblem.of(Schedule.of(network.with_columns({"label_counts": counts})), 6, horizon=20)
    chosen = find_sampler(name)(task, np.random.default_rng(0))
    assert len(np.unique(chosen.sampled)) == 6


@pytest.mark.parametrize("budgets", BUDGETS)
def test_greedy_on_the_surrogate_adds_the_best_device_each_time(budgets: str) -> None:
    """Lazy evaluation must not change what plain greedy does."""
    receive, transmit = BUDGETS[budgets]
    net = random_network(np.random.default_rng(4), 20, link_probability=0.3, receive=receive, transmit=transmit)
    task = problem(net, 3, horizon=8)
    objective = find_objective("surrogate")(task)
    chosen = find_sampler("greedy:surrogate")(task, np.random.default_rng(0))
    sampled: list[int] = []
    for _ in range(3):
        rest = np.setdiff1d(np.arange(20), sampled)
        values = objective.values(np.array([[*sampled, i] for i in rest]))
        sampled.append(int(rest[np.argmax(values)]))
    assert list(chosen.sampled) == sampled
