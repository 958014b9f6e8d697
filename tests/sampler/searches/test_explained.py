import numpy as np
import pytest

from sampler import Pick, find_objective, find_sampler
from tests.support.sampling import labelled, problem


@pytest.mark.parametrize("objective", ["balance", "coverage", "surrogate"])
def test_greedy_tells_the_gain_of_every_device_at_every_pick(objective: str) -> None:
    task = problem(labelled(), 4, horizon=6, explained=np.arange(12))
    chosen = find_sampler(f"greedy:{objective}")(task, np.random.default_rng(0))
    judge = find_objective(objective)(task)
    before: list[int] = []
    for pick in chosen.trace:
        base = judge.value(np.array(before)) if before else 0.0
        assert set(pick.gains) == set(range(12)) - set(before)
        for device, gain in pick.gains.items():
            assert gain == pytest.approx(judge.value(np.array([*before, device])) - base, abs=1e-6)
        assert pick.score == pytest.approx(max(pick.gains.values()), abs=1e-9)
        before.append(pick.device)
    assert before == chosen.sampled.tolist()
    check_reasons(chosen.trace)


@pytest.mark.parametrize("search", ["local_search", "exhaustive"])
def test_sets_found_as_a_whole_tell_what_others_would_add_in_each_place(search: str) -> None:
    task = problem(labelled(), 3, horizon=6, explained=np.array([0, 5]))
    chosen = find_sampler(search)(task, np.random.default_rng(0))
    judge = find_objective("balance")(task)
    for pick in chosen.trace:
        others = chosen.sampled[chosen.sampled != pick.device]
        assert set(pick.gains) == {0, 5} - set(others.tolist())
        for device, gain in pick.gains.items():
            assert gain == pytest.approx(judge.value(np.append(others, device)) - judge.value(others), abs=1e-9)
            assert gain <= pick.score + 1e-9
    check_reasons(chosen.trace)


def check_reasons(trace: tuple[Pick, ...]) -> None:
    assert trace
    for pick in trace:
        assert pick.candidates[0] == pick.device
        assert pick.candidate_scores[0] == pytest.approx(pick.score)
        assert "device" in pick.sentence()


def test_nothing_is_explained_unasked() -> None:
    chosen = find_sampler("greedy")(problem(labelled(), 3), np.random.default_rng(0))
    assert [pick.gains for pick in chosen.trace] == [{}, {}, {}]
