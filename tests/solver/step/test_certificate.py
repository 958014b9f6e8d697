"""The certificate holds for any answer of any solver: its bound is true and its violations are real."""

import itertools

import numpy as np
import pytest

import solver.step.fast
from solver import Status, certified, solve_fast
from solver.arrays import FloatArray
from solver.kernels.certificate import sender_earnings
from solver.step.reference import solve_reference
from tests.support.instances import FAMILIES, random_problem
from tests.support.solving import problem


def brute_force_earnings(value: FloatArray, psi: FloatArray, budget: float) -> float:
    """B·z + max_l (value_l − ψ_l z)₊ is convex and piecewise linear: its minimum is at 0 or where two lines meet."""
    lines: list[tuple[float, float]] = [*zip(value.tolist(), psi.tolist(), strict=True), (0.0, 0.0)]
    corners = [0.0]
    for (v, p), (w, q) in itertools.combinations(lines, 2):
        if p != q and (v - w) / (p - q) > 0:
            corners.append((v - w) / (p - q))
    return min(budget * z + max(v - p * z for v, p in lines) for z in corners)


def test_sender_earnings_equal_the_minimum_over_all_corners() -> None:
    generator = np.random.default_rng(11)
    for _ in range(500):
        n = int(generator.integers(1, 7))
        value = generator.normal(0.5, 1.0, n).round(1)
        psi = generator.choice([0.0, 0.5, 1.0, *generator.random(4)], n)
        budget = float(generator.choice([0.0, 0.3, 1.0, 5.0]))
        found = sender_earnings(0, n, value, psi, budget)
        assert found == pytest.approx(brute_force_earnings(value, psi, budget), abs=1e-12)


@pytest.mark.parametrize("family", FAMILIES)
def test_any_prices_give_a_true_bound(family: str) -> None:
    generator = np.random.default_rng(12)
    for seed in range(5):
        step = random_problem(family, seed, 20, 4)
        optimum = solve_reference(step)
        for _ in range(10):
            fractions = solve_fast(step).fractions * generator.random(step.n_links)
            prices = generator.exponential(optimum.objective / 600, step.n_receivers) * generator.integers(0, 2)
            answer = certified(step, fractions, prices)
            assert answer.max_violation <= 1e-12
            assert answer.lower_bound <= optimum.objective * (1 + 1e-9)
            assert answer.objective >= optimum.lower_bound * (1 - 1e-12)


def test_the_gap_closes_only_at_the_optimum() -> None:
    step = random_problem("scarce", 3, 40, 5)
    best = solve_fast(step)
    worse = certified(step, best.fractions * 0.9, best.receiver_prices)
    assert best.status is Status.OPTIMAL
    assert worse.status is Status.FEASIBLE
    assert worse.objective - worse.gap <= best.objective
    assert worse.gap >= worse.objective - best.objective


@pytest.mark.parametrize(
    ("fractions", "changes", "violation"),
    [
        ([0.6, 0.5], {}, 0.1),  # Σ Φ = 1.1
        ([0.5, -0.25], {}, 0.25),  # Φ < 0
        ([0.4, 0.4], {"budget": [0.4]}, 1.0),  # ΣψΦ = 0.8 of 0.4
        ([0.4, 0.4], {"budget": [0.0], "cost": [1.0, 2.0]}, 0.6),  # ΣψΦ = 1.2 of nothing, dearest cost 2
        ([0.2, 0.0], {"receive_capacity": [20.0, 5.0]}, 0.5),  # R = 30 of 20
        ([0.2, 0.0], {"receive_capacity": [0.0, 5.0]}, 0.3),  # R = 30 of nothing, 100 held
        ([0.2, 0.0], {"data_ceiling": [120.0, 900.0]}, 1 / 12),  # 130 of 120
        ([0.5, float("nan")], {}, np.inf),
    ],
)
def test_each_violation_is_measured(fractions: list[float], changes: dict[str, object], violation: float) -> None:
    answer = certified(problem(**changes), np.array(fractions), np.zeros(2))
    assert answer.max_violation == pytest.approx(violation)
    assert answer.status is Status.INFEASIBLE
    assert answer.gap == np.inf


def test_a_time_limit_of_nothing_still_gives_a_feasible_answer_with_its_gap() -> None:
    step = random_problem("spread_costs", 1, 40, 10)
    exact = solve_fast(step)
    assert exact.iterations > 0
    hurried = solve_fast(step, time_limit=0.0)
    assert hurried.status is Status.TIME_LIMIT
    assert hurried.iterations == 0
    assert hurried.max_violation <= 1e-12
    assert hurried.lower_bound <= exact.objective <= hurried.objective


def test_a_deadline_far_away_changes_nothing() -> None:
    for family in FAMILIES:
        for n, s in ((20, 4), (40, 20)):
            step = random_problem(family, 5, n, s)
            watched, free = solve_fast(step, time_limit=60.0), solve_fast(step)
            assert watched.status is Status.OPTIMAL
            assert watched.iterations == free.iterations


def test_the_second_opinion_keeps_the_better_plan_and_the_better_bound() -> None:
    step = random_problem("small_receivers", 3, 40, 5)
    reference = solve_reference(step)
    poor = certified(step, reference.fractions * 0.5, np.zeros(step.n_receivers))
    assert poor.lower_bound < reference.lower_bound * (1 - 1e-6)
    second = solver.step.fast._second_opinion(poor)
    assert second.objective == reference.objective
    assert second.lower_bound == pytest.approx(reference.lower_bound, rel=1e-12, abs=0)
    # The better plan may come without the better bound: then each lends the other its own.
    unproven = certified(step, reference.fractions, np.zeros(step.n_receivers))
    assert (
        solver.step.fast._second_opinion(unproven).lower_bound
        >= max(unproven.lower_bound, reference.lower_bound) - 1e-15
    )


def test_a_generous_time_limit_changes_nothing() -> None:
    for family in FAMILIES:
        step = random_problem(family, 2, 40, 5)
        assert solve_fast(step, time_limit=60.0).objective == pytest.approx(solve_fast(step).objective, rel=1e-7)
        assert solve_fast(step, time_limit=60.0).status is Status.OPTIMAL
