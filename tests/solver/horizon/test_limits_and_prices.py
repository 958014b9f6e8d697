"""Steps whose links have limits and prices: the reference and the certificate."""

import numpy as np
import pytest

from solver import Status, certified, solve_fast, solve_many
from solver.step.offloading import offload_greedily, offload_randomly
from solver.step.reference import solve_reference
from tests.support.instances import FAMILIES, limited_problem
from tests.support.solving import problem


def test_a_limit_holds_by_hand() -> None:
    # Two equal receivers but for their data: without limits the smaller one would get more.
    answer = solve_reference(problem(limit=[0.25, 0.5]))
    np.testing.assert_allclose(answer.fractions, [0.25, 0.5], atol=1e-8)
    assert answer.status is Status.OPTIMAL


def test_a_price_above_the_worth_stops_a_link() -> None:
    # Its first datapoint is worth (γ/2S)·100^(−3/2) = 2.5e-4, so a whole data set at most 150 times that.
    answer = solve_reference(problem(price=[0.04, 0.0]))
    np.testing.assert_allclose(answer.fractions, [0.0, 1.0], atol=1e-7)
    assert answer.price_term == pytest.approx(0.0, abs=1e-8)
    assert answer.status is Status.OPTIMAL


def test_the_price_is_part_of_the_objective() -> None:
    step = problem(price=[0.001, 0.002])
    answer = certified(step, np.array([0.5, 0.25]), np.zeros(2))
    assert answer.price_term == pytest.approx(0.001, rel=1e-12)
    assert answer.objective == answer.sampling_term + answer.statistical_term + answer.price_term


def test_a_broken_limit_is_a_violation() -> None:
    answer = certified(problem(limit=[0.25, 0.5]), np.array([0.35, 0.5]), np.zeros(2))
    assert answer.max_violation == pytest.approx(0.1)
    assert answer.status is Status.INFEASIBLE
    assert answer.gap == np.inf


@pytest.mark.parametrize("family", FAMILIES)
def test_any_prices_of_the_receivers_give_a_true_bound(family: str) -> None:
    generator = np.random.default_rng(13)
    for seed in range(6):
        step = limited_problem(family, seed, 20, 4)
        optimum = solve_reference(step)
        assert optimum.status is Status.OPTIMAL
        for _ in range(5):
            fractions = optimum.fractions * generator.random(step.n_links)
            prices = generator.exponential(optimum.objective / 600, step.n_receivers) * generator.integers(0, 2)
            answer = certified(step, fractions, prices)
            assert answer.max_violation <= 1e-12
            assert answer.lower_bound <= optimum.objective * (1 + 1e-9)
            assert answer.objective >= optimum.lower_bound * (1 - 1e-12)


@pytest.mark.parametrize("family", ["loose", "scarce", "uneven"])
def test_the_fast_solver_answers_as_the_reference(family: str) -> None:
    steps = [limited_problem(family, seed, 20, 4) for seed in range(3)]
    for step, together in zip(steps, solve_many(steps), strict=True):
        reference, fast = solve_reference(step), solve_fast(step)
        assert fast.status is Status.OPTIMAL
        assert fast.objective == pytest.approx(reference.objective, rel=1e-6)
        assert together.objective == pytest.approx(reference.objective, rel=1e-6)


def test_baselines_keep_the_limits() -> None:
    for seed in (0, 2):
        step = limited_problem("loose", seed, 20, 4)
        assert offload_randomly(step, np.random.default_rng(0)).max_violation <= 1e-12
        assert offload_greedily(step).max_violation <= 1e-12
