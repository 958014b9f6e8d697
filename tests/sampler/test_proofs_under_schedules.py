"""Whatever a schedule changes, bounds hold, and a search that claims the best set has it: all sets are planned."""

from dataclasses import replace
from functools import cache
from itertools import combinations, pairwise

import numpy as np
import pytest

from sampler import find_objective, find_sampler
from sampler.base import SamplingProblem
from sampler.objectives.registry import SERVED_OBJECTIVES
from sampler.objectives.surrogate import Surrogate
from sampler.set_bound import set_bound
from solver import HorizonState, Period, advance, start
from solver.arrays import FloatArray
from solver.horizon.membership import exchange, schedule_as_it_stands
from solver.horizon.transfer import Transfer
from solver.network import Network
from solver.network.schedule import CHANGEABLE_COLUMNS
from tests.support.schedules import Case, planned, the_load_ends

SEEDS = range(60)
# So many sets are planned for all steps together too: those with the best plans of one step after another.
BEST = 5

case = cache(Case.draw)


def signs_of_change(before: Network, after: Network) -> dict[str, set[float]]:
    """Whether each device column, the links, and what is told of the links that stay rises or falls somewhere."""
    adjacent = []
    for net in (before, after):
        there = np.zeros((len(net), len(net)))
        there[net.links.source, net.links.target] = 1.0
        adjacent.append(there)
    stays = (adjacent[0] == 1) & (adjacent[1] == 1)
    changes = {name: getattr(after.devices, name) - getattr(before.devices, name) for name in CHANGEABLE_COLUMNS}
    changes["links"] = adjacent[1] - adjacent[0]
    for name in ("similarity", "transmit_cost"):
        changes[name] = (after.matrix(name) - before.matrix(name)).toarray()[stays]
    return {name: set(np.sign(change).ravel().tolist()) for name, change in changes.items()}


def test_the_schedules_change_all_that_can_change() -> None:
    found: dict[str, set[float]] = {}
    for seed in SEEDS:
        for before, after in pairwise(segment.network for segment in case(seed).problem.schedule.segments):
            for name, signs in signs_of_change(before, after).items():
                found.setdefault(name, set()).update(signs)
    assert {name for name, signs in found.items() if not {-1.0, 1.0} <= signs} == set()


@pytest.mark.parametrize("seed", SEEDS)
def test_no_set_has_a_plan_below_the_bound(seed: int) -> None:
    known = case(seed)
    bound = set_bound(known.problem, known.problem.horizon)
    assert 0 <= bound <= known.objectives.min()
    if known.problem.transfer is Transfer.SEND_ONCE:
        best = known.sets[np.argsort(known.objectives)[:BEST]]
        assert bound <= min(planned(known.problem, row, planning="horizon") for row in best)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_set_is_worth_more_than_its_bounds(seed: int) -> None:
    known = case(seed)
    objective = Surrogate(known.problem)
    np.testing.assert_allclose(objective.values(known.sets), -known.objectives, rtol=1e-6)
    assert np.all(objective.bounds(known.sets) >= -known.objectives * (1 + 1e-8))
    assert np.all(objective.tight_bounds(known.sets) >= -known.objectives * (1 + 1e-8))


@pytest.mark.parametrize("seed", SEEDS[::3])
def test_a_search_that_claims_a_share_of_the_best_has_it(seed: int) -> None:
    known = case(seed)
    for name in SERVED_OBJECTIVES:
        values = find_objective(name)(known.problem).values(known.sets)
        best = values.max()
        for search in ("exhaustive", "greedy", "local_search"):
            chosen = find_sampler(f"{search}:{name}")(known.problem, np.random.default_rng(seed))
            assert (chosen.guarantee is not None) == (search == "exhaustive" or name == "coverage")
            # Of single devices every search looks at all.
            share = 1.0 if known.problem.sample_size == 1 else chosen.guarantee
            (value,) = values[(known.sets == np.sort(chosen.sampled)).all(axis=1)]
            assert share is None or value >= share * best - 1e-6 * abs(best)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_choice_after_some_steps_has_a_plan_below_the_bound(seed: int) -> None:
    known = case(seed)
    asked, schedule, generator = known.problem, known.problem.schedule, np.random.default_rng(seed)
    members = known.sets[generator.integers(len(known.sets))]
    done = int(generator.integers(1, asked.horizon))
    norms = asked.gradient.norms(1, asked.horizon - done)

    def plan(state: HorizonState, norms: FloatArray) -> Period:
        noise, kind = asked.gradient_noise, asked.transfer
        return advance(schedule, state, norms, gradient_noise=noise, horizon=asked.horizon, transfer=kind)

    state = plan(start(schedule, members), norms[:1].repeat(done)).state
    lost = members[generator.random(members.size) < 0.3]
    ahead = schedule.after(done)
    posed = replace(
        SamplingProblem.of(
            schedule_as_it_stands(ahead, state, transfer=asked.transfer, lost=lost),
            1,
            horizon=norms.size,
            gradient=asked.gradient,
            gradient_noise=asked.gradient_noise,
            transfer=asked.transfer,
        ),
        schedule=ahead,
        sample_size=asked.sample_size,
    )
    bound = set_bound(posed, norms.size, exchange(schedule, state, members, lost=lost))
    for row in combinations(posed.candidates.tolist(), posed.sample_size):
        steps = plan(exchange(schedule, state, row, lost=lost), norms).steps
        assert bound <= np.mean([step.objective for step in steps])


def test_the_bound_counts_a_load_that_ends() -> None:
    posed = SamplingProblem.of(the_load_ends(), 1, horizon=10)
    objectives = [planned(posed, np.array([device])) for device in range(3)]
    assert set_bound(posed, 10) <= objectives[0] < 0.7 * min(objectives[1:])


@pytest.mark.parametrize("search", ["exhaustive", "greedy", "local_search"])
def test_searches_find_the_device_whose_load_ends(search: str) -> None:
    # More devices than are planned before bounds tell which of them are left out.
    posed = SamplingProblem.of(the_load_ends(12), 1, horizon=10)
    assert find_sampler(f"{search}:surrogate")(posed, np.random.default_rng(0)).sampled.tolist() == [0]
