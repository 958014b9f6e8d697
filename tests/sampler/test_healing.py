"""Lost devices are replaced by those that raise the objective most; a swap pays for the data that has moved."""

from itertools import combinations, product

import numpy as np
import pytest

from sampler.base import SamplingProblem
from sampler.healing import Quota, QuotaError, Replacement, heal
from sampler.objectives.registry import find_objective
from sampler.set_bound import set_bound
from solver import GradientModel, HorizonState, Schedule, advance, start
from solver.horizon.membership import as_it_stands, exchange
from solver.network import Network
from solver.step.fast import effort_for
from tests.support.sampling import labelled, network, problem

SIZE = 4
MEMBERS = np.array([7, 2, 9, 4])


def standing(net: Network, *, lost: tuple[int, ...] = (), horizon: int = 3) -> tuple[SamplingProblem, HorizonState]:
    """The problem of the network as it stands after three steps, without the lost devices."""
    state = advance(net, start(net, MEMBERS), np.ones(3)).state
    gone = np.array(lost, np.int64)
    allowed = ~np.isin(np.arange(len(net)), gone)
    now = as_it_stands(net, state, lost=gone)
    return SamplingProblem.of(Schedule(now), SIZE, horizon=horizon, allowed=allowed), state


@pytest.mark.parametrize("objective", ["balance", "coverage", "surrogate"])
def test_the_best_single_device_replaces_the_lost_one(objective: str) -> None:
    posed, _ = standing(labelled(20), lost=(2,))
    healed = heal(posed, MEMBERS, np.random.default_rng(0), objective=objective)
    (one,) = healed.replaced
    assert one.lost == 2
    assert healed.sampled.tolist() == [7, one.by, 9, 4]
    rest = np.setdiff1d(posed.candidates, MEMBERS)
    values = find_objective(objective)(posed).values(np.array([[7, 9, 4, device] for device in rest]))
    best = find_objective(objective)(posed).value(healed.sampled)
    assert best == pytest.approx(values.max(), rel=1e-9)


def test_nothing_changes_while_all_can_train() -> None:
    posed, _ = standing(labelled(20))
    healed = heal(posed, MEMBERS, np.random.default_rng(0))
    assert healed.sampled.tolist() == MEMBERS.tolist()
    assert healed.replaced == ()


def test_no_more_come_than_may_and_later_calls_fill_what_is_left() -> None:
    posed, _ = standing(labelled(20), lost=(2, 4))
    first = heal(posed, MEMBERS, np.random.default_rng(0), most=1)
    assert [one.lost for one in first.replaced] == [2, 4]
    assert first.replaced[1] == Replacement(4, None)
    assert first.sampled.tolist() == [7, first.replaced[0].by, 9]
    then = heal(posed, first.sampled, np.random.default_rng(0), most=1)
    (came,) = then.replaced
    assert came.lost is None
    assert then.sampled.tolist() == [*first.sampled.tolist(), came.by]
    nobody = heal(posed, MEMBERS, np.random.default_rng(0), most=0)
    assert nobody.sampled.tolist() == [7, 9]


def test_all_may_be_lost_and_too_few_may_be_left() -> None:
    net = labelled(6)
    allowed = np.array([True, True, False, False, False, False])
    posed = problem(net, 2, allowed=allowed)
    healed = heal(posed, np.array([3, 4, 5]), np.random.default_rng(0))
    assert sorted(healed.sampled.tolist()) == [0, 1]
    assert [one.lost for one in healed.replaced] == [3, 4, 5]
    assert healed.replaced[2].by is None


def test_a_device_that_was_lost_and_is_back_may_come_again() -> None:
    net = network(4)
    posed = problem(net, 4)
    healed = heal(posed, np.arange(4), np.random.default_rng(0), lost=np.array([1]))
    assert healed.replaced == (Replacement(1, 1),)
    assert healed.sampled.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("limit", [None, 1, 2])
def test_swaps_raise_the_objective_and_keep_their_limit(limit: int | None) -> None:
    net = labelled(20)
    posed, _ = standing(net)
    healed = heal(posed, MEMBERS, np.random.default_rng(0), most=limit, swaps=True)
    objective = find_objective("balance")(posed)
    assert objective.value(healed.sampled) > objective.value(MEMBERS)
    came = np.setdiff1d(healed.sampled, MEMBERS)
    assert 1 <= came.size <= (limit or SIZE)
    assert {one.by for one in healed.replaced} == set(came.tolist())
    assert {one.lost for one in healed.replaced} == set(np.setdiff1d(MEMBERS, healed.sampled).tolist())


def test_devices_that_hold_received_data_are_kept_rather_than_swapped() -> None:
    """Before anything moved, other devices are better; what the members have received since is worth more."""
    net = network(12, receive_capacity=np.full(12, 200.0), transmit_budget=np.full(12, 200.0))
    greedy = heal(problem(net, SIZE, horizon=3), MEMBERS, np.random.default_rng(0), objective="surrogate", swaps=True)
    posed, state = standing(net)
    assert state.data.sum() > 2 * net.devices.data[MEMBERS].sum()
    after = heal(posed, MEMBERS, np.random.default_rng(0), objective="surrogate", swaps=True)
    assert len(after.replaced) < len(greedy.replaced)


