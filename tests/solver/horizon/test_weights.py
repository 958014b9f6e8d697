"""Weights of transmit and processing cost: against CVXPY, step by step and over the whole horizon."""

from typing import Any

import numpy as np
import pytest

from solver import TRANSFERS, InvalidInputError, Network, Status, Weights, advance, plan_offloading, start, step_problem
from solver.network.energy import Energy
from solver.step.reference import solve_reference
from solver.whole.reference_horizon import solve_jointly
from tests.support.instances import FAMILIES
from tests.support.solving import network

pytestmark = pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
HORIZON = 4


def some_weights(generator: np.random.Generator, net: Network) -> Weights:
    """Prices from negligible to prohibitive; a datapoint gains about 1/ΣD of an objective of about 1."""
    scale = 10.0 ** generator.uniform(-3, 2, 3) / net.devices.data.sum() * (generator.random(3) < 0.75)
    links = net.links
    joules = Energy(generator.random(len(net)), links.source, links.target, generator.random(len(links)))
    return Weights(scale[0], scale[1] / np.maximum(net.devices.processing_cost.mean(), 1e-12), scale[2], joules)


def test_the_objective_by_hand() -> None:
    # 40 of device 1's 100 datapoints are sent at ψ = 0.5, half of them are useful; device 0 then holds 120 at p = 2.
    net = network(
        2, (1, 0), transmit_budget=[0.0, 20.0], processing_cost=[2.0, 1.0], link_columns={"transmit_cost": [0.5]}
    )
    plan = plan_offloading(net, [0], horizon=1, weights=Weights(1e-5, 1e-6))
    step = plan.steps[0]
    assert step.received[0] == pytest.approx(20.0)
    assert [step.transmit_cost, step.processing_cost] == pytest.approx([20.0, 240.0])
    assert [step.transmit_term, step.processing_term] == pytest.approx([20e-5, 240e-6])
    terms = (step.sampling_term, step.statistical_term, step.transmit_term, step.processing_term)
    assert step.objective == pytest.approx(sum(terms), rel=1e-15)
    assert plan.objective == step.objective
    assert (plan.transmit_term, plan.processing_term) == (step.transmit_term, step.processing_term)
    assert plan.horizon_gap == pytest.approx(0.0, abs=1e-9)


def test_joules_by_hand() -> None:
    # As above: 40 datapoints are sent, at 3 J each, and device 0 holds 120 afterwards, at 2 J each.
    net = network(2, (1, 0), transmit_budget=[0.0, 20.0], link_columns={"transmit_cost": [0.5]})
    joules = Energy(np.array([2.0, 7.0]), np.array([1]), np.array([0]), np.array([3.0]))
    for method in ("fast", "cvxpy"):
        plan = plan_offloading(net, [0], horizon=1, weights=Weights(energy=1e-6, joules=joules), method=method)
        step = plan.steps[0]
        assert step.energy_cost == pytest.approx(3 * 40 + 2 * 120)
        assert plan.energy_term == step.energy_term == pytest.approx(360e-6)
        assert step.objective == pytest.approx(step.sampling_term + step.statistical_term + 360e-6, rel=1e-12)
        assert plan.horizon_gap == pytest.approx(0.0, abs=1e-8)


def test_a_dear_link_is_left_for_a_cheap_one() -> None:
    net = network(3, (1, 0), (2, 0), transmit_budget=[0.0, 20.0, 20.0])
    joules = Energy(np.zeros(3), np.array([1, 2]), np.array([0, 0]), np.array([1.0, 100.0]))
    plan = plan_offloading(net, [0], horizon=1, weights=Weights(energy=1e-4, joules=joules))
    assert plan.steps[0].source.tolist() == [1]


