import numpy as np
import pytest

from sampler import find_objective, find_sampler, objective_names
from solver import Change, Schedule
from solver.network import Links
from tests.support.sampling import labelled, network, problem

SETS = np.array([[0, 3, 7], [1, 2, 11], [4, 5, 6]])


@pytest.mark.parametrize("name", objective_names())
def test_a_change_at_step_1_counts_from_the_start(name: str) -> None:
    base = labelled()
    generator = np.random.default_rng(5)
    budgets = generator.uniform(2, 20, 12)
    pairs = generator.permutation(132)[:40]
    source, target = pairs // 11, pairs % 11
    target = target + (target >= source)
    links = Links(source, target, generator.random(40), generator.uniform(1, 5, 40))
    columns = {"transmit_budget": budgets}
    changed = base.with_columns({"transmit_budget": budgets}, links)
    task = problem(Schedule(base, (Change(1, columns, links),)), 3, horizon=5)  # type: ignore[arg-type]
    expected = find_objective(name)(problem(changed, 3, horizon=5)).values(SETS)
    np.testing.assert_allclose(find_objective(name)(task).values(SETS), expected, rtol=1e-9)


def test_the_best_device_is_the_best_after_links_moved_at_step_1() -> None:
    base = network(6)
    near = Links(np.array([1, 2]), np.array([0, 0]), np.zeros(2), np.ones(2))
    moved = Links(np.array([1, 2]), np.array([5, 5]), np.zeros(2), np.ones(2))
    start = base.with_columns({"data": np.full(6, 30.0), "processing_capacity": np.full(6, 900.0)}, near)
    task = problem(Schedule(start, (Change(1, {}, moved),)), 1, horizon=5)  # type: ignore[arg-type]
    for name in ("exhaustive:surrogate", "greedy:surrogate", "greedy"):
        assert find_sampler(name)(task, np.random.default_rng(0)).sampled.tolist() == [5]
