"""What links bring under conditions that change: exact for a device alone, and near what plans bring to several."""

from dataclasses import replace

import numpy as np
import pytest

from sampler import SamplingProblem, find_objective, find_sampler
from sampler.changing_links import changing_flows
from sampler.objectives.holdings import Holdings
from solver import Change, Links, Network, Schedule, plan_offloading
from solver.horizon.transfer import TRANSFERS
from tests.support.sampling import labelled, network, problem
from tests.support.schedules import planned, random_schedule, the_load_ends

SETS = np.array([np.random.default_rng(seed).choice(12, 4, replace=False) for seed in range(20)])


def amounts(task: SamplingProblem, sets: np.ndarray) -> np.ndarray:
    return Holdings.of(task, np.zeros((len(task.schedule.network), 1))).pool(sets).amount


@pytest.mark.parametrize("transfer", TRANSFERS)
@pytest.mark.parametrize("name", ["balance", "mixture", "distance", "resemblance"])
def test_without_a_change_within_the_horizon_nothing_changes(name: str, transfer: str) -> None:
    net = labelled()
    later = Schedule(net, (Change(10, {"transmit_budget": np.zeros(12)}),))
    constant, changing = (
        find_objective(name)(problem(one, 4, horizon=9, transfer=transfer)).values(SETS)  # type: ignore[arg-type]
        for one in (net, later)
    )
    np.testing.assert_array_equal(changing, constant)


@pytest.mark.parametrize("transfer", TRANSFERS)
@pytest.mark.parametrize("horizon", [1, 2, 9, 60])
def test_flows_that_stay_the_same_are_those_of_constant_conditions(horizon: int, transfer: str) -> None:
    net = network(receive_capacity=np.full(12, 1e6), processing_capacity=np.full(12, 1e9))
    again = Schedule(net, tuple(Change(step, {"transmit_budget": net.devices.transmit_budget}) for step in (2, 5)))
    constant = problem(net, 4, horizon=horizon, transfer=transfer)
    cut = replace(constant, schedule=again)
    np.testing.assert_allclose(amounts(cut, SETS), amounts(constant, SETS), rtol=1e-3)


def alone(schedule: Schedule, device: int, horizon: int, transfer: str) -> float:
    plan = plan_offloading(schedule, [device], horizon=horizon, transfer=transfer)
    return float(np.mean([step.sampled_data.sum() for step in plan.steps]))


@pytest.mark.parametrize("transfer", TRANSFERS)
@pytest.mark.parametrize("late", [0, 3, 8, 11])
def test_a_link_counts_for_the_steps_at_which_it_is_there(late: int, transfer: str) -> None:
    base = network(3, processing_capacity=np.full(3, 1e6), receive_capacity=np.full(3, 1e6))
    one = Links(np.array([1]), np.array([0]), np.array([0.2]), np.array([1.5]))
    net = Network(base.devices, one)
    comes = Schedule(Network(base.devices, Links.none()), (Change(late + 1, links=one),))
    goes = Schedule(net, (Change(late + 1, links=Links.none()),))
    for schedule in (comes, goes):
        task = problem(schedule, 1, horizon=10, transfer=transfer)  # type: ignore[arg-type]
        (found,) = amounts(task, np.array([[0]]))
        assert found == pytest.approx(alone(schedule, 0, 10, transfer), rel=5e-3)


@pytest.mark.parametrize("transfer", TRANSFERS)
@pytest.mark.parametrize("size", [1, 3])
def test_the_estimate_stands_near_what_is_planned(size: int, transfer: str) -> None:
    estimate, real, at_first = [], [], []
    for seed in range(30):
        generator = np.random.default_rng([seed, size])
        schedule = random_schedule(generator, 10, 10)
        task = problem(schedule, 1, horizon=10, transfer=transfer)  # type: ignore[arg-type]
        sets = np.array([generator.choice(task.candidates, size, replace=False) for _ in range(4)])
        estimate.append(amounts(task, sets))
        at_first.append(amounts(replace(task, schedule=Schedule(schedule.at(1))), sets))
        plans = [plan_offloading(schedule, row, horizon=10, transfer=transfer) for row in sets]
        real.append([np.mean([step.sampled_data.sum() for step in plan.steps]) for plan in plans])
    truth = np.ravel(real)
    off, off_at_first = (np.abs(np.ravel(each) / truth - 1).mean() for each in (estimate, at_first))
    assert off < (0.003 if size == 1 else 0.015)
    assert off_at_first > 0.03


def test_the_default_sampler_chooses_better_on_average_than_by_the_first_step() -> None:
    ratios = []
    for seed in range(60):
        generator = np.random.default_rng([99, seed])
        task = problem(random_schedule(generator, 20, 16), 1, horizon=16)  # type: ignore[arg-type]
        task = replace(task, sample_size=min(4, len(task.candidates)))
        at_first = replace(task, schedule=Schedule(task.conditions))
        chosen = [find_sampler("greedy")(one, np.random.default_rng(0)).sampled for one in (task, at_first)]
        now, then = (planned(task, sampled) for sampled in chosen)
        ratios.append(np.log(now / then))
    assert np.count_nonzero(ratios) > 10
    assert np.mean(ratios) < 0


@pytest.mark.parametrize("search", ["greedy", "local_search", "exhaustive"])
def test_the_default_objective_counts_a_load_that_ends(search: str) -> None:
    task = problem(the_load_ends(), 1, horizon=10)  # type: ignore[arg-type]
    assert find_sampler(search)(task, np.random.default_rng(0)).sampled.tolist() == [0]


def test_budgets_and_costs_without_limit_or_of_zero_stay_finite() -> None:
    base = network(processing_cost=np.zeros(12), transmit_budget=np.where(np.arange(12) % 2, 1e308, 0.0))
    links = base.links
    free = Links(
        links.source, links.target, np.ones(len(links)) * (np.arange(len(links)) % 3 == 0), np.zeros(len(links))
    )
    schedule = Schedule(base, (Change(3, {"receive_capacity": np.full(12, 1e9)}), Change(5, links=free)))
    for once in (True, False):
        flows = changing_flows(schedule, 8, once=once)
        assert all(np.isfinite(each).all() for each in (flows.most, flows.pace, flows.weight, flows.room))