@pytest.mark.parametrize("weights", [Weights(transmit=1.0), Weights(processing=1.0)])
def test_at_a_prohibitive_weight_nothing_is_sent(weights: Weights) -> None:
    net = network(3, (1, 0), (2, 0))
    plan = plan_offloading(net, [0], horizon=2, weights=weights)
    assert plan.datapoints_moved == 0
    assert plan.status is Status.OPTIMAL
    assert plan.horizon_gap == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("transfer", TRANSFERS)
def test_steps_are_those_of_the_reference(family: str, transfer: str) -> None:
    generator = np.random.default_rng([7, *family.encode()])
    net = FAMILIES[family](generator, 12)
    weights = some_weights(generator, net)
    state = start(net, np.flatnonzero(net.devices.data > 0)[:3])
    options: dict[str, Any] = {"horizon": HORIZON, "transfer": transfer, "weights": weights}
    for _ in range(2):
        reference = solve_reference(step_problem(net, state, **options))
        period = advance(net, state, [1.0], **options)
        (step,) = period.steps
        assert weights.joules is not None
        rates = weights.processing * net.devices.processing_cost + weights.energy * weights.joules.processing
        before = float(state.data @ rates[state.sampled])
        assert step.objective == pytest.approx(reference.objective + before, rel=1e-6)
        assert step.max_violation <= 1e-8
        assert step.status is Status.OPTIMAL
        state = period.state


@pytest.mark.parametrize("transfer", TRANSFERS)
def test_steps_in_one_call_are_those_of_single_calls(transfer: str) -> None:
    # The price of a link follows its useful data, which changes from step to step if senders redraw.
    net = FAMILIES["loose"](np.random.default_rng(3), 15)
    weights = Weights(2e-5, 1e-5)
    together = plan_offloading(net, [0, 1, 2], horizon=HORIZON, transfer=transfer, weights=weights)
    alone = plan_offloading(net, [0, 1, 2], horizon=HORIZON, transfer=transfer, weights=weights, method="cvxpy")
    assert together.transmit_cost > 0
    assert together.objective == pytest.approx(alone.objective, rel=1e-6)
    assert together.transmit_cost == pytest.approx(alone.transmit_cost, rel=1e-3)
    assert together.processing_cost == pytest.approx(alone.processing_cost, rel=1e-3)


@pytest.mark.parametrize("family", FAMILIES)
def test_no_horizon_bound_is_above_the_joint_optimum(family: str) -> None:
    generator = np.random.default_rng([1, *family.encode()])
    net = FAMILIES[family](generator, 9)
    weights = some_weights(generator, net)
    state = start(net, np.flatnonzero(net.devices.data > 0)[:2])
    norms = np.ones(HORIZON)
    optimum = solve_jointly(net, state, norms, weights=weights)
    for method in ("fast", "greedy", "none"):
        for transfer in TRANSFERS:
            period = advance(net, state, norms, horizon=HORIZON, method=method, transfer=transfer, weights=weights)
            assert period.bound is not None
            assert period.bound <= optimum.objective * (1 + 1e-6)
            assert np.mean([step.objective for step in period.steps]) >= optimum.objective * (1 - 1e-6)


def test_a_larger_weight_never_sends_more() -> None:
    net = FAMILIES["loose"](np.random.default_rng(0), 20)
    costs = [
        plan_offloading(net, range(4), horizon=1, weights=Weights(transmit=weight)).transmit_cost
        for weight in (0.0, 1e-6, 1e-5, 1e-4, 1e-3)
    ]
    assert costs == sorted(costs, reverse=True)
    assert costs[0] > 2 * costs[3]


def test_bad_weights_are_named() -> None:
    with pytest.raises(InvalidInputError, match="weights.transmit: must be at least 0, is -1"):
        Weights(transmit=-1.0)
    with pytest.raises(InvalidInputError, match="weights.processing: must be finite, is nan"):
        Weights(processing=float("nan"))
    with pytest.raises(InvalidInputError, match="weights.energy: needs to know the joules"):
        Weights(energy=1.0)
