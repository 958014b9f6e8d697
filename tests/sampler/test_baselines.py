import numpy as np

from sampler.base import SamplingProblem
from sampler.baselines import sample_heuristically
from solver.network.schedule import Change, Schedule
from tests.support.sampling import network, problem

COST = np.array([4.0, 1.0, 0.5, 2.0, 1.0])
CAPACITY = np.array([800.0, 300.0, 200.0, 500.0, 100.0])  # P/p: 200, 300, 400, 250, 100


def test_the_heuristic_ranks_by_datapoints_and_not_by_cost_units() -> None:
    net = network(5, processing_capacity=CAPACITY, processing_cost=COST)
    chosen = sample_heuristically(problem(net, 3), np.random.default_rng(0))
    assert chosen.sampled.tolist() == [2, 1, 3]
    assert chosen.scores.tolist() == [400.0, 300.0, 250.0]


def test_the_heuristic_sees_the_schedule() -> None:
    net = network(5, processing_capacity=CAPACITY, processing_cost=COST)
    changed = Schedule(net, (Change(2, {"processing_capacity": np.array([800.0, 300.0, 75.0, 500.0, 100.0])}),))
    for horizon, expected in ((1, [2, 1, 3]), (2, [1, 3, 0])):
        task = SamplingProblem.of(changed, 3, horizon=horizon)
        assert sample_heuristically(task, np.random.default_rng(0)).sampled.tolist() == expected


def test_a_device_that_processes_for_nothing_comes_first_with_a_finite_score() -> None:
    net = network(5, processing_capacity=CAPACITY, processing_cost=np.array([4.0, 1.0, 0.5, 0.0, 1.0]))
    chosen = sample_heuristically(problem(net, 2), np.random.default_rng(0))
    assert chosen.sampled.tolist() == [3, 2]
    assert np.isfinite(chosen.scores).all()


def test_ties_are_broken_at_random() -> None:
    net = network(5, processing_capacity=np.full(5, 300.0), processing_cost=np.ones(5))
    first = {int(sample_heuristically(problem(net, 1), np.random.default_rng(s)).sampled[0]) for s in range(40)}
    assert first == set(range(5))
