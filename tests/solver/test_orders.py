"""Orders are whole, follow on, keep every budget of every step, and carry what is cut."""

from typing import Any, NamedTuple

import numpy as np
import pytest

from benchmarks.orders_check import check
from solver import Change, HorizonState, Links, Network, Schedule, start
from solver.arrays import FloatArray, IntArray
from solver.orders import Orders, make_orders
from tests.support.solving import network

ROOMY: dict[str, Any] = {"transmit_budget": [200.0] * 3, "receive_capacity": [200.0] * 3}
NET = network(3, (1, 0), (2, 0), (2, 1), **ROOMY)


class Step(NamedTuple):
    step: int
    source: IntArray
    target: IntArray
    fraction: FloatArray


def step(number: int, *transfers: tuple[int, int, float]) -> Step:
    rows = np.array(transfers, float).reshape(-1, 3)
    return Step(number, rows[:, 0].astype(int), rows[:, 1].astype(int), rows[:, 2])


def sends(orders: Orders) -> list[tuple[int, ...]]:
    """(step, source, target, first, count) of each."""
    columns = (orders.step, orders.source, orders.target, orders.first, orders.count)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def made(*steps: Step, net: Network | Schedule = NET, size: int = 1, **options: Any) -> Orders:
    return make_orders(net, start(net, [0, 1][:size]), steps, **options)


def ordered(*steps: Step, **options: Any) -> list[tuple[int, ...]]:
    return sends(made(*steps, **options))


def test_eighty_random_plans_recomputed() -> None:
    rows = [check(seed) for seed in range(80)]
    assert [row for row in rows if not row.passed] == []
    assert sum(row.sends for row in rows) > 3000


def test_what_is_cut_is_carried_to_the_next_step() -> None:
    found = ordered(*(step(t, (1, 0, 0.104)) for t in (1, 2, 3, 4)))  # 10.4 of 100 datapoints in each step
    assert found == [(1, 1, 0, 0, 10), (2, 1, 0, 10, 10), (3, 1, 0, 20, 11), (4, 1, 0, 31, 10)]


def test_no_step_passes_a_budget_and_what_does_not_fit_is_told() -> None:
    steps = [step(t, (1, 0, 0.105)) for t in (1, 2, 3, 4)]
    tight = ROOMY | {"transmit_budget": [0.0, 10.5, 0.0]}
    orders = made(*steps, net=network(3, (1, 0), **tight))
    assert sends(orders) == [(t, 1, 0, 10 * t - 10, 10) for t in (1, 2, 3, 4)]
    assert orders.left == pytest.approx(2.0)
    narrow = ROOMY | {"receive_capacity": [5.25, 0.0, 0.0]}  # half of what arrives is useful
    assert ordered(*steps, net=network(3, (1, 0), **narrow)) == sends(orders)


def test_the_links_that_are_the_farthest_behind_send_first() -> None:
    data: dict[str, Any] = {
        "data": [100.0] * 4,
        "transmit_budget": [0.0, 0.0, 0.0, 1.5],
        "receive_capacity": [50.0] * 4,
    }
    net = network(4, (3, 0), (3, 1), (3, 2), **data)
    steps = [step(t, (3, 0, 0.004), (3, 1, 0.005), (3, 2, 0.006)) for t in range(1, 7)]
    found = sends(make_orders(net, start(net, [0, 1, 2]), steps))
    assert [send[:3] for send in found] == [(2, 3, 2), (3, 3, 1), (4, 3, 0), (5, 3, 2), (6, 3, 1)]


def test_what_was_cut_goes_over_a_link_that_the_plan_has_done_with_while_it_is_there() -> None:
    steps = (step(1, (1, 0, 0.105)), step(2, (1, 0, 0.105)), step(3), step(4))
    scarce = network(3, (1, 0), **(ROOMY | {"transmit_budget": [0.0, 10.5, 0.0]}))
    assert [send[0::4] for send in ordered(*steps, net=scarce)] == [(1, 10), (2, 10), (3, 1)]
    gone = Links(*(np.empty(0, kind) for kind in (int, int, float, float)))
    away = Schedule(scarce, (Change(3, {}, gone), Change(4, {}, scarce.links)))
    assert [send[0::4] for send in ordered(*steps, net=away)] == [(1, 10), (2, 10), (4, 1)]


