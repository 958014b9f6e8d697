import numpy as np
import pytest
from numpy.testing import assert_allclose

from solver import Status, solve_fast
from solver.step.offloading import offload_greedily, offload_nothing, offload_randomly
from tests.support.instances import FAMILIES, random_problem
from tests.support.solving import problem


@pytest.mark.parametrize("family", FAMILIES)
def test_baselines_keep_every_constraint_and_never_beat_the_optimum(family: str) -> None:
    for seed in range(8):
        step = random_problem(family, seed, 40, 5)
        best = solve_fast(step)
        for answer in (
            offload_randomly(step, np.random.default_rng(seed)),
            offload_greedily(step),
            offload_nothing(step),
        ):
            assert answer.status is Status.FEASIBLE
            assert answer.max_violation <= 1e-12
            assert answer.objective >= best.lower_bound * (1 - 1e-12)
            assert answer.lower_bound <= best.objective * (1 + 1e-12)


def test_greedy_serves_the_link_that_can_carry_most_first() -> None:
    # Receiver 1's link carries 150 · 0.8/1 = 120, receiver 0's 150 · 0.8/2 = 60: the budget goes to receiver 1 alone.
    answer = offload_greedily(problem(cost=[2.0, 1.0], budget=[0.8]))
    assert_allclose(answer.fractions, [0.0, 0.8])
    # With room for 90 at receiver 1, Φ = 0.6 costs 0.6 and the remaining 0.2 buys Φ = 0.1 at receiver 0.
    answer = offload_greedily(problem(cost=[2.0, 1.0], budget=[0.8], receive_capacity=[1e6, 90.0]))
    assert_allclose(answer.fractions, [0.1, 0.6])


def test_random_offloading_follows_its_generator() -> None:
    step = random_problem("tight", 1, 40, 5)
    one, again = (offload_randomly(step, np.random.default_rng(3)).fractions for _ in range(2))
    other = offload_randomly(step, np.random.default_rng(4)).fractions
    assert_allclose(one, again, rtol=0)
    assert not np.allclose(one, other)
    assert one.any()
