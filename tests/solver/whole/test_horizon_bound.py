"""The bound on the whole horizon is below the optimum that CVXPY finds for all steps at once."""

import warnings

import numpy as np
import pytest

import solver.whole.horizon_bound
from solver import TRANSFERS, Change, GradientModel, Schedule, advance, plan_offloading, start
from solver.instances import BUDGETS, random_network
from solver.whole.reference_horizon import solve_jointly
from tests.support.instances import FAMILIES
from tests.support.solving import links, network

pytestmark = pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
HORIZON = 4


@pytest.mark.parametrize("family", FAMILIES)
def test_no_bound_is_above_the_joint_optimum(family: str) -> None:
    for seed in range(3):
        generator = np.random.default_rng([seed, *family.encode()])
        net = FAMILIES[family](generator, 9)
        sampled = np.flatnonzero(net.devices.data > 0)[:2]
        gradient = GradientModel(float(generator.exponential()), 1.0 + float(generator.random()) / 5)
        noise = float(generator.exponential())
        norms = gradient.norms(1, HORIZON)
        optimum = solve_jointly(net, start(net, sampled), norms, gradient_noise=noise)
        for method in ("greedy", "random", "none", "cvxpy"):
            for transfer in TRANSFERS:
                period = advance(
                    net,
                    start(net, sampled),
                    norms,
                    gradient_noise=noise,
                    horizon=HORIZON,
                    method=method,
                    transfer=transfer,
                    generator=generator,
                )
                assert period.bound is not None
                assert np.isfinite(period.bound)
                assert period.bound <= optimum.objective * (1 + 1e-6)
                assert np.mean([step.objective for step in period.steps]) >= optimum.objective * (1 - 1e-6)


@pytest.mark.parametrize("budgets", ["tight", "scarce"])
def test_the_bound_is_close_where_budgets_bind(budgets: str) -> None:
    receive, transmit = BUDGETS[budgets]
    net = random_network(np.random.default_rng(4), 30, link_probability=0.2, receive=receive, transmit=transmit)
    for transfer in TRANSFERS:
        plan = plan_offloading(net, range(5), horizon=6, transfer=transfer)
        assert plan.horizon_gap is not None
        assert plan.horizon_gap <= 1e-3


def test_the_bound_is_close_to_the_joint_optimum_where_budgets_are_loose() -> None:
    net = random_network(np.random.default_rng(4), 30, link_probability=0.2)
    optimum = solve_jointly(net, start(net, range(5)), GradientModel().norms(1, 10)).objective
    for transfer in TRANSFERS:
        bound = plan_offloading(net, range(5), horizon=10, transfer=transfer).horizon_bound
        assert bound is not None
        assert 0.0 <= optimum - bound <= 0.0025 * optimum


def test_a_bound_without_a_search_for_prices_is_valid_and_looser(monkeypatch: pytest.MonkeyPatch) -> None:
    net = random_network(np.random.default_rng(4), 30, link_probability=0.2)
    searched = plan_offloading(net, range(5), horizon=10)
    monkeypatch.setattr(solver.whole.horizon_bound, "_SHARE", 0.0)
    quick = plan_offloading(net, range(5), horizon=10)
    assert quick.objective == searched.objective
    assert quick.horizon_bound is not None
    assert searched.horizon_bound is not None
    assert quick.horizon_bound < searched.horizon_bound * 0.995


def test_a_bound_sees_links_that_will_vanish() -> None:
    # Device 2 sends to 0 or 1; its link to 1 vanishes after the first step, which no step knows of.
    net = network(3, (2, 0), (2, 1), transmit_budget=[0.0, 0.0, 60.0], receive_capacity=[1e3] * 3)
    schedule = Schedule(net, (Change(2, links=links((2, 0))),))
    norms = np.zeros(2)
    plan = advance(schedule, start(schedule, [0, 1]), norms, transfer="send_once", horizon=2)
    optimum = solve_jointly(schedule, start(schedule, [0, 1]), norms)
    reached = float(np.mean([step.objective for step in plan.steps]))
    assert plan.bound is not None
    assert plan.bound <= optimum.objective * (1 + 1e-9) <= reached


def test_the_bound_of_a_full_horizon_is_its_objective() -> None:
    # Nothing can move: every receiver is closed.
    net = network(3, (2, 0), receive_capacity=[0.0] * 3)
    plan = plan_offloading(net, [0, 1], horizon=3)
    assert plan.horizon_bound == pytest.approx(plan.objective, rel=1e-12)
    assert plan.horizon_gap == pytest.approx(0.0, abs=1e-12)


def test_a_later_period_is_bounded_from_its_own_state() -> None:
    receive, transmit = BUDGETS["loose"]
    net = random_network(np.random.default_rng(6), 10, link_probability=0.4, receive=receive, transmit=transmit)
    first = advance(net, start(net, [0, 1]), np.ones(2), horizon=4, transfer="send_once", method="greedy")
    second = advance(net, first.state, np.ones(2), horizon=4, transfer="send_once", method="greedy")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        optimum = solve_jointly(net, first.state, np.ones(2))
    assert second.bound is not None
    assert second.bound <= optimum.objective * (1 + 1e-7)
    assert optimum.objective <= np.mean([step.objective for step in second.steps]) * (1 + 1e-7)
