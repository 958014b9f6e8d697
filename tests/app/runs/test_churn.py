"""A run under churn with a server killed: a small version of `python -m benchmarks.chaos.healing`."""

import pytest

from benchmarks.chaos.healing import endure


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_answers_follow_from_the_reports_and_replays_are_equal(kind: str) -> None:
    found = endure(kind, aggregations=10, devices=30, kills=1)
    assert found.broken == []
    assert (found.aggregations, found.replays, found.kills) == (10, 10, 1)
    assert found.lost > 0
    assert found.replaced > 0
