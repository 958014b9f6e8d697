import math

import numpy as np
import pytest

from solver import GradientModel, InvalidInputError, LossConstants, convergence_bound, plan_offloading
from solver.bound import divergence, drift
from tests.support.solving import network


def test_divergence_and_drift_follow_their_formulas() -> None:
    data = np.array([100.0, 400.0])
    share = 500 / 1000
    # δ_i = share·(G + ‖∇F_Ŝ‖) + γ/√D_i, weighted by D_i.
    deltas = [share * (2 + 3) + 6 / 10, share * (2 + 3) + 6 / 20]
    expected = (100 * deltas[0] + 400 * deltas[1]) / 500
    assert divergence(data, 500.0, 2.0, 6.0, 3.0) == pytest.approx(expected)
    assert drift(data, 500.0, 2.0, 3.0) == pytest.approx(share * 5)


def test_the_bound_by_hand() -> None:
    # One sampled device of 100, one other of 300 without a link: nothing changes over T = 4, τ = 2.
    net = network(2, data=[100.0, 300.0])
    plan = plan_offloading(net, [0], horizon=4)
    constants = LossConstants(smoothness=2.0, lipschitz=1e-4, step_size=0.1, proximity=3.0, loss_floor=0.5)
    bound = convergence_bound(net, plan, aggregation_period=2, constants=constants)
    share = 0.75
    delta = share * 2 + 1 / 10
    zeta = share * 2
    # Υ(y, k) = δ(2^(y−1−(k−1)τ) − 1): zero at the period's first step, δ at its second; ζ at both.
    upsilon = 0 * delta + zeta + 1 * delta + zeta
    assert bound.upsilon == pytest.approx(upsilon)
    progress = 4 * 3.0 * 0.1 * (1 - 2.0 * 0.1 / 2)
    weight = (2 + 1) * 1e-4 / (2.0 * 0.25)
    assert bound.value == pytest.approx(1 / (progress - weight * upsilon))
    assert bound.linearised == pytest.approx(1 / progress + weight * upsilon / progress**2)
    assert bound.value is not None
    assert bound.linearised <= bound.value


def test_each_period_is_charged_its_own_upsilon_with_the_largest_divergence() -> None:
    # T = 5, τ = 2: two whole periods and one begun. The norm halves with each step, and nothing is offloaded.
    net = network(2, data=[100.0, 300.0])
    plan = plan_offloading(net, [0], horizon=5, gradient=GradientModel(2.0, 2.0))
    constants = LossConstants(smoothness=2.0, lipschitz=1e-3, step_size=0.1, proximity=3.0, loss_floor=0.5)
    bound = convergence_bound(net, plan, aggregation_period=2, constants=constants)
    # The norm at t = 0 is taken to be that of the first step.
    norms = [1.0, 1.0, 0.5, 0.25, 0.125, 0.0625]
    zeta = [0.75 * 2 * norm for norm in norms]
    delta = [z + 1 / 10 for z in zeta]
    # A period's second step counts δ once: at its largest, that of the period's start.
    own = [zeta[0] + zeta[1] + delta[0], zeta[2] + zeta[3] + delta[2], zeta[4]]
    np.testing.assert_allclose(bound.period_upsilons, own)
    assert bound.upsilon == pytest.approx(zeta[2] + zeta[3] + delta[4])
    progress = 5 * 3.0 * 0.1 * (1 - 2.0 * 0.1 / 2)
    assert bound.proven_value == pytest.approx(1 / (progress - 1e-3 / (2.0 * 0.25) * sum(own)))


def test_a_horizon_within_the_first_period_is_charged_for_its_steps() -> None:
    net = network(2, data=[100.0, 300.0])
    bound = convergence_bound(net, plan_offloading(net, [0], horizon=2), aggregation_period=5)
    share = 0.75
    assert bound.upsilon == pytest.approx(2 * share * 2 + (share * 2 + 1 / 10))
    np.testing.assert_allclose(bound.period_upsilons, [bound.upsilon])


def test_a_vacuous_bound_says_so() -> None:
    net = network(2, data=[100.0, 300.0])
    bound = convergence_bound(net, plan_offloading(net, [0], horizon=4), aggregation_period=2)
    assert bound.value is None
    assert bound.proven_value is None
    assert math.isfinite(bound.linearised)


def test_offloading_lowers_upsilon() -> None:
    net = network(3, (1, 0), (2, 0))
    moved, still = (plan_offloading(net, [0], horizon=6, method=method) for method in ("fast", "none"))
    bounds = [convergence_bound(net, plan, aggregation_period=3) for plan in (moved, still)]
    assert bounds[0].upsilon < bounds[1].upsilon


def test_bad_constants_are_named() -> None:
    with pytest.raises(InvalidInputError, match="step_size: must be at most 1/smoothness, 0.5"):
        LossConstants(smoothness=2.0, step_size=0.6)
    with pytest.raises(InvalidInputError, match="loss_floor: must be above 0, is 0"):
        LossConstants(loss_floor=0.0)
    net = network(2, processing_capacity=[1.0, 1.0])
    with pytest.raises(InvalidInputError, match="plan: has no steps to bound"):
        convergence_bound(net, plan_offloading(net, [0], horizon=1), aggregation_period=1)
