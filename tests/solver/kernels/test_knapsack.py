import numpy as np
import pytest
from scipy.optimize import linprog

from solver.kernels.knapsack import all_earnings, best_first, limited_earnings


def test_what_a_sender_earns_is_the_optimum_of_its_linear_program() -> None:
    generator = np.random.default_rng(21)
    for _ in range(300):
        n = int(generator.integers(1, 8))
        earned = generator.normal(0.5, 1.0, n).round(1)
        psi = generator.choice([0.0, 0.5, 1.0, *generator.random(4)], n)
        limit = generator.choice([0.0, 0.2, 0.6, 1.0, *generator.random(4)], n)
        budget = float(generator.choice([0.0, 0.05, 0.3, 1.0, 5.0]))
        optimum = linprog(
            -earned,
            A_ub=np.vstack((np.ones(n), psi)),
            b_ub=[1.0, budget],
            bounds=[(0.0, float(most)) for most in limit],
        )
        assert optimum.fun is not None
        found = limited_earnings(0, n, earned, psi, budget, limit, np.empty(n))
        assert found == pytest.approx(-optimum.fun, abs=1e-12)


def test_senders_earn_on_their_own() -> None:
    offsets = np.array([0, 2, 2, 3])
    earned, psi, limit = np.array([3.0, 1.0, 2.0]), np.ones(3), np.array([0.5, 1.0, 1.0])
    # The first sender fills its dear link and half the other, the second has no link, the third half its budget.
    total = all_earnings(offsets, earned, psi, np.array([2.0, 1.0, 0.5]), limit)
    assert total == pytest.approx(1.5 + 0.5 + 1.0, abs=1e-15)


def test_the_best_links_first_earn_the_most_where_one_row_binds() -> None:
    generator = np.random.default_rng(22)
    exact = 0
    for _ in range(300):
        n = int(generator.integers(1, 8))
        value = generator.normal(0.5, 1.0, n).round(1)
        psi = generator.choice([0.0, 0.5, 1.0, *generator.random(4)], n)
        limit = generator.choice([0.0, 0.2, 0.6, 1.0, *generator.random(4)], n)
        budget = float(generator.choice([0.0, 0.05, 0.3, 1.0, 5.0]))
        y = np.empty(n)
        earned, certain = best_first(0, n, value, psi, budget, limit, y, np.empty(n))
        most = limited_earnings(0, n, value, psi, budget, limit, np.empty(n))
        assert np.all((y >= 0.0) & (y <= limit))
        assert y.sum() <= 1.0 + 1e-12
        assert psi @ y <= budget + 1e-12
        assert earned == pytest.approx(float(value @ y), abs=1e-12)
        assert earned <= most + 1e-12
        if certain:
            exact += 1
            assert earned == pytest.approx(most, abs=1e-12)
    assert 100 < exact < 300
