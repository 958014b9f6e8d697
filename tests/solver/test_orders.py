"""Orders are whole, follow on, and follow the plan to within a datapoint."""

from typing import Any, NamedTuple

import numpy as np

from benchmarks.orders_check import check
from solver import HorizonState, Network, start
from solver.arrays import FloatArray, IntArray
from solver.orders import Orders, make_orders
from tests.support.solving import network

NET = network(3, (1, 0), (2, 0), (2, 1))


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


def ordered(*steps: Step, net: Network = NET, **options: Any) -> list[tuple[int, ...]]:
    return sends(make_orders(net.devices.data, start(net, [0, 1][: options.pop("size", 1)]), steps, **options))


def test_a_hundred_random_plans_recomputed() -> None:
    rows = [check(seed) for seed in range(100)]
    assert [row for row in rows if not row.passed] == []
    assert sum(row.sends for row in rows) > 3000


def test_what_is_cut_is_carried_to_the_next_step() -> None:
    found = ordered(*(step(t, (1, 0, 0.104)) for t in (1, 2, 3, 4)))  # 10.4 of 100 datapoints in each step
    assert found == [(1, 1, 0, 0, 10), (2, 1, 0, 10, 10), (3, 1, 0, 20, 11), (4, 1, 0, 31, 10)]


def test_a_datapoint_may_take_several_steps() -> None:
    assert ordered(*(step(t, (1, 0, 0.004)) for t in range(1, 6))) == [(3, 1, 0, 0, 1), (5, 1, 0, 1, 1)]


def test_errors_of_rounding_cut_no_datapoint() -> None:
    thirds = [step(t, (1, 0, 0.03 / 9)) for t in range(1, 10)]
    assert [send[0] for send in ordered(*thirds)] == [3, 6, 9]
    odd = network(3, (1, 0), data=[100.0, 2.9999999, 100.0])
    assert ordered(step(1, (1, 0, 1.0)), net=odd) == [(1, 1, 0, 0, 2)]  # it has no third datapoint


def test_redrawing_becomes_sending_once() -> None:
    found = ordered(step(1, (1, 0, 0.5)), step(2, (1, 0, 0.5)), step(3, (1, 0, 1.0)), transfer="redraw")
    assert found == [(1, 1, 0, 0, 50), (2, 1, 0, 50, 25), (3, 1, 0, 75, 25)]


def test_two_receivers_get_the_same_datapoints_and_senders_are_in_order() -> None:
    steps = (step(1, (2, 1, 0.3), (2, 0, 0.2)), step(2, (2, 0, 0.1), (1, 0, 0.4)))
    assert ordered(*steps, size=2) == [(2, 1, 0, 0, 40), (1, 2, 0, 0, 20), (1, 2, 1, 0, 30), (2, 2, 0, 20, 10)]


def test_a_later_period_goes_on_where_the_state_is() -> None:
    after = HorizonState(1, [0], [105.45], [1], [0], [1 - 0.109])  # type: ignore[arg-type]
    assert sends(make_orders(NET.devices.data, after, [step(2, (1, 0, 0.101))])) == [(2, 1, 0, 10, 11)]
    # Only 4 of these 10.9 arrived, and the state knows it.
    fewer = HorizonState(1, [0], [102.0], [1], [0], [0.96])  # type: ignore[arg-type]
    assert sends(make_orders(NET.devices.data, fewer, [step(2, (1, 0, 0.1))])) == [(2, 1, 0, 4, 10)]


def test_there_may_be_nothing_to_send() -> None:
    assert ordered(step(1), step(2, (1, 0, 0.001))) == []
