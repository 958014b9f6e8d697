"""Differences to a baseline, paired by seed: what the seeds have in common cancels."""

from dataclasses import replace

import pytest

from app.comparisons.differences import paired_difference
from app.comparisons.rows import Cell, Row
from tests.support.comparison_rows import row


def test_pairs_of_one_seed_have_the_interval_not_the_two_means() -> None:
    # Seeds move both samplers by 1 and more; within a pair they always differ by .1, but for ±.01.
    rows = [row("greedy", value, seed=seed) for seed, value in enumerate((1.0, 2.0, 3.0))]
    rows += [row("random", value, seed=seed) for seed, value in enumerate((1.1, 2.09, 3.11))]
    found = paired_difference(rows, (3, 4, 5), (0, 1, 2, 0, 1, 2))
    assert found is not None
    assert (found.pairs, found.tied) == (3, False)
    # t(0.975, 2) = 4.302653, s = 0.01: .1 ± 4.302653·.01/√3.
    assert found.objective.mean == pytest.approx(0.1)
    assert found.objective.low == pytest.approx(0.1 - 0.0248414, abs=1e-6)
    assert found.objective.high == pytest.approx(0.1 + 0.0248414, abs=1e-6)


def test_a_seed_without_a_plan_on_both_sides_is_no_pair() -> None:
    late = Row(Cell("greedy", 2, 1.0, 1), "not_reached", reason="late")
    rows = [row("greedy", 1.0, seed=0), late, row("random", 3.0, 30.0, seed=0), row("random", 9.0, 90.0, seed=1)]
    found = paired_difference(rows, (2, 3), (0, 1, 0, 1))
    assert found is not None
    assert (found.pairs, found.objective.mean, found.sent.mean, found.objective.low) == (1, 2.0, 20.0, None)
    assert paired_difference(rows, (1,), (0, 0, 0, 0)) is None


def test_means_within_their_certified_gap_are_tied() -> None:
    rows = [row("a", 1.0), row("b", 1.0001, gap=1e-3)]
    found = paired_difference(rows, (1,), (0, 0))
    assert found is not None
    assert found.tied
    sharp = [rows[0], replace(rows[1], figures=row("b", 1.0001).figures)]
    found = paired_difference(sharp, (1,), (0, 0))
    assert found is not None
    assert not found.tied
