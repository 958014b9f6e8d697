"""Instances solved by hand, held against both solvers: two solvers can share a modelling error."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose

from solver import Status, StepProblem, StepSolution, solve_fast
from solver.step.reference import solve_reference
from tests.support.solving import problem

Solver = Callable[[StepProblem], StepSolution]
both = pytest.mark.parametrize("solve", [solve_fast, solve_reference])


def check(answer: StepSolution, objective: float, rtol: float = 1e-7) -> None:
    assert answer.status is Status.OPTIMAL
    assert answer.max_violation <= 1e-9
    assert answer.objective == pytest.approx(objective, rel=rtol)
    assert answer.lower_bound <= objective * (1 + 1e-12)


@both
def test_one_sender_gives_all_it_can_to_its_only_receiver(solve: Solver) -> None:
    # ψΦ ≤ B: Φ = 0.3/2 = 0.15, R = 0.15·200 = 30; f = 1·400/(400 + 130) + 2/√130.
    one = problem(
        offsets=[0, 1],
        receiver=[0],
        useful=[200.0],
        cost=[2.0],
        budget=[0.3],
        receive_capacity=[1e3],
        data_ceiling=[np.inf],
        data=[100.0],
        unsampled_data=400.0,
        gradient_norm=1.0,
        gradient_noise=2.0,
    )
    answer = solve(one)
    check(answer, 400 / 530 + 2 / math.sqrt(130))
    assert_allclose(answer.fractions, [0.15], rtol=1e-6)


@both
def test_noise_alone_fills_the_emptier_receiver_first(solve: Solver) -> None:
    # (b) only: water-filling. 150 datapoints level D = (100, 200) at 225 each: R = (125, 25), Φ = (5/6, 1/6).
    answer = solve(problem())
    check(answer, 0.5 * 2 / math.sqrt(225))
    assert_allclose(answer.fractions, [5 / 6, 1 / 6], atol=2e-4)
    assert_allclose(answer.received, [125, 25], atol=3e-2)


@both
def test_a_full_receiver_passes_the_rest_on(solve: Solver) -> None:
    # The same, but receiver 0 takes 40 at the most: R = (40, 110).
    answer = solve(problem(receive_capacity=[40.0, 1e6]))
    check(answer, 0.5 * (1 / math.sqrt(140) + 1 / math.sqrt(310)))
    assert_allclose(answer.received, [40, 110], atol=1e-2)


@both
def test_the_processing_ceiling_caps_like_the_receive_capacity(solve: Solver) -> None:
    answer = solve(problem(data_ceiling=[140.0, 1e9]))
    check(answer, 0.5 * (1 / math.sqrt(140) + 1 / math.sqrt(310)))


@both
def test_gradient_alone_counts_datapoints_and_takes_the_better_corner_of_two_rows(solve: Solver) -> None:
    # (a) only: maximise 100Φ₀ + 100Φ₁ with Φ₀ + Φ₁ ≤ 1 and 4Φ₀ + 0.5Φ₁ ≤ 1: Φ = (1/7, 6/7) or (0, 1), total 100.
    two = problem(
        useful=[100.0, 100.0],
        cost=[4.0, 0.5],
        budget=[1.0],
        gradient_norm=3.0,
        gradient_noise=0.0,
        unsampled_data=700.0,
    )
    check(solve(two), 3 * 700 / (700 + 300 + 100))
    # Dearer data is worth more: 300Φ₀ + 100Φ₁ is largest where both rows bind, Φ = (1/7, 6/7), total 900/7.
    two = problem(
        useful=[300.0, 100.0],
        cost=[4.0, 0.5],
        budget=[1.0],
        gradient_norm=3.0,
        gradient_noise=0.0,
        unsampled_data=700.0,
    )
    answer = solve(two)
    check(answer, 3 * 700 / (700 + 300 + 900 / 7))
    assert_allclose(answer.fractions, [1 / 7, 6 / 7], atol=1e-4)


@both
def test_two_senders_meet_at_a_shared_receiver(solve: Solver) -> None:
    # Sender 0 reaches both receivers (50 useful), sender 1 only receiver 0 (50): levelling D = (100, 120) means
    # sender 1 fills 0 to 150, sender 0 gives 1 its 30 and both the remaining 20 in halves: 160 each.
    two = problem(
        offsets=[0, 2, 3], receiver=[0, 1, 0], useful=[50.0, 50.0, 50.0], cost=[0.0] * 3, budget=[0.0, 0.0],
        data=[100.0, 120.0],
    )  # fmt: skip
    answer = solve(two)
    check(answer, 1 / math.sqrt(160))
    assert_allclose(answer.received, [60, 40], atol=1e-2)


@both
@pytest.mark.parametrize(
    "changes",
    [
        {"offsets": [0], "receiver": [], "useful": [], "cost": [], "budget": []},
        {"receive_capacity": [0.0, 0.0]},
        {"data_ceiling": [100.0, 200.0]},
        {"budget": [0.0]},
        {"useful": [0.0, 0.0]},
    ],
    ids=["no links", "nothing may be received", "full", "no budget", "all covered"],
)
def test_where_nothing_can_move_nothing_does(solve: Solver, changes: dict[str, object]) -> None:
    still = problem(**changes, gradient_norm=1.0)
    answer = solve(still)
    check(answer, 150 / 450 + 0.5 * (0.1 + 1 / math.sqrt(200)))
    assert answer.relative_gap == 0.0
    assert not answer.received.any()


@both
def test_free_links_need_no_budget(solve: Solver) -> None:
    answer = solve(problem(cost=[0.0, 1.0], budget=[0.0]))
    check(answer, 0.5 * (1 / math.sqrt(250) + 1 / math.sqrt(200)))
    assert_allclose(answer.fractions, [1.0, 0.0], atol=1e-6)


@both
@pytest.mark.parametrize("unlimited", [1e9, 1e18, 1e300])
def test_no_limit_may_be_written_as_any_large_number(solve: Solver, unlimited: float) -> None:
    answer = solve(problem(receive_capacity=[unlimited] * 2, data_ceiling=[unlimited] * 2, budget=[unlimited]))
    check(answer, 0.5 * 2 / math.sqrt(225))
    assert_allclose(answer.received, [125, 25], atol=3e-2)


def test_an_objective_of_zero_is_optimal_whatever_moves() -> None:
    answer = solve_fast(problem(gradient_noise=0.0))
    assert (answer.objective, answer.relative_gap, answer.status) == (0.0, 0.0, Status.OPTIMAL)