def test_no_choice_from_this_state_has_a_plan_below_the_bound() -> None:
    net = network(8)
    state = advance(net, start(net, MEMBERS[[1, 3]]), np.ones(3)).state
    posed = SamplingProblem.of(Schedule(net), 2, horizon=2)
    bound = set_bound(posed, 2, state)
    means = []
    for pair in combinations(range(8), 2):
        period = advance(net, exchange(net, state, pair), GradientModel().norms(1, 2))
        means.append(np.mean([step.objective for step in period.steps]))
    assert 0.8 * min(means) < bound <= min(means)
    assert bound < set_bound(posed, 2)


def test_quotas_that_share_devices_are_met_together_or_refused() -> None:
    posed, _ = standing(labelled(20))
    for hub in range(10, 20):
        # Only with the one device that is in all of them, four devices meet five quotas.
        shared = [Quota(np.array([device, hub]), 1) for device in (0, 1, 3, 5, 6)]
        healed = heal(posed, MEMBERS, np.random.default_rng(0), quotas=shared)
        assert hub in healed.sampled
        assert len(set(healed.sampled.tolist())) == SIZE
    # Device 19 and one more of each quota are five devices, and four are to be sampled.
    apart = [Quota(np.array([first, first + 1, 19]), 2) for first in (0, 10, 12, 14)]
    with pytest.raises(QuotaError) as refused:
        heal(posed, MEMBERS, np.random.default_rng(0), quotas=apart)
    assert (refused.value.places, refused.value.proven) == ((0, 1, 2, 3), True)
    # Without any one of those four the others can be met; a quota that anything meets does not matter.
    with pytest.raises(QuotaError) as refused:
        heal(posed, MEMBERS, np.random.default_rng(0), quotas=[Quota(np.arange(20), 1), *apart])
    assert refused.value.places == (1, 2, 3, 4)
    assert heal(posed, MEMBERS, np.random.default_rng(0), quotas=apart, most=1).sampled.size <= SIZE


def test_a_search_for_devices_that_meet_all_quotas_ends_with_its_time() -> None:
    """Of the affine space of order 3 in 4 dimensions, 61 of the 81 points meet all 1,080 lines, and no 60 do."""
    points = list(product(range(3), repeat=4))
    third = {(a, b): tuple(-(x + y) % 3 for x, y in zip(a, b, strict=True)) for a, b in combinations(points, 2)}
    lines = {frozenset(map(points.index, (a, b, c))) for (a, b), c in third.items()}
    quotas = [Quota(np.array(sorted(line)), 1) for line in lines]
    assert len(quotas) == 1080
    posed = problem(labelled(81), 60, effort=effort_for(1e-6, 1.0))
    with pytest.raises(QuotaError) as refused:
        heal(posed, np.arange(4), np.random.default_rng(0), quotas=quotas)
    assert not refused.value.proven


def test_quotas_are_filled_first_and_others_make_room() -> None:
    posed = problem(labelled(20), SIZE)
    few, some = Quota(np.array([0, 1, 2]), 2), Quota(np.array([2, 3, 9]), 1)
    healed = heal(posed, MEMBERS, np.random.default_rng(0), quotas=(few, some))
    assert len(healed.sampled) == SIZE
    assert few.missing(healed.sampled) == some.missing(healed.sampled) == 0
    # One place was enough: 2 and 9 were there, and the last that no quota needs left.
    (one,) = healed.replaced
    assert one.lost == 4
    assert one.by in {0, 1}
    swapped = heal(posed, MEMBERS, np.random.default_rng(0), quotas=(few, some), swaps=True)
    assert few.missing(swapped.sampled) == some.missing(swapped.sampled) == 0
    with pytest.raises(QuotaError) as refused:
        heal(posed, MEMBERS, np.random.default_rng(0), lost=np.array([2]), quotas=(Quota(np.array([30, 7]), 2),))
    assert (refused.value.places, refused.value.able) == ((0,), 1)


@pytest.mark.parametrize("objective", ["balance", "surrogate"])
def test_devices_of_a_quota_are_swapped_for_others_of_it(objective: str) -> None:
    """All places belong to a quota at its minimum: the best swaps within each are still made."""
    posed = problem(labelled(20), SIZE)
    quotas = (Quota(np.arange(10), 2), Quota(np.arange(10, 20), 2))
    members = np.array([7, 2, 15, 14])
    healed = heal(posed, members, np.random.default_rng(0), quotas=quotas, swaps=True, objective=objective)
    assert healed.replaced
    assert all(quota.missing(healed.sampled) == 0 for quota in quotas)
    value = find_objective(objective)(posed).value
    rest = [place for place in range(20) if place not in healed.sampled]
    swaps = [
        np.where(healed.sampled == out, by, healed.sampled)
        for out in healed.sampled
        for by in rest
        if (out < 10) == (by < 10)
    ]
    assert value(healed.sampled) >= max(value(each) for each in swaps) - 1e-9
