import pytest

from fedl_sim.loop.records import AggregationRecord, SchemeRun
from fedl_sim.simulate.summary import first_reaching, summarise


def run(scheme: str, accuracies: list[float]) -> SchemeRun:
    records = tuple(
        AggregationRecord(
            aggregation=k,
            accuracy=accuracy,
            loss=1.0,
            gradient_norm=1.0,
            gradient_noise=1.0,
            processed=100 * k,
            moved=10 * k,
            useful=5 * k,
            predicted_useful=6.0 * k,
            cost=110.0 * k,
        )
        for k, accuracy in enumerate(accuracies)
    )
    return SchemeRun(scheme, 0, 0, (1,), (), records, 0.0)


def test_the_first_aggregation_at_the_target_counts() -> None:
    found = first_reaching(run("a", [0.1, 0.7, 0.6, 0.8]), 0.65)
    assert found is not None
    assert found.aggregation == 1
    assert first_reaching(run("a", [0.1]), 0.5) is None


def test_summaries_are_means_over_runs() -> None:
    runs = [run("a", [0.0, 0.5, 0.9]), run("b", [0.0, 0.1, 0.2]), run("a", [0.2, 0.7, 0.7])]
    a, b = summarise(runs, target=0.5)
    assert (a.scheme, a.runs, b.scheme) == ("a", 2, "b")
    assert a.accuracy == pytest.approx((0.1, 0.6, 0.8))
    assert a.accuracy_deviation == pytest.approx((0.1, 0.1, 0.1))
    assert (a.aggregations_to_target, a.processed_to_target, a.cost_to_target) == (1.0, 100.0, 110.0)
    assert (a.moved, a.useful, a.predicted_useful, a.processed, a.cost) == (20, 10, 12, 200, 220)
    assert (b.reached, b.aggregations_to_target) == (0.0, None)


def test_a_target_that_some_runs_miss_has_no_mean() -> None:
    (summary,) = summarise([run("a", [0.0, 0.9]), run("a", [0.0, 0.3])], target=0.5)
    assert summary.reached == 0.5
    assert summary.processed_to_target is None
