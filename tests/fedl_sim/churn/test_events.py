"""Lives are cut into periods, and stragglers are drawn beside them."""

import numpy as np
import pytest

from fedl_sim.churn.churn import Churn
from fedl_sim.churn.events import events_of, happenings
from fedl_sim.churn.lives import Lives


def test_a_period_tells_who_is_there_who_is_lost_and_when() -> None:
    lives = Lives(
        np.array([2, 0, 0, 1, 2, 2, 2, 1]),
        np.array([0.0, 1.5, 1.7, 2.0, 2.2, 2.8, 2.9, 3.25]),
        np.array([False, False, True, False, True, False, True, True]),
    )
    periods = events_of(lives, Churn(), 3, 4, 4, seed=0)
    assert [period.present.tolist() for period in periods] == [
        [True, True, False],
        [True, True, False],
        [True, False, False],  # 0 went down and was back in between; 1 went down between two periods
        [True, False, True],
    ]
    assert [period.survived.tolist() for period in periods] == [[4, 4, 0], [2, 4, 0], [4, 0, 0], [4, 0, 4]]
    assert [period.lost.tolist() for period in periods[:3]] == [
        [False, False, False],
        [True, False, False],
        [False, False, False],
    ]
    assert periods[1].arrived.tolist() == [False, True, False]
    assert all(np.array_equal(period.finished, period.survived) for period in periods)


def test_stragglers_complete_a_part_of_their_steps() -> None:
    (period,) = happenings(Churn(straggling=0.3), 20_000, 1, 5, seed=0)
    slow = period.finished < 5
    assert slow.mean() == pytest.approx(0.3, abs=0.015)
    counts = np.bincount(period.finished[slow], minlength=5) / slow.sum()
    np.testing.assert_allclose(counts, 0.2, atol=0.03)
    assert not period.lost.any()
    np.testing.assert_array_equal(period.arrived, period.finished > 0)


def test_each_kind_of_event_has_chances_of_its_own() -> None:
    """Adding stragglers does not change who is lost, and another seed changes both."""
    plain, slow, other = (
        happenings(Churn(loss=0.2, straggling=share), 100, 6, 5, seed=seed)
        for share, seed in ((0.0, 1), (0.5, 1), (0.5, 2))
    )
    for one, two in zip(plain, slow, strict=True):
        np.testing.assert_array_equal(one.survived, two.survived)
        assert (two.finished <= one.finished).all()
    assert any((one.survived != two.survived).any() for one, two in zip(slow, other, strict=True))
