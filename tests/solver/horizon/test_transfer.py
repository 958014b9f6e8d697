"""Sending once and redrawing, over whole horizons."""

from collections import defaultdict

import numpy as np
import pytest
from numpy.testing import assert_allclose

from solver import (
    Change,
    InvalidInputError,
    Network,
    Plan,
    Schedule,
    Status,
    advance,
    plan_offloading,
    start,
    step_problem,
)
from solver.instances import BUDGETS, random_network
from tests.support.solving import links, network


def sent(plan: Plan) -> dict[tuple[int, int], float]:
    """Σ_t y of each pair."""
    total: dict[tuple[int, int], float] = defaultdict(float)
    for step in plan.steps:
        for k, i, share in zip(step.source.tolist(), step.target.tolist(), step.fraction.tolist(), strict=True):
            total[k, i] += share
    return total


def small(budgets: str, seed: int = 3) -> Network:
    receive, transmit = BUDGETS[budgets]
    return random_network(np.random.default_rng(seed), 12, link_probability=0.4, receive=receive, transmit=transmit)


@pytest.mark.parametrize("method", ["fast", "cvxpy", "random", "greedy"])
def test_no_pair_sends_more_than_everything_once(method: str) -> None:
    net = small("loose")
    generator = np.random.default_rng(0)
    plan = plan_offloading(net, [0, 1], horizon=8, method=method, transfer="send_once", generator=generator)
    assert plan.transfer == "send_once"
    assert plan.max_violation is not None
    assert plan.max_violation <= 1e-8
    totals = sent(plan)
    assert max(totals.values()) <= 1 + 1e-9
    assert max(totals.values()) > 0.9
    # Useful data is linear: D_k(1 − λ_ki)·y, in every step.
    pairs = zip(net.links.source.tolist(), net.links.target.tolist(), strict=True)
    fresh = dict(zip(pairs, 1 - net.links.similarity, strict=True))
    for step in plan.steps:
        share = [fresh[pair] for pair in zip(step.source.tolist(), step.target.tolist(), strict=True)]
        assert_allclose(step.useful, step.datapoints * share, rtol=1e-12)


@pytest.mark.parametrize("budgets", ["loose", "tight"])
def test_sending_once_moves_less_data_for_an_objective_at_least_as_good(budgets: str) -> None:
    for seed in range(3):
        net = small(budgets, seed)
        once = plan_offloading(net, [0, 1], horizon=6, transfer="send_once")
        redrawn = plan_offloading(net, [0, 1], horizon=6, transfer="redraw")
        assert {step.status for step in once.steps} == {Status.OPTIMAL}
        assert once.objective is not None
        assert redrawn.objective is not None
        assert once.objective <= redrawn.objective * (1 + 1e-6)
        assert once.datapoints_moved <= redrawn.datapoints_moved * (1 + 1e-6)


def test_two_periods_send_what_one_call_sends() -> None:
    net = small("loose")
    whole = advance(net, start(net, [0, 1]), np.ones(6), transfer="send_once", horizon=6)
    first = advance(net, start(net, [0, 1]), np.ones(3), transfer="send_once", horizon=6)
    second = advance(net, first.state, np.ones(3), transfer="send_once", horizon=6)
    for one, other in zip(whole.steps, (*first.steps, *second.steps), strict=True):
        assert_allclose(one.received, other.received, rtol=1e-6)
    assert_allclose(np.sort(whole.state.unsent), np.sort(second.state.unsent), atol=1e-6)


def test_a_link_that_returns_goes_on_where_it_stopped() -> None:
    net = network(2, (1, 0), transmit_budget=[0.0, 60.0], receive_capacity=[1e3, 1e3])
    gone = Change(2, links=links())
    back = Change(3, links=links((1, 0)))
    plan = plan_offloading(Schedule(net, (gone, back)), [0], horizon=4, transfer="send_once", method="cvxpy")
    # 60 of 100 datapoints at the first step, nothing without the link, then the other 40, then nothing is left.
    moved = [float(step.datapoints.sum()) for step in plan.steps]
    assert_allclose(moved, [60.0, 0.0, 40.0, 0.0], atol=1e-5)


def test_redrawing_repeats_itself_where_sending_once_stops() -> None:
    net = network(2, (1, 0), transmit_budget=[0.0, 60.0], receive_capacity=[1e3, 1e3])
    plan = plan_offloading(net, [0], horizon=3, transfer="redraw")
    assert_allclose([float(step.datapoints.sum()) for step in plan.steps], 60.0)
    assert_allclose([float(step.useful.sum()) for step in plan.steps], [30.0, 12.0, 4.8])


def test_the_next_step_of_a_state_has_what_is_left_as_limits() -> None:
    net = network(2, (1, 0), transmit_budget=[0.0, 60.0], receive_capacity=[1e3, 1e3])
    after = advance(net, start(net, [0]), [1.0], transfer="send_once", method="greedy").state
    step = step_problem(net, after, transfer="send_once")
    assert_allclose(step.link_limit, [0.4])
    assert_allclose(step.useful, [50.0])
    assert step_problem(net, after, transfer="redraw").is_plain


def test_an_unknown_transfer_is_refused() -> None:
    net = network(2, (1, 0))
    with pytest.raises(InvalidInputError, match=r"transfer: must be one of send_once, redraw, is 'twice'"):
        plan_offloading(net, [0], horizon=1, transfer="twice")


def test_a_device_full_to_the_last_datapoint_is_planned_and_stepped_alike() -> None:
    # P/p rounds to a little less than D.
    data = 607.0
    cost = 0.3299999999
    net = network(2, (1, 0), data=[data, 100.0], processing_cost=[cost, 1.0], processing_capacity=[cost * data, 1e3])
    for shift in range(-4, 5):
        capacity = cost * data * (1 + shift * 2.3e-16)
        full = net.with_columns({"processing_capacity": [capacity, 1e3]})
        assert plan_offloading(full, [0], horizon=1).status is Status.OPTIMAL
        assert step_problem(full, start(full, [0])).capacity[0] <= 1e-9
    lacking = net.with_columns({"processing_capacity": [cost * data * 0.9, 1e3]})
    with pytest.raises(InvalidInputError, match="must be at least the data held"):
        step_problem(lacking, start(lacking, [0]))
