import numpy as np
import pytest

from fedl_sim.labels.evaluation import HELD_OUT_SEED, TUNING_SEED, by_network, judge, percentiles, problem_of
from fedl_sim.labels.label import label
from fedl_sim.labels.settings import Family
from fedl_sim.train.examples import gcn_examples, rank_states
from sampler.base import SamplingProblem, Selection
from sampler.registry import find_sampler

SMALL = Family(n_devices=6, budgets=("none", "loose"), aggregations=1)
RECORDS = [label(SMALL, seed, 2) for seed in range(6)]


def oracle(problem: SamplingProblem, generator: np.random.Generator) -> Selection:
    """The best set by FedL loss, found by looking it up."""
    record = next(r for r in RECORDS if r.network is problem.schedule.network)
    return Selection(record.sets[np.argmin(record.values("fedl"))], np.zeros(2))


def test_the_best_sets_are_at_zero_and_random_ones_in_the_middle() -> None:
    assert judge(percentiles(oracle, RECORDS, "fedl")).mean == 0
    score = judge(percentiles(find_sampler("random"), RECORDS, "fedl", draws=200))
    assert abs(score.mean - 0.5) < 0.03
    assert score.networks == 6


def test_a_network_counts_once_whatever_the_sizes_it_is_judged_at() -> None:
    records = [*RECORDS[:3], *(label(SMALL, seed, 3, fedl=False) for seed in range(3))]
    np.testing.assert_allclose(by_network(np.arange(6.0), records), [1.5, 2.5, 3.5])


def test_judging_repeats_itself() -> None:
    one, same = (percentiles(find_sampler("random"), RECORDS, "surrogate") for _ in range(2))
    np.testing.assert_array_equal(one, same)


def test_problems_can_hide_the_labels_and_know_whether_data_moves() -> None:
    record = RECORDS[0]
    assert problem_of(record).schedule.network.devices.label_counts is not None
    hidden = problem_of(record, reveal_labels=False)
    assert hidden.schedule.network.devices.label_counts is None
    assert hidden.offloading == (record.kind.budget != "none")
    assert hidden.horizon == SMALL.horizon


def test_seeds_for_training_tuning_and_judging_lie_apart() -> None:
    assert TUNING_SEED < HELD_OUT_SEED


@pytest.mark.parametrize("by", ["fedl", "surrogate"])
def test_the_paper_s_target_is_the_best_set(by: str) -> None:
    for record, example in zip(RECORDS, gcn_examples(RECORDS, by, general=True), strict=True):
        best = record.sets[np.argmin(record.values(by))]
        assert example.target.sum() == pytest.approx(1)
        assert set(np.flatnonzero(example.target)) == set(best)
        np.testing.assert_allclose(example.features[:, -1], 2 / 6)


def test_walks_point_at_the_best_sets_that_are_left() -> None:
    states = rank_states(RECORDS[:2], surrogate_share=0.0)
    assert len(states) == 2 * 3 * 2  # records, walks, picks
    np.testing.assert_allclose(states.target.sum(axis=1), 1)
    assert np.all(states.target[~states.free] == 0)
    # At the first pick of S = 2, the likeliest device is one of the best sets'; at the second, the rest of one is.
    first = states.target[0]
    order = np.argsort(RECORDS[0].values("fedl"))
    assert int(np.argmax(first)) in RECORDS[0].sets[order[0]]
    by_surrogate = rank_states(RECORDS[:2], surrogate_share=1.0)
    assert not np.allclose(by_surrogate.target, states.target)