def test_a_step_without_room_for_a_datapoint_sends_none() -> None:
    scarce = network(3, (1, 0), **(ROOMY | {"transmit_budget": [0.0, 0.4, 0.0]}))
    orders = made(*(step(t, (1, 0, 0.004)) for t in range(1, 6)), net=scarce)
    assert len(orders) == 0
    assert orders.left == pytest.approx(2.0)


def test_orders_keep_the_budgets_that_a_plan_passes() -> None:
    net = network(3, (1, 0), (2, 0), **(ROOMY | {"transmit_budget": [0.0, 3.0, 3.0], "receive_capacity": [2.5] * 3}))
    found = ordered(step(1, (1, 0, 0.04), (2, 0, 0.04)), step(2), net=net)
    assert [send[0::4] for send in found if send[1] == 1] == [(1, 3), (2, 1)]
    assert [send[0::4] for send in found if send[1] == 2] == [(1, 2), (2, 2)]


def test_errors_of_rounding_cut_no_datapoint() -> None:
    thirds = [step(t, (1, 0, 0.03 / 9)) for t in range(1, 10)]
    assert [send[0] for send in ordered(*thirds)] == [3, 6, 9]
    odd = network(3, (1, 0), **(ROOMY | {"data": [100.0, 2.9999999, 100.0]}))
    assert ordered(step(1, (1, 0, 1.0)), net=odd) == [(1, 1, 0, 0, 2)]  # it has no third datapoint
    many = network(3, (1, 0), **(ROOMY | {"data": [100.0, 1000.0, 100.0], "transmit_budget": [0.0, 220.0, 0.0]}))
    assert ordered(step(1, (1, 0, 0.21999999)), net=many) == [(1, 1, 0, 0, 220)]


def test_redrawing_becomes_sending_once() -> None:
    found = ordered(step(1, (1, 0, 0.5)), step(2, (1, 0, 0.5)), step(3, (1, 0, 1.0)), transfer="redraw")
    assert found == [(1, 1, 0, 0, 50), (2, 1, 0, 50, 25), (3, 1, 0, 75, 25)]


def test_two_receivers_get_the_same_datapoints_and_senders_are_in_order() -> None:
    steps = (step(1, (2, 1, 0.3), (2, 0, 0.2)), step(2, (2, 0, 0.1), (1, 0, 0.4)))
    assert ordered(*steps, size=2) == [(2, 1, 0, 0, 40), (1, 2, 0, 0, 20), (1, 2, 1, 0, 30), (2, 2, 0, 20, 10)]


def test_a_later_period_goes_on_where_the_orders_of_the_first_end() -> None:
    scarce = network(3, (1, 0), **(ROOMY | {"transmit_budget": [0.0, 10.5, 0.0]}))
    first = made(step(1, (1, 0, 0.105)), step(2, (1, 0, 0.105)), net=scarce)
    assert first.state.step == 2
    assert first.state.data.tolist() == [110.0]  # half of 20 is useful
    assert first.state.unsent.tolist() == [pytest.approx(0.8)]
    assert (first.moved.datapoints.tolist(), first.moved.useful.tolist()) == ([20.0], [10.0])
    assert sends(make_orders(scarce, first.state, [step(3, (1, 0, 0.105))])) == [(3, 1, 0, 20, 10)]


def test_a_later_period_goes_on_where_the_state_is() -> None:
    after = HorizonState(1, [0], [105.45], [1], [0], [1 - 0.109])  # type: ignore[arg-type]
    assert sends(make_orders(NET, after, [step(2, (1, 0, 0.101))])) == [(2, 1, 0, 10, 11)]
    # Only 4 of these 10.9 arrived, and the state knows it.
    fewer = HorizonState(1, [0], [102.0], [1], [0], [0.96])  # type: ignore[arg-type]
    assert sends(make_orders(NET, fewer, [step(2, (1, 0, 0.1))])) == [(2, 1, 0, 4, 10)]


def test_there_may_be_nothing_to_send() -> None:
    assert ordered(step(1), step(2, (1, 0, 0.001))) == []
    assert ordered() == []
