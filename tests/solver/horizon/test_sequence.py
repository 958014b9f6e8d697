import json
from collections import defaultdict

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from solver import (
    Change,
    GradientModel,
    HorizonState,
    InvalidInputError,
    Links,
    Network,
    Plan,
    Schedule,
    Status,
    advance,
    plan_offloading,
    start,
)
from solver.horizon.sequence import METHODS
from solver.instances import BUDGETS, random_network
from tests.support.solving import devices, links, network


def worst_breach(schedule: Schedule, plan: Plan) -> float:
    """Recompute D, Λ and every constraint of the paper from the network, with plain loops and dictionaries."""
    data = schedule.network.devices.data.astype(float).copy()
    sampled = set(plan.sampled.tolist())
    unsent: dict[tuple[int, int], float] = defaultdict(lambda: 1.0)
    worst = 0.0
    for step in plan.steps:
        net = schedule.at(step.step)
        similarity = {
            (s, t): lam
            for s, t, lam in zip(
                net.links.source.tolist(), net.links.target.tolist(), net.links.similarity, strict=True
            )
        }
        cost = {
            (s, t): psi
            for s, t, psi in zip(
                net.links.source.tolist(), net.links.target.tolist(), net.links.transmit_cost, strict=True
            )
        }
        moves = dict(zip(zip(step.source.tolist(), step.target.tolist(), strict=True), step.fraction, strict=True))
        received: dict[int, float] = defaultdict(float)
        spent: dict[int, float] = defaultdict(float)
        share: dict[int, float] = defaultdict(float)
        for (k, i), phi in moves.items():
            assert (k, i) in similarity, "eq. (15): a transfer needs a link"
            assert k not in sampled, "eq. (14): sampled devices send nothing"
            assert i in sampled, "eq. (13): only sampled devices receive"
            assert 0 <= phi <= 1 + 1e-12
            fresh = phi if plan.transfer == "send_once" else phi * unsent[k, i]
            received[i] += data[k] * fresh * (1 - similarity[k, i])
            unsent[k, i] -= fresh
            assert unsent[k, i] >= -1e-12
            spent[k] += data[k] * phi * cost[k, i]
            share[k] += phi
        for k, sent_share in share.items():
            worst = max(worst, sent_share - 1, spent[k] / net.devices.transmit_budget[k] - 1)
        for i in sampled:
            data[i] += received[i]
            worst = max(worst, received[i] / net.devices.receive_capacity[i] - 1)
            worst = max(worst, net.devices.processing_cost[i] * data[i] / net.devices.processing_capacity[i] - 1)
        assert_allclose(step.sampled_data, data[plan.sampled], rtol=1e-12)
        assert_allclose(step.received, [received[i] for i in plan.sampled.tolist()], rtol=1e-9, atol=1e-9)
        unsampled = schedule.network.total_data - schedule.network.devices.data[plan.sampled].sum()
        term_a = step.gradient_norm * unsampled / (unsampled + data[plan.sampled].sum())
        term_b = np.mean(1 / np.sqrt(data[plan.sampled]))
        assert step.sampling_term == pytest.approx(term_a)
        assert step.statistical_term == pytest.approx(term_b)
    return worst


def changing(seed: int, budgets: str = "scarce") -> Schedule:
    """A network whose budgets, capacities and links change along the way."""
    generator = np.random.default_rng(seed)
    receive, transmit = BUDGETS[budgets]
    net = random_network(generator, 40, link_probability=0.3, receive=receive, transmit=transmit)
    other = random_network(generator, 40, link_probability=0.3)
    spare = net.devices.data * net.devices.processing_cost
    keep = generator.random(len(net.links)) < 0.5
    fewer = Links(
        net.links.source[keep], net.links.target[keep], net.links.similarity[keep], net.links.transmit_cost[keep]
    )
    return Schedule(
        net,
        (
            Change(3, {"transmit_budget": net.devices.transmit_budget * 2}, fewer),
            Change(6, {"processing_capacity": spare * 1.05}, net.links),
            Change(8, {"receive_capacity": net.devices.receive_capacity / 3}, other.links),
        ),
    )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("seed", "transfer"), [(1, "send_once"), (2, "redraw")])
