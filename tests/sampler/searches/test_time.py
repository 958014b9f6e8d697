import numpy as np
import pytest

from sampler import SamplingProblem, find_sampler
from sampler.objectives.surrogate import Surrogate
from sampler.searches.base import Search
from sampler.searches.exhaustive import sample_exhaustively
from sampler.searches.greedy import sample_greedily
from sampler.searches.local_search import sample_by_local_search
from solver.step.fast import TOLERANCE, effort_for
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


class CancelledBySolving(Surrogate):
    """The client leaves while the first sets are being solved."""

    def __init__(self, task: SamplingProblem) -> None:
        super().__init__(task)
        self._effort = task.effort

    def values(self, sets: np.ndarray) -> np.ndarray:
        self._effort.cancel[0] = 1
        return super().values(sets)


@pytest.mark.parametrize("search", [sample_greedily, sample_by_local_search, sample_exhaustively])
def test_solving_ends_when_the_search_is_cancelled(search: Search) -> None:
    effort = effort_for(TOLERANCE, None, np.zeros(1, np.uint8))
    task = problem(labelled(), 4, horizon=6, effort=effort)
    chosen = search(CancelledBySolving(task), task, np.random.default_rng(0))
    assert len(np.unique(chosen.sampled)) == 4
    assert np.all(np.isfinite(chosen.scores))
    assert not chosen.complete


def test_sets_solved_after_the_deadline_have_a_value_that_a_plan_attains() -> None:
    sets = np.array([[0, 1, 2], [3, 4, 5]])
    late = Surrogate(problem(labelled(), 3, horizon=6, effort=effort_for(TOLERANCE, 0.0))).values(sets)
    best = Surrogate(problem(labelled(), 3, horizon=6)).values(sets)
    assert np.all(np.isfinite(late))
    assert np.all(late <= best + 1e-9)
