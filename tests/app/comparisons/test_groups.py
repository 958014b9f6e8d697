"""Means over seeds with intervals, ties within what is certified, and groups that no other beats."""

import pytest

from app.comparisons.groups import Mean, group_rows, judge
from app.comparisons.rows import Cell, Row
from tests.support.comparison_rows import row


def test_the_interval_is_students() -> None:
    # t(0.975, 2) = 4.302653 and s = 1: 2 ± 4.302653/√3.
    found = Mean.of([1.0, 2.0, 3.0])
    assert found.mean == 2.0
    assert found.low == pytest.approx(2 - 2.484138, abs=1e-5)
    assert found.high == pytest.approx(2 + 2.484138, abs=1e-5)
    assert Mean.of([3.0]) == Mean(3.0)


def test_rows_of_one_group_differ_by_seed_alone() -> None:
    rows = [row("greedy", 0.5, seed=0), row("greedy", 0.7, seed=1), row("greedy", 0.4, size=3), row("random", 0.8)]
    rows.append(Row(Cell("random", 2, 1.0, 1), "not_reached", reason="late"))
    groups = group_rows(rows)
    assert [(one.sampler, one.sample_size, one.rows, one.planned) for one in groups] == [
        ("greedy", 2, (0, 1), 2),
        ("greedy", 3, (2,), 1),
        ("random", 2, (3, 4), 1),
    ]
    assert groups[0].objective is not None
    assert groups[0].objective.mean == pytest.approx(0.6)
    assert [one.judged.rank for one in groups] == [1, 1, 2]


def test_objectives_within_their_certified_gap_are_tied() -> None:
    assert [one.rank for one in judge([row("a", 1.0), row("b", 1.0001), row("c", 1.0 + 1e-12)])] == [1, 3, 1]
    assert [one.rank for one in judge([row("a", 1.0), row("b", 1.0001, gap=1e-3)])] == [1, 1]


def test_traffic_and_joules_count_beside_the_objective() -> None:
    rows = [row("a", 1.0, 5.0), row("b", 1.1, 4.0), row("c", 1.1, 6.0), row("d", 1.1, 4.0)]
    assert [one.pareto for one in judge(rows)] == [True, True, False, True]
    costly = [row("a", 1.0, 5.0, energy=(1.0, 2.0)), row("c", 1.1, 6.0, energy=(1.0, 1.0))]
    assert [one.pareto for one in judge(costly)] == [True, True]
    assert [one.pareto for one in judge([Row(Cell("a", 1, 1.0, 0), "refused")])] == [False]