def test_every_constraint_of_the_paper_holds_at_every_step(method: str, seed: int, transfer: str) -> None:
    schedule = changing(seed)
    plan = plan_offloading(
        schedule,
        [3, 7, 11, 30],
        horizon=10,
        method=method,
        transfer=transfer,
        generator=np.random.default_rng(seed),
    )
    assert len(plan.steps) == 10
    assert plan.max_violation is not None
    assert plan.max_violation <= 1e-9
    assert worst_breach(schedule, plan) <= 1e-9
    optimal = method in {"fast", "cvxpy"}
    assert {step.status for step in plan.steps} == {Status.OPTIMAL if optimal else Status.FEASIBLE}
    assert (plan.datapoints_moved > 0) == (method != "none")


@pytest.mark.parametrize("cut", [1, 2, 4, 5, 7, 9])
@pytest.mark.parametrize("method", ["fast", "greedy"])
def test_a_horizon_cut_anywhere_goes_on_to_the_same_plan(cut: int, method: str) -> None:
    schedule = changing(3)
    norms = GradientModel(2.0, 1.1).norms(1, 10)
    whole = advance(schedule, start(schedule, [1, 2, 3]), norms, horizon=10, method=method)
    first = advance(schedule, start(schedule, [1, 2, 3]), norms[:cut], horizon=10, method=method)
    kept = HorizonState.from_lists(json.loads(json.dumps(first.state.to_lists())))
    second = advance(schedule, kept, norms[cut:], horizon=10, method=method)
    for one, other in zip(whole.steps, (*first.steps, *second.steps), strict=True):
        assert one.step == other.step
        assert_array_equal(one.source, other.source)
        assert_array_equal(one.fraction, other.fraction)
        assert_array_equal(one.sampled_data, other.sampled_data)
    assert_array_equal(whole.state.data, second.state.data)


def test_look_ahead_leaves_room_for_a_later_drop_of_capacity() -> None:
    # Device 0 may hold 1000 now, but only 130 from step 3 on: steps 1 and 2 must not fill it beyond that.
    net = network(2, (1, 0), data=[100.0, 100.0], receive_capacity=[25.0, 0.0], transmit_budget=[0.0, 100.0])
    schedule = Schedule(net, (Change(3, {"processing_capacity": [130.0, 1000.0]}),))
    plan = plan_offloading(schedule, [0], horizon=5)
    assert plan.status is Status.OPTIMAL
    assert_allclose([step.sampled_data[0] for step in plan.steps], [125, 130, 130, 130, 130])
    # A horizon that ends before the drop need not care.
    plan = plan_offloading(schedule, [0], horizon=2)
    assert_allclose([step.sampled_data[0] for step in plan.steps], [125, 150])


def test_similarity_rises_with_what_was_sent_and_survives_a_link_that_comes_and_goes() -> None:
    # λ = 0.5, D = 100, budget 20 a step at cost 1: Φ = 0.2. R = 100·0.2·0.5·0.8^n with n sends before it.
    net = network(2, (1, 0))
    without = Schedule(net, (Change(2, links=Links.none()), Change(4, links=links((1, 0)))))
    plan = plan_offloading(without, [0], horizon=5, transfer="redraw")
    assert_allclose([step.received[0] for step in plan.steps], [10, 0, 0, 8, 6.4])


def test_when_everything_was_sent_nothing_is_left_to_send() -> None:
    net = network(2, (1, 0), transmit_budget=[0.0, 500.0])
    plan = plan_offloading(net, [0], horizon=3)
    assert_allclose([step.received[0] for step in plan.steps], [50, 0, 0], atol=1e-9)
    assert plan.steps[1].source.size == 0


@pytest.mark.parametrize("method", ["fast", "cvxpy", "greedy"])
def test_a_budget_without_end_is_just_that(method: str) -> None:
    net = network(
        3, (1, 0), (2, 0), data=[100.0, 0.5, 100.0], transmit_budget=[1e308] * 3, receive_capacity=[1e308] * 3
    )
    plan = plan_offloading(net, [0], horizon=1, method=method)
    assert plan.steps[0].received[0] == pytest.approx(50.25)
    assert plan.steps[0].relative_gap <= 1e-6


@pytest.mark.parametrize("method", ["fast", "cvxpy"])
def test_a_time_limit_holds_for_the_whole_plan(method: str) -> None:
    plan = plan_offloading(changing(2, "tight"), [3, 7, 11, 30], horizon=10, method=method, time_limit=0.0)
    assert plan.status is Status.TIME_LIMIT


def test_senders_without_data_are_left_alone() -> None:
    net = network(3, (1, 0), (2, 0), data=[100.0, 0.0, 100.0])
    plan = plan_offloading(net, [0], horizon=1)
    assert plan.steps[0].source.tolist() == [2]


