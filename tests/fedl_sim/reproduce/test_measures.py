import numpy as np
import pytest

from fedl_sim.loop.records import AggregationRecord
from fedl_sim.reproduce.measures import curve, final, spread, to_target
from tests.support.finished_runs import made_run

RUNS = {
    0: [made_run(0.1, 0.5, 0.9), made_run(0.1, 0.3, 0.5, draw=1)],
    1: [made_run(0.2, 0.4, 0.6, seed=1), made_run(0.2, 0.6, 0.8, seed=1, draw=1)],
}


def aggregation(record: AggregationRecord) -> float:
    return record.aggregation


def test_a_seed_is_the_mean_over_its_draws() -> None:
    np.testing.assert_allclose(curve(RUNS, "accuracy"), [[0.1, 0.4, 0.7], [0.2, 0.5, 0.7]])
    np.testing.assert_allclose(final(RUNS, "processed"), [20, 20])


def test_reaching_a_target_is_counted_from_the_first_aggregation_at_it() -> None:
    found, share = to_target(RUNS, 0.5, aggregation)
    assert share == 1
    assert found is not None
    # Seed 0: aggregations 1 and 2; seed 1: 2 and 1.
    assert found.mean == pytest.approx(1.5)
    assert found.deviation == pytest.approx(0.0)


def test_a_run_that_does_not_reach_it_leaves_no_mean_but_its_share() -> None:
    found, share = to_target(RUNS, 0.6, aggregation)
    assert found is None
    assert share == pytest.approx(0.75)


def test_one_seed_has_no_deviation() -> None:
    assert spread(np.array([0.5])).deviation == 0
