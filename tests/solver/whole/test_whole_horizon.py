"""Plans over the whole horizon: the joint optimum that CVXPY finds, from the step-by-step plan on."""

import numpy as np
import pytest

from solver import Change, InvalidInputError, Schedule, Status, Weights, advance, plan_offloading, start
from solver.instances import random_horizon, random_network
from solver.whole.reference_horizon import solve_jointly, worst_breach
from tests.support.solving import links, network

pytestmark = pytest.mark.filterwarnings("ignore:Solution may be inaccurate")


def test_it_reaches_the_joint_optimum() -> None:
    gains = 0
    for seed in range(24):
        schedule, sampled, norms, noise = random_horizon(np.random.default_rng(seed))
        state = start(schedule, sampled)
        last = norms.size
        whole = advance(
            schedule, state, norms, gradient_noise=noise, horizon=last, transfer="send_once", planning="horizon"
        )
        steps = advance(schedule, state, norms, gradient_noise=noise, horizon=last, transfer="send_once")
        reached = float(np.mean([step.objective for step in whole.steps]))
        by_steps = float(np.mean([step.objective for step in steps.steps]))
        gains += by_steps > reached * (1 + 1e-5)
        assert whole.bound is not None
        assert reached <= by_steps
        assert reached - whole.bound <= 1e-6 * reached
        assert worst_breach(schedule, state, whole.steps) <= 1e-8
        optimum = solve_jointly(schedule, state, norms, gradient_noise=noise)
        if optimum.status == "optimal":
            assert reached <= optimum.objective * (1 + 1e-6)
            assert whole.bound <= optimum.objective * (1 + 1e-6)
    assert gains


def vanishing() -> Schedule:
    """Device 2 sends to 0 or 1; its link to 1 vanishes after the first step, which no single step knows of."""
    net = network(3, (2, 0), (2, 1), transmit_budget=[0.0, 0.0, 60.0], receive_capacity=[1e3] * 3)
    return Schedule(net, (Change(2, links=links((2, 0))),))


def test_it_uses_a_link_before_it_vanishes() -> None:
    # One step sends 60 datapoints to both alike. Over both steps the first sends to device 1 alone.
    by_steps = plan_offloading(vanishing(), [0, 1], horizon=2, transfer="send_once")
    whole = plan_offloading(vanishing(), [0, 1], horizon=2, transfer="send_once", planning="horizon")
    assert whole.planning == "horizon"
    assert whole.status is Status.OPTIMAL
    assert whole.objective is not None
    assert by_steps.objective is not None
    assert whole.objective < by_steps.objective * (1 - 1e-4)
    assert whole.relative_gap == whole.horizon_gap
    to_one = [float(step.datapoints[step.target == 1].sum()) for step in whole.steps]
    before = [float(step.datapoints[step.target == 1].sum()) for step in by_steps.steps]
    assert to_one[0] > 1.3 * before[0]


def test_two_periods_never_send_more_than_everything() -> None:
    net = random_network(np.random.default_rng(4), 30, link_probability=0.2)
    state = start(net, range(5))
    for _ in range(2):
        period = advance(net, state, np.ones(4), horizon=8, transfer="send_once", planning="horizon")
        assert worst_breach(net, state, period.steps) <= 1e-8
        assert period.state.step == state.step + 4
        state = period.state
    assert state.unsent.min() >= 0.0


def test_without_time_the_step_by_step_plan_stays() -> None:
    by_steps = plan_offloading(vanishing(), [0, 1], horizon=2, transfer="send_once", time_limit=0.0)
    plan = plan_offloading(vanishing(), [0, 1], horizon=2, transfer="send_once", planning="horizon", time_limit=0.0)
    assert plan.status is Status.TIME_LIMIT
    assert plan.objective == by_steps.objective
    assert plan.horizon_gap is not None
    assert plan.horizon_gap > 1e-4


def test_a_cancelled_period_ends_at_once() -> None:
    flag = np.ones(1, np.uint8)
    period = advance(
        vanishing(), start(vanishing(), [0, 1]), np.ones(2), transfer="send_once", planning="horizon", cancel=flag
    )
    assert period.steps == ()


def test_a_large_horizon_stays_as_it_is_with_its_honest_gap() -> None:
    net = random_network(np.random.default_rng(4), 30, link_probability=0.2)
    plan = plan_offloading(net, range(5), horizon=201, transfer="send_once", planning="horizon")
    assert plan.status is Status.FEASIBLE
    assert plan.relative_gap == plan.horizon_gap


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"planning": "all"}, "planning: must be one of step, horizon, is 'all'"),
        ({"planning": "horizon", "transfer": "redraw"}, "planning: horizon needs transfer send_once"),
        (
            {"planning": "horizon", "transfer": "send_once", "method": "greedy"},
            "planning: horizon needs the method fast",
        ),
    ],
)
def test_what_it_cannot_do_is_refused(options: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        plan_offloading(vanishing(), [0, 1], horizon=2, **options)  # type: ignore[arg-type]


def test_it_counts_what_sending_and_processing_cost() -> None:
    net = random_network(np.random.default_rng(4), 12, link_probability=0.4)
    state = start(net, range(3))
    weights = Weights(transmit=2e-5, processing=1e-7)
    optimum = solve_jointly(net, state, np.ones(4), weights=weights)
    plan = advance(net, state, np.ones(4), horizon=4, transfer="send_once", planning="horizon", weights=weights)
    reached = float(np.mean([step.objective for step in plan.steps]))
    free = advance(net, state, np.ones(4), horizon=4, transfer="send_once", planning="horizon")
    assert sum(step.transmit_cost for step in plan.steps) < 0.9 * sum(step.transmit_cost for step in free.steps)
    assert plan.bound is not None
    assert abs(reached - optimum.objective) <= 1e-6 * reached
    assert plan.bound <= optimum.objective * (1 + 1e-6)
