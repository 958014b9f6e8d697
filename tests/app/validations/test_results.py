"""Results from rounds, against numbers worked out by hand."""

import json
from typing import Any

import pytest

from app.validations.records import PartRecord, RoundRecord
from app.validations.results import estimated_seconds, scheme_results


def part(number: int, scheme: str, state: str = "done", next_round: int = 3) -> PartRecord:
    return PartRecord(f"p{number}", number, scheme, 0, number, 3, state, next_round, '{"worst_relative_gap": 1e-8}')


def rounds(number: int, accuracy: list[float], seconds: float = 1.0, **last: Any) -> list[RoundRecord]:
    found = []
    for k, value in enumerate(accuracy):
        record = {"aggregation": k, "accuracy": value, "loss": 1 - value, "processed": 100 * k, "cost": 10.0 * k}
        record |= {
            "gradient_norm": 2.0 - k,
            "gradient_noise": 1.0,
            "moved": 5 * k,
            "useful": 4 * k,
            "predicted_useful": 4.0 * k,
        }
        if k == len(accuracy) - 1:
            record |= last
        found.append(RoundRecord(f"p{number}", k, seconds, json.dumps(record)))
    return found


def test_curves_have_mean_and_spread_over_the_runs_that_got_there() -> None:
    parts = [part(0, "a"), part(1, "a", "running", 2), part(2, "b", "queued", 0)]
    a, b = scheme_results(parts, [*rounds(0, [0.1, 0.5, 0.9]), *rounds(1, [0.1, 0.7])], target=0.8, tolerance=0.1)
    assert a.accuracy.mean == pytest.approx([0.1, 0.6, 0.9])
    assert a.accuracy.deviation == pytest.approx([0, 0.1, 0])
    assert a.accuracy.runs == [2, 2, 1]
    assert a.loss.mean == pytest.approx([0.9, 0.4, 0.1])
    assert a.gradient_norm.mean == pytest.approx([2, 1, 0])
    assert (a.runs, a.runs_planned, a.reached) == (1, 2, 1.0)
    assert (a.aggregations_to_target, a.datapoints_to_target, a.cost_to_target) == (2, 200, 20)
    assert (a.moved, a.useful, a.cost, a.worst_relative_gap) == (10, 8, 20, 1e-8)
    assert (b.runs, b.accuracy.mean, b.verdict.outcome, b.reached) == (0, [], "pending", 0)


def test_runs_that_diverge_are_counted_and_left_out_of_curves() -> None:
    bad = {"loss": float("nan"), "gradient_norm": float("inf")}
    parts = [part(0, "a"), part(1, "a"), part(2, "b")]
    runs = [*rounds(0, [0.1, 0.5, 0.9]), *rounds(1, [0.1, 0.5, 0.1], **bad), *rounds(2, [0.1, 0.5, 0.1], **bad)]
    a, b = scheme_results(parts, runs, target=0.8, tolerance=0.1)
    assert (a.diverged, b.diverged) == (1, 1)
    assert a.loss.mean == pytest.approx([0.9, 0.5, 0.1])
    assert a.loss.runs == [2, 2, 1]
    # Nobody is left with a finite value, so these end; accuracy is a number all the same.
    assert (len(b.loss.mean), len(b.loss.deviation), b.loss.runs) == (2, 2, [1, 1])
    assert b.gradient_norm.mean == pytest.approx([2, 1])
    assert b.accuracy.mean == pytest.approx([0.1, 0.5, 0.1])
    assert "null" not in json.dumps(b.model_dump(mode="json", exclude_none=True))


def test_times_to_the_target_are_told_only_if_all_runs_reached_it() -> None:
    runs = [*rounds(0, [0.1, 0.5, 0.9]), *rounds(1, [0.1, 0.2, 0.3])]
    (a,) = scheme_results([part(0, "a"), part(1, "a")], runs, target=0.8, tolerance=0.1)
    assert a.reached == 0.5
    assert a.aggregations_to_target is None
    assert "aggregations_to_target" not in a.model_dump(exclude_none=True)


@pytest.mark.parametrize(
    ("arrived", "outcome"),
    [([100, 100], "as_predicted"), ([91, 91], "as_predicted"), ([80, 80], "less"), ([120, 120], "more"),
     ([60, 100], "too_few_runs"), ([60, 70], "less")],
)  # fmt: skip
def test_the_verdict_tells_a_finding_from_too_few_runs(arrived: list[int], outcome: str) -> None:
    """Predicted 100 each. Of 60 and 100 the mean is 20 % off, but its standard error is 20 %; of 60 and 70, 5 %."""
    found = [
        row
        for i, useful in enumerate(arrived)
        for row in rounds(i, [0.1, 0.2, 0.3], useful=useful, predicted_useful=100.0)
    ]
    (a,) = scheme_results([part(i, "a") for i in range(len(arrived))], found, target=0.8, tolerance=0.1)
    assert a.verdict.outcome == outcome
    assert a.verdict.relative_error == pytest.approx(sum(arrived) / len(arrived) / 100 - 1)


def test_the_time_left_is_each_schemes_own_pace_shared_by_who_runs() -> None:
    parts = [part(0, "a"), part(1, "a", "running", 1), part(2, "b", "running", 1), part(3, "b", "waiting", 0)]
    done = [*rounds(0, [0.1] * 3, 2.0), *rounds(1, [0.1], 2.0), *rounds(2, [0.1], 6.0)]
    assert estimated_seconds(parts, done) == pytest.approx((2 * 2 + 2 * 6 + 3 * 6) / 2)
    assert estimated_seconds(parts, []) is None
