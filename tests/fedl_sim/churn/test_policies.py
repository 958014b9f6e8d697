"""Who trains after a loss, by policy."""

import numpy as np
import pytest
from numpy.typing import NDArray

from fedl_sim.churn.policies import POLICIES, Situation, policy_for, react
from fedl_sim.data.datasets import load_data_set
from fedl_sim.errors import InvalidSettingError
from fedl_sim.network.realisation import RealisationSettings, realise
from sampler.objectives.registry import DEFAULT_OBJECTIVE, find_objective
from solver.horizon.gradient import GradientModel

NETWORK = realise(RealisationSettings(n_devices=20, budget="tight"), load_data_set("digits"), 0).network
CHOSEN = np.array([3, 8, 12, 5])


def situation(present: NDArray[np.bool_] | None = None, *, sampler: str = "greedy") -> Situation:
    there = np.ones(20, np.bool_) if present is None else present
    return Situation(NETWORK, there, 4, 10, sampler, True, "send_once", GradientModel(), 1.0)  # noqa: FBT003


def after(policy: str, gone: list[int], *, seed: int = 0, sampler: str = "greedy") -> list[int]:
    lost = np.isin(np.arange(20), gone)
    now = situation(~lost, sampler=sampler)
    return [int(i) for i in react(policy, CHOSEN, lost, now, np.random.default_rng(seed))]


@pytest.mark.parametrize("policy", POLICIES)
def test_nothing_changes_unless_a_chosen_device_is_lost(policy: str) -> None:
    assert after(policy, [0, 1, 19]) == CHOSEN.tolist()


@pytest.mark.parametrize("policy", ["redraw", "patch", "heal", "afresh"])
@pytest.mark.parametrize("sampler", ["greedy", "heuristic"])
def test_the_set_is_full_again_and_nobody_in_it_is_down(policy: str, sampler: str) -> None:
    chosen = after(policy, [8, 1], sampler=sampler)
    assert len(set(chosen)) == 4
    assert not set(chosen) & {8, 1}
    if policy in {"patch", "heal"}:
        assert set(chosen) > {3, 12, 5}


def test_a_fixed_set_waits_for_its_devices() -> None:
    assert after("fixed", [8, 12]) == CHOSEN.tolist()


def test_healing_takes_the_device_that_adds_most_to_those_who_stay() -> None:
    healed = after("heal", [8])
    values = {}
    objective = find_objective(DEFAULT_OBJECTIVE)(situation().problem(~np.isin(np.arange(20), [8]), 4))
    for device in set(range(20)) - {3, 8, 12, 5}:
        values[device] = objective.value(np.array([3, 12, 5, device]))
    assert set(healed) - {3, 12, 5} == {max(values, key=lambda device: values[device])}


def test_chance_decides_only_where_it_should() -> None:
    assert after("heal", [8], seed=1) == after("heal", [8], seed=2)
    assert len({tuple(after("patch", [8], seed=seed)) for seed in range(5)}) > 1
    assert len({tuple(after("redraw", [8], seed=seed)) for seed in range(5)}) > 1


@pytest.mark.parametrize("policy", ["redraw", "patch", "heal", "afresh"])
def test_if_too_few_are_left_those_train(policy: str) -> None:
    everyone_but = [i for i in range(20) if i not in {3, 7}]
    assert sorted(after(policy, everyone_but)) == [3, 7]
    assert after(policy, list(range(20))) == []


def test_who_cannot_follow_a_policy_is_told() -> None:
    assert policy_for("heal", "all") == "fixed"
    assert policy_for("patch", "oort") == "patch"
    with pytest.raises(InvalidSettingError, match="unknown policy 'pray'; known: fixed, redraw, patch, heal, afresh"):
        policy_for("pray", "greedy")
    with pytest.raises(InvalidSettingError, match="heal needs a sampler that chooses without training, not oort"):
        policy_for("heal", "oort")
