"""The fast solver held to the reference on seeded random instances of very different shapes."""

import pytest

from solver import Status, solve_fast, solve_many
from solver.step.reference import solve_reference
from tests.support.instances import FAMILIES, random_problem

# (N, S, seeds): 45 instances of each of the fourteen families, 630 in all.
SHAPES = [
    (2, 1, 4), (3, 2, 4), (5, 2, 4), (10, 3, 5), (10, 6, 4), (40, 5, 4), (40, 20, 4),
    (100, 3, 4), (100, 10, 4), (100, 40, 3), (300, 6, 2), (300, 40, 1), (800, 6, 1), (800, 20, 1),
]  # fmt: skip


@pytest.mark.parametrize(("n_devices", "sample_size", "seeds"), SHAPES)
@pytest.mark.parametrize("family", FAMILIES)
def test_fast_and_reference_agree(family: str, n_devices: int, sample_size: int, seeds: int) -> None:
    for seed in range(seeds):
        problem = random_problem(family, seed, n_devices, sample_size)
        fast, reference = solve_fast(problem), solve_reference(problem)
        assert fast.status is Status.OPTIMAL
        assert fast.relative_gap <= 1e-6
        assert fast.max_violation <= 1e-8
        assert fast.objective <= reference.objective * (1 + 1e-6)
        # The reference is within its own certificate of the optimum, and so must the fast one be of it.
        assert fast.objective >= reference.objective * (1 - max(1e-6, reference.relative_gap))
        # Each one's lower bound holds for the other.
        assert fast.lower_bound <= reference.objective * (1 + 1e-12)
        assert reference.lower_bound <= fast.objective * (1 + 1e-12)


def test_the_reference_itself_is_certified_almost_everywhere() -> None:
    problems = [random_problem(family, seed, 40, 5) for family in FAMILIES for seed in range(4)]
    gaps = [solve_reference(problem).relative_gap for problem in problems]
    assert sum(gap <= 1e-6 for gap in gaps) >= 0.95 * len(gaps)


def test_the_instances_reach_the_iterations() -> None:
    """Presolve settles many instances; enough must remain for the comparison above to mean something."""
    counts = [
        solve_fast(random_problem(family, seed, n, s)).iterations > 0
        for family in FAMILIES
        for n, s, seeds in SHAPES
        for seed in range(seeds)
    ]
    assert len(counts) >= 500
    assert sum(counts) >= 250


@pytest.mark.parametrize("family", FAMILIES)
def test_the_batched_form_gives_the_same_answers(family: str) -> None:
    problems = [random_problem(family, seed, n, s) for seed in range(10) for n, s in ((10, 3), (10, 6), (40, 5))]
    for one, other in zip(solve_many(problems), map(solve_fast, problems), strict=True):
        assert one.objective == other.objective
        assert one.fractions.tolist() == other.fractions.tolist()
        assert one.relative_gap == pytest.approx(other.relative_gap, abs=1e-15)


def test_an_empty_batch_is_empty() -> None:
    assert solve_many([]) == []
