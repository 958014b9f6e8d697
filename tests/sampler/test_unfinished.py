"""Samplers without time left, or told to stop, return a whole set and say that the search did not end."""

import numpy as np
import pytest

from sampler.base import SamplingProblem
from sampler.registry import find_sampler
from solver.network.schedule import Schedule
from solver.step.fast import TOLERANCE, effort_for
from tests.support.networks import random_devices

NETWORK = Schedule(random_devices(40, 0.2, seed=1))
STEPWISE = ("gcn_branch", "gcn_rank", "random_branch")


def problem(size: int, seconds: float | None, *, stopped: bool = False) -> SamplingProblem:
    flag = np.full(1, int(stopped), np.uint8)
    return SamplingProblem.of(NETWORK, size, horizon=4, effort=effort_for(TOLERANCE, seconds, flag))


@pytest.mark.parametrize("name", [*STEPWISE, "random", "heuristic"])
@pytest.mark.parametrize("size", [1, 7, 40])
def test_time_enough_is_as_good_as_no_limit(name: str, size: int) -> None:
    free = find_sampler(name)(problem(size, None), np.random.default_rng(3))
    timed = find_sampler(name)(problem(size, 1e6), np.random.default_rng(3))
    assert timed.complete
    assert free.sampled.tolist() == timed.sampled.tolist()


@pytest.mark.parametrize("name", STEPWISE)
@pytest.mark.parametrize(("seconds", "stopped"), [(0.0, False), (None, True)])
def test_without_time_the_set_is_whole_and_says_so(name: str, seconds: float | None, *, stopped: bool) -> None:
    asked = problem(7, seconds, stopped=stopped)
    found = find_sampler(name)(asked, np.random.default_rng(3))
    assert not found.complete
    assert len(set(found.sampled.tolist()) & set(asked.candidates.tolist())) == 7
    assert found.trace == ()
    assert np.all(np.diff(found.scores) <= 0)


@pytest.mark.parametrize("name", ["gcn_branch", "gcn_rank"])
def test_before_devices_are_scored_those_of_most_data_are_chosen(name: str) -> None:
    asked = problem(7, 0.0)
    data = NETWORK.network.devices.data
    found = find_sampler(name)(asked, np.random.default_rng(3))
    assert data[found.sampled].tolist() == np.sort(data[asked.candidates])[::-1][:7].tolist()


def test_picks_made_in_time_are_kept() -> None:
    asked = problem(7, None)
    whole = find_sampler("gcn_rank")(asked, np.random.default_rng(3)).sampled

    class LastTime(SamplingProblem):
        looks_left = 0

        @property
        def out_of_time(self) -> bool:
            LastTime.looks_left -= 1
            return LastTime.looks_left < 0

    cut = LastTime(asked.schedule, asked.sample_size, asked.horizon, asked.candidates)
    kept = []
    for looks in range(1000):
        LastTime.looks_left = looks
        found = find_sampler("gcn_rank")(cut, np.random.default_rng(3))
        if found.complete:
            break
        assert found.trace == ()
        kept.append(int(np.cumprod(found.sampled == whole).sum()))
    # The longer the clock lets it go on, the more of its picks are in the set.
    assert kept == sorted(kept)
    assert set(kept) >= set(range(5))
