import numpy as np
import pytest

from sampler import find_sampler
from solver.fast import TOLERANCE, effort_for
from tests.support.sampling import labelled, problem

SEARCHES = ["greedy", "greedy:coverage", "greedy:surrogate", "greedy:resemblance", "local_search", "exhaustive"]


@pytest.mark.parametrize("name", SEARCHES)
def test_without_any_time_there_is_a_set_of_the_right_size(name: str) -> None:
    task = problem(labelled(), 4, horizon=6, effort=effort_for(TOLERANCE, 0.0))
    chosen = find_sampler(name)(task, np.random.default_rng(0))
    assert len(np.unique(chosen.sampled)) == 4
    assert np.all(np.isfinite(chosen.scores))
    assert not chosen.complete
    # Exhaustive search had tried these few sets before it looked at the clock.
    assert chosen.guarantee is None or name == "exhaustive"


def test_greedy_without_any_time_takes_those_that_hold_most() -> None:
    net = labelled()
    chosen = find_sampler("greedy")(problem(net, 4, effort=effort_for(TOLERANCE, 0.0)), np.random.default_rng(0))
    assert set(chosen.sampled) == set(np.argsort(-net.devices.data, kind="stable")[:4])


@pytest.mark.parametrize("name", SEARCHES)
def test_a_cancelled_search_ends_with_a_set(name: str) -> None:
    cancel = np.ones(1, np.uint8)
    task = problem(labelled(), 4, horizon=6, effort=effort_for(TOLERANCE, None, cancel))
    chosen = find_sampler(name)(task, np.random.default_rng(0))
    assert len(np.unique(chosen.sampled)) == 4
    assert not chosen.complete


@pytest.mark.parametrize("name", SEARCHES)
def test_with_time_enough_a_search_is_complete(name: str) -> None:
    task = problem(labelled(), 4, horizon=6, effort=effort_for(TOLERANCE, 3600.0))
    assert find_sampler(name)(task, np.random.default_rng(0)).complete
