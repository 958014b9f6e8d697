"""What the status of a plan proves: of the whole plan, not of its steps one by one."""

import numpy as np
import pytest

from solver import (
    OPTIMALITY_GAP,
    TRANSFERS,
    Change,
    GradientModel,
    Links,
    Plan,
    Schedule,
    Status,
    plan_offloading,
    start,
)
from solver.instances import BUDGETS, random_network
from solver.network import LINK_COLUMNS
from solver.whole.reference_horizon import solve_jointly
from tests.support.solving import links, network

pytestmark = pytest.mark.filterwarnings("ignore:Solution may be inaccurate")


def excess(plan: Plan, objective: float) -> float:
    assert plan.objective is not None
    return plan.objective / objective - 1


def test_a_link_that_ends_leaves_a_plan_whose_steps_are_optimal_but_not_the_plan() -> None:
    # Device 2 has radio for 20 datapoints a step. Step 1 sends them to device 0, which has less data. But the link to
    # device 1 ends then, and device 0 can have the same data later.
    sizes = {"data": [4.0, 24.0, 100.0], "transmit_budget": [0.0, 0.0, 20.0]}
    net = network(3, (2, 0), (2, 1), link_columns={"similarity": [0.0, 0.0]}, **sizes)
    ending = Schedule(net, (Change(2, links=links((2, 0), similarity=[0.0])),))
    still = GradientModel(norm=0.0)
    by_steps = plan_offloading(ending, [0, 1], horizon=30, gradient=still)
    whole = plan_offloading(ending, [0, 1], horizon=30, gradient=still, planning="horizon")
    assert {step.status for step in by_steps.steps} == {Status.OPTIMAL}
    assert by_steps.status is Status.STEP_OPTIMAL
    assert whole.status is Status.OPTIMAL
    assert whole.objective is not None
    assert by_steps.horizon_gap is not None
    assert 0.1 < excess(by_steps, whole.objective) <= by_steps.horizon_gap / (1 - by_steps.horizon_gap)


@pytest.mark.parametrize("transfer", TRANSFERS)
@pytest.mark.parametrize("budgets", BUDGETS)
def test_a_plan_of_one_step_is_as_optimal_as_its_step(budgets: str, transfer: str) -> None:
    receive, transmit = BUDGETS[budgets]
    for seed in range(20):
        generator = np.random.default_rng([seed, *budgets.encode()])
        n = int(generator.integers(5, 40))
        net = random_network(generator, n, link_probability=0.4, receive=receive, transmit=transmit)
        plan = plan_offloading(net, generator.permutation(n)[: n // 4 + 1], horizon=1, transfer=transfer)
        assert plan.status is plan.steps[0].status is Status.OPTIMAL
        assert plan.horizon_gap is not None
        assert plan.relative_gap is not None
        assert plan.horizon_gap <= plan.relative_gap + 1e-12


def test_an_optimal_plan_is_within_the_tolerance_of_cvxpys_whole_horizon() -> None:
    found = {Status.OPTIMAL: 0, Status.STEP_OPTIMAL: 0}
    farther = 0
    norms = GradientModel().norms(1, 6)
    for seed in range(20):
        generator = np.random.default_rng(seed)
        net = random_network(generator, 8, link_probability=0.5, cost_spread=1.5)
        stay = generator.random(len(net.links)) < 0.5
        ending = Links(**{name: getattr(net.links, name)[stay] for name in LINK_COLUMNS})
        schedule = Schedule(net, (Change(2, links=ending),))
        plan = plan_offloading(schedule, [0, 1, 2], horizon=norms.size)
        optimum = solve_jointly(schedule, start(schedule, [0, 1, 2]), norms)
        above = excess(plan, optimum.objective)
        found[plan.status] += 1
        farther += above > 1e-5
        assert plan.status is Status.STEP_OPTIMAL or above <= OPTIMALITY_GAP
    assert min(found.values()) >= 5
    assert farther
