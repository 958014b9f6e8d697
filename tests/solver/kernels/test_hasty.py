"""A step without time to iterate: feasible, better than nothing, and its certificate holds."""

import numpy as np
import pytest

from solver import TRANSFERS, StepProblem, Weights, advance, solve_fast, start
from solver import step_problem as problem_after
from solver.kernels.hasty import send_hastily
from solver.step.offloading import offload_nothing
from solver.step.solution import StepSolution, certified
from tests.support.instances import FAMILIES
from tests.support.solving import problem


def hasty(step: StepProblem) -> tuple[StepSolution, float]:
    """The answer with a certificate made anew, and the gap that the kernel tells."""
    mu, phi, received = np.empty(step.n_receivers), np.empty(step.n_links), np.empty(step.n_receivers)
    gap = send_hastily(step.arrays, mu, phi, received)
    answer = certified(step, phi, mu, seconds=0.0, heuristic=True)
    np.testing.assert_allclose(received, answer.received, rtol=1e-12, atol=1e-12)
    return answer, gap


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("transfer", TRANSFERS)
@pytest.mark.parametrize("weights", [Weights(), Weights(transmit=1e-5, processing=1e-5)], ids=["free", "priced"])
def test_it_is_feasible_and_between_nothing_and_the_optimum(family: str, transfer: str, weights: Weights) -> None:
    net = FAMILIES[family](np.random.default_rng([3, *family.encode()]), 25)
    state = start(net, np.flatnonzero(net.devices.data > 0)[:4])
    state = advance(net, state, [1.0], transfer=transfer, weights=weights).state
    step = problem_after(net, state, transfer=transfer, weights=weights)
    found, gap = hasty(step)
    best, nothing = solve_fast(step), offload_nothing(step)
    assert found.max_violation <= 1e-12
    assert found.objective <= nothing.objective * (1 + 1e-12)
    assert found.objective - gap <= best.objective * (1 + 1e-9)
    assert found.objective >= best.lower_bound * (1 - 1e-9)
    assert gap == pytest.approx(found.gap, rel=1e-6, abs=1e-12 * found.objective)


def test_a_sender_fills_the_link_that_gains_most_for_its_budget_first() -> None:
    # Both links bring 150; at a budget of .5 the cheap one carries all that the share row allows.
    found, _ = hasty(problem(cost=[2.0, 0.5], budget=[0.5], data=[100.0, 100.0]))
    assert found.fractions.tolist() == [0.0, 1.0]
    found, _ = hasty(problem(cost=[2.0, 0.5], budget=[0.5], data=[100.0, 100.0], receive_capacity=[1e6, 75.0]))
    assert found.fractions.tolist() == [0.125, 0.5]


def test_a_link_that_costs_more_than_it_gains_carries_nothing() -> None:
    assert hasty(problem(price=[1.0, 1.0]))[0].fractions.tolist() == [0.0, 0.0]
    # The first datapoints would gain more than their price, the last ones less.
    assert hasty(problem(price=[0.02, 0.02]))[0].fractions.tolist() == [0.0, 0.0]
