"""The fast solver on steps whose links have limits and prices, on its own: nothing is asked of the reference."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import solver.step.fast
from solver import Status, StepProblem, StepSolution, solve_fast
from solver.step.reference import solve_reference
from tests.support.instances import FAMILIES, limited_problem, random_problem
from tests.support.solving import problem


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(answer: StepSolution) -> StepSolution:
        raise AssertionError(f"no proof: gap {answer.relative_gap}, violation {answer.max_violation}")

    monkeypatch.setattr(solver.step.fast, "_second_opinion", refuse)


def changed(step: StepProblem, **columns: object) -> StepProblem:
    return StepProblem(**(step.columns() | columns))


@pytest.mark.parametrize("family", FAMILIES)
def test_it_finds_the_optimum_of_the_reference(family: str) -> None:
    for seed in range(15):
        step = limited_problem(family, seed, 24, 5)
        fast, reference = solve_fast(step), solve_reference(step)
        assert fast.max_violation <= 1e-12
        assert fast.relative_gap <= 1e-6
        assert fast.objective <= reference.objective * (1 + 1e-6)
        assert fast.lower_bound <= reference.objective


@pytest.mark.parametrize("family", FAMILIES)
def test_it_proves_itself_on_many_more(family: str) -> None:
    for seed in range(100, 160):
        step = limited_problem(family, seed, 40, 8)
        answer = solve_fast(step)
        assert answer.status is Status.OPTIMAL
        assert answer.max_violation <= 1e-12


@pytest.mark.parametrize("family", ["loose", "scarce", "two_rows", "uneven"])
def test_limits_of_one_and_prices_of_zero_change_nothing(family: str) -> None:
    step = random_problem(family, 2, 30, 6)
    plain = solve_fast(step)
    whole = solve_fast(changed(step, limit=np.ones(step.n_links)))
    assert_array_equal(whole.fractions, plain.fractions)
    free = solve_fast(changed(step, price=np.zeros(step.n_links)))
    assert free.objective == pytest.approx(plain.objective, rel=2e-6)


@pytest.mark.parametrize("nothing", [lambda n: {"limit": np.zeros(n)}, lambda n: {"price": np.full(n, 1e12)}])
def test_limits_of_zero_and_huge_prices_stop_everything(nothing: Callable[[int], dict[str, object]]) -> None:
    step = random_problem("scarce", 3, 30, 6)
    answer = solve_fast(changed(step, **nothing(step.n_links)))
    assert_array_equal(answer.fractions, 0.0)
    assert answer.status is Status.OPTIMAL
    assert answer.gap <= 1e-12


def test_equal_prices_charge_for_what_is_sent() -> None:
    for seed in range(5):
        step = random_problem("scarce", seed, 30, 6)
        best = solve_fast(step)
        price = best.objective / step.n_links
        answer = solve_fast(changed(step, price=np.full(step.n_links, price)))
        assert answer.price_term == pytest.approx(price * answer.fractions.sum(), abs=1e-15)
        assert answer.objective <= best.objective + price * best.fractions.sum() + 1e-9
        assert answer.fractions.sum() <= best.fractions.sum() + 1e-9


def test_limits_by_hand() -> None:
    assert_allclose(solve_fast(problem(limit=[0.25, 0.5])).fractions, [0.25, 0.5], atol=1e-12)
    # The share is spent, and the limit of the better link binds.
    assert_allclose(solve_fast(problem(limit=[0.25, 1.0])).fractions, [0.25, 0.75], atol=1e-9)


def test_a_limit_and_a_cap_that_bind_at_once() -> None:
    step = problem(limit=[0.5, 1.0], receive_capacity=[75.0, 1e6])
    answer = solve_fast(step)
    assert_allclose(answer.fractions, [0.5, 0.5], atol=1e-8)
    assert answer.status is Status.OPTIMAL