def test_an_infeasible_set_is_a_status_with_devices_and_reasons() -> None:
    net = network(3, data=[100, 0, 100], processing_capacity=[1000, 1000, 50])
    plan = plan_offloading(net, [0, 2], horizon=4)
    assert plan.status is Status.INFEASIBLE
    assert plan.steps == ()
    assert (plan.objective, plan.relative_gap, plan.max_violation) == (None, None, None)
    assert [(o.device, o.reason) for o in plan.obstacles] == [
        (2, "processing its 100 datapoints costs 100, its capacity is 50")
    ]


def test_a_capacity_that_drops_unannounced_makes_the_next_period_infeasible() -> None:
    net = network(2, (1, 0))
    first = advance(net, start(net, [0]), [1.0])
    assert first.state.data[0] == 110.0
    dropped = net.with_columns({"processing_capacity": [105.0, 1000.0]})
    second = advance(dropped, first.state, [1.0])
    assert second.steps == ()
    assert second.state is first.state
    assert [o.device for o in second.obstacles] == [0]


def test_sampling_everyone_moves_nothing() -> None:
    plan = plan_offloading(network(2, (1, 0), (0, 1)), [0, 1], horizon=2)
    assert plan.status is Status.OPTIMAL
    assert plan.datapoints_moved == 0
    assert plan.sampling_term == 0.0


def test_a_time_limit_of_nothing_ends_in_a_feasible_plan_with_its_gap() -> None:
    schedule = changing(2, "tight")
    plan = plan_offloading(schedule, [3, 7, 11, 30], horizon=10, time_limit=0.0)
    assert plan.status is Status.TIME_LIMIT
    assert worst_breach(schedule, plan) <= 1e-9
    best = plan_offloading(schedule, [3, 7, 11, 30], horizon=10)
    assert best.steps[0].objective < plan.steps[0].objective
    assert plan.steps[0].objective * (1 - plan.steps[0].relative_gap) <= best.steps[0].objective


def test_the_dense_matrix_holds_the_same_fractions() -> None:
    plan = plan_offloading(network(3, (1, 0), (2, 0)), [0], horizon=1)
    step = plan.steps[0]
    expected = np.zeros((3, 3))
    expected[step.source, step.target] = step.fraction
    assert_array_equal(step.matrix(3), expected)
    assert step.matrix(3)[1, 0] == pytest.approx(0.2)


def test_bad_calls_are_named() -> None:
    net = network(3, (1, 0))
    with pytest.raises(InvalidInputError, match="method: must be one of fast, cvxpy, random, greedy, none, is 'magic'"):
        plan_offloading(net, [0], horizon=1, method="magic")
    with pytest.raises(InvalidInputError, match="generator: random offloading needs a random generator"):
        plan_offloading(net, [0], horizon=1, method="random")
    with pytest.raises(InvalidInputError, match="horizon: must be at least 1, is 0"):
        plan_offloading(net, [0], horizon=0)
    with pytest.raises(InvalidInputError, match=r"sampled\[1\] is 0: is named twice"):
        plan_offloading(net, [0, 0], horizon=1)
    with pytest.raises(InvalidInputError, match=r"sampled\[0\] is 3: must be below the number of devices, 3"):
        plan_offloading(net, [3], horizon=1)
    with pytest.raises(InvalidInputError, match="sampled: must name at least one device"):
        plan_offloading(net, [], horizon=1)
    with pytest.raises(InvalidInputError, match="horizon: must be at least 5, is 2"):
        advance(net, start(net, [0]), [1.0] * 5, horizon=2)
    with pytest.raises(InvalidInputError, match="state.unsent: is missing"):
        HorizonState.from_lists({"step": 0, "sampled": [0], "data": [1.0], "source": [], "target": []})


def test_a_sampled_device_without_data_makes_the_plan_infeasible() -> None:
    plan = plan_offloading(Network(devices(2, data=[1.0, 0.0]), Links.none()), [0, 1], horizon=2)
    assert plan.status is Status.INFEASIBLE
    assert [(o.device, o.reason) for o in plan.obstacles] == [(1, "holds no data")]


def test_a_small_rest_of_unsampled_data_keeps_its_digits() -> None:
    # Subtracting the sampled data from all of it would leave 0.001 in the rounding of a billion.
    plan = plan_offloading(network(3, data=[1e9, 200.0, 1e-3], processing_capacity=[1e12] * 3), [0, 1], horizon=1)
    assert plan.steps[0].sampling_term == pytest.approx(1e-3 / (1e9 + 200.0 + 1e-3), rel=1e-9, abs=0)
    assert plan.unsampled_data == 1e-3
