import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sampler import SamplingProblem, Selection
from sampler.branch.search import ANYWHERE, DISSIMILAR, MOST_DATA, branch_search
from sampler.trace import SHOWN_CANDIDATES
from solver.network import Devices, Links, Network
from solver.network.schedule import Schedule
from tests.support.networks import random_devices


def network(data: list[float], links: dict[tuple[int, int], float]) -> Network:
    n = len(data)
    devices = Devices(data, [1e4] * n, [1] * n, [20] * n, [9] * n)  # type: ignore[arg-type]
    ends = np.array(list(links), np.int64).reshape(-1, 2)
    return Network(devices, Links(ends[:, 0], ends[:, 1], list(links.values()), [1.0] * len(links)))  # type: ignore[arg-type]


def search(net: Network, size: int, scores: list[float], **options: object) -> Selection:
    problem = SamplingProblem.of(Schedule.of(net), size, **options)  # type: ignore[arg-type]
    return branch_search(problem, np.array(scores, float), np.random.default_rng(0))


def test_the_first_pick_is_the_best_score_among_those_with_most_data() -> None:
    # Ties at the percentile stay in: devices 1 and 3 share the largest amount.
    chosen = search(network([10, 50, 20, 50], {}), 1, [9, 1, 8, 2])
    assert chosen.sampled.tolist() == [3]
    pick = chosen.trace[0]
    assert (pick.rule, pick.percentile, pick.threshold) == (MOST_DATA, 98, 50)
    assert (pick.candidates, pick.candidate_scores) == ((3, 1), (2, 1))


def test_the_next_is_the_best_score_among_the_most_dissimilar_neighbours() -> None:
    # Similarity of i → s decides: of s = 0's neighbours 1 and 3 are the least covered; 4 has a link from s only.
    links = {(1, 0): 0.1, (2, 0): 0.5, (3, 0): 0.1, (0, 4): 0.0}
    chosen = search(network([50, 10, 10, 10, 10], links), 2, [0, 1, 9, 2, 9])
    assert chosen.sampled.tolist() == [0, 3]
    pick = chosen.trace[1]
    assert (pick.rule, pick.previous, pick.percentile, pick.n_candidates) == (DISSIMILAR, 0, 98, 2)
    assert pick.threshold == pytest.approx(0.9)


def test_the_percentile_widens_past_devices_already_picked_or_unable() -> None:
    # From 1 the most dissimilar neighbour is 0, picked before; next comes 2.
    links = {(1, 0): 0.2, (0, 1): 0.1, (2, 1): 0.9}
    chosen = search(network([50, 10, 10, 10], links), 3, [0, 0, 1, 5])
    assert chosen.sampled.tolist() == [0, 1, 2]
    assert (chosen.trace[2].rule, chosen.trace[2].percentile) == (DISSIMILAR, 0)
    # The device with most data may not be sampled: the percentile of data widens to the next.
    chosen = search(network([50, 40, 10, 10], {}), 1, [0, 0, 9, 9], allowed=np.array([False, True, True, True]))
    assert (chosen.sampled.tolist(), chosen.trace[0].percentile) == ([1], 50)


def test_without_neighbours_the_best_score_anywhere_is_taken() -> None:
    chosen = search(network([50, 10, 10, 10], {(0, 3): 0.0}), 2, [0, 1, 3, 2])
    assert chosen.sampled.tolist() == [0, 2]
    assert (chosen.trace[1].rule, chosen.trace[1].percentile, chosen.trace[1].n_candidates) == (ANYWHERE, None, 3)


def test_chance_breaks_ties_and_the_trace_says_so() -> None:
    problem = SamplingProblem.of(Schedule.of(network([10] * 4, {})), 1)
    chosen = [branch_search(problem, np.zeros(4), np.random.default_rng(seed)) for seed in range(40)]
    assert {int(each.sampled[0]) for each in chosen} == {0, 1, 2, 3}
    assert all(each.trace[0].tied == 4 and each.trace[0].candidates[0] == each.sampled[0] for each in chosen)


@given(st.integers(1, 40), st.floats(0, 0.6), st.integers(0, 2**32 - 1), st.data())
@settings(deadline=None, max_examples=100)
def test_every_search_ends_with_a_full_and_explained_set(
    n: int, density: float, seed: int, data: st.DataObject
) -> None:
    net = random_devices(n, density, seed)
    size = data.draw(st.integers(1, n))
    generator = np.random.default_rng(seed)
    problem = SamplingProblem.of(Schedule.of(net), size)
    chosen = branch_search(problem, generator.random(n), generator)
    assert len(set(chosen.sampled.tolist())) == size
    assert [pick.device for pick in chosen.trace] == chosen.sampled.tolist()
    for pick in chosen.trace:
        assert pick.device == pick.candidates[0]
        assert pick.score == max(pick.candidate_scores)
        assert len(pick.candidates) == min(pick.n_candidates, SHOWN_CANDIDATES)
        assert f"device {pick.device}" in pick.sentence()
    assert json.loads(json.dumps([pick.to_dict() for pick in chosen.trace]))[0]["rule"] == MOST_DATA


@pytest.mark.parametrize("scores", [np.zeros(3), np.array([0, np.nan, 0, 0])])
def test_scores_must_fit(scores: np.ndarray) -> None:
    problem = SamplingProblem.of(Schedule.of(network([10] * 4, {})), 1)
    with pytest.raises(ValueError, match="finite score for each of the 4 devices"):
        branch_search(problem, scores, np.random.default_rng(0))


def test_a_trace_must_tell_of_the_sampled_devices() -> None:
    chosen = search(network([50, 10], {}), 1, [0, 1])
    with pytest.raises(ValueError, match="trace"):
        Selection(np.array([1]), np.zeros(1), chosen.trace)
