"""Of plans with the same useful data one that sends less: beside the least that a linear program finds."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linprog

from solver import TRANSFERS, Status, StepProblem, Weights, advance, plan_offloading, solve_fast, solve_many, start
from solver import step_problem as problem_after
from solver.instances import BUDGETS, random_network
from tests.support.instances import FAMILIES
from tests.support.solving import network, problem


def sent(problem: StepProblem, fractions: np.ndarray) -> float:
    assert problem.load is not None
    return float(problem.load @ fractions)


def least(problem: StepProblem, received: np.ndarray) -> float:
    """The fewest datapoints that bring each receiver this much useful data."""
    assert problem.load is not None
    links = np.arange(problem.n_links)
    share, spent = np.zeros((2, problem.n_senders, links.size))
    share[problem.sender, links], spent[problem.sender, links] = 1.0, problem.cost
    into = np.zeros((problem.n_receivers, links.size))
    into[problem.receiver, links] = problem.useful
    # The plan itself keeps its rows only to the last digits.
    limits = np.concatenate((np.ones(problem.n_senders), problem.budget)) * (1 + 1e-9)
    bounds = [(0.0, limit * (1 + 1e-9)) for limit in problem.link_limit.tolist()]
    found = linprog(problem.load, np.concatenate((share, spent)), limits, into, received, bounds)
    assert found.fun is not None, found.message
    return float(found.fun)


def test_a_full_receiver_takes_the_links_of_the_highest_yield() -> None:
    # Each of three senders could fill the receiver alone: 30 useful datapoints are 100/3 of sender 2, of yield .9.
    net = network(
        4,
        (1, 0),
        (2, 0),
        (3, 0),
        transmit_budget=[100.0] * 4,
        receive_capacity=[30.0] * 4,
        link_columns={"similarity": [0.5, 0.1, 0.6]},
    )
    plan = plan_offloading(net, [0], horizon=1)
    step = plan.steps[0]
    assert step.source.tolist() == [2]
    assert step.datapoints == pytest.approx([30 / 0.9])
    assert step.received[0] == 30.0
    assert step.status is Status.OPTIMAL


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("transfer", TRANSFERS)
def test_only_what_is_sent_changes(family: str, transfer: str) -> None:
    generator = np.random.default_rng([5, *family.encode()])
    net = FAMILIES[family](generator, 25)
    state = start(net, np.flatnonzero(net.devices.data > 0)[:4])
    state = advance(net, state, [1.0], transfer=transfer).state
    step = problem_after(net, state, transfer=transfer)
    little, any_plan = solve_fast(step), solve_fast(replace(step, load=None))
    assert sent(step, little.fractions) <= sent(step, any_plan.fractions) * (1 + 1e-12)
    np.testing.assert_allclose(little.received, any_plan.received, rtol=1e-14)
    arrived = np.bincount(step.receiver, step.useful * little.fractions, minlength=step.n_receivers)
    np.testing.assert_allclose(arrived, little.received, rtol=1e-12, atol=1e-12)
    assert little.objective == pytest.approx(any_plan.objective, rel=1e-14)
    assert (little.gap, little.status) == (any_plan.gap, any_plan.status)
    assert little.max_violation <= 1e-12


@pytest.mark.parametrize(("budgets", "at_most"), [("loose", 0.01), ("tight", 0.06), ("scarce", 0.001)])
def test_it_sends_nearly_the_least(budgets: str, at_most: float) -> None:
    total = np.zeros(3)
    receive, transmit = BUDGETS[budgets]
    for seed in range(3):
        generator = np.random.default_rng(seed)
        net = random_network(generator, 100, link_probability=0.3, receive=receive, transmit=transmit)
        step = problem_after(net, start(net, range(5)))
        answer, any_plan = solve_fast(step), solve_fast(replace(step, load=None))
        total += [sent(step, answer.fractions), least(step, answer.received), sent(step, any_plan.fractions)]
        assert sent(step, answer.fractions) <= 1.1 * least(step, answer.received)
    assert total[0] <= total[1] * (1 + at_most)
    assert budgets == "scarce" or total[0] <= 0.85 * total[2]


def test_prices_decide_alone() -> None:
    # The link of the highest yield has a price, so moving data to it would cost more than it saves.
    step = problem(
        offsets=[0, 1, 2],
        receiver=[0, 0],
        useful=[50.0, 90.0],
        cost=[1.0, 1.0],
        budget=[10.0, 10.0],
        receive_capacity=[30.0],
        data_ceiling=[np.inf],
        data=[100.0],
        load=[100.0, 100.0],
    )
    np.testing.assert_allclose(solve_fast(step).fractions, [0.0, 1 / 3], atol=1e-12)
    priced = solve_fast(replace(step, price=np.array([0.0, 1e-4])))
    np.testing.assert_allclose(priced.fractions, [0.6, 0.0], atol=1e-6)
    assert priced.status is Status.OPTIMAL


@pytest.mark.parametrize("weights", [Weights(transmit=1e-9), Weights(processing=1e-9)])
def test_with_weights_the_objective_decides(weights: Weights) -> None:
    net = network(2, (1, 0))
    assert problem_after(net, start(net, [0]), weights=weights).load is None
    assert problem_after(net, start(net, [0])).load is not None


def test_many_problems_at_once_send_as_little() -> None:
    nets = [random_network(np.random.default_rng(seed), 20, link_probability=0.3) for seed in range(3)]
    problems = [problem_after(net, start(net, range(3))) for net in nets]
    for together in (problems, [problems[0], replace(problems[1], load=None)]):
        for one, other in zip(solve_many(together), map(solve_fast, together), strict=True):
            np.testing.assert_array_equal(one.fractions, other.fractions)
