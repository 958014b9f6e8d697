import pytest
from numpy.testing import assert_array_equal

from solver import Change, InvalidInputError, Schedule
from tests.support.solving import links, network


def test_changes_hold_from_their_step_on() -> None:
    net = network(3, (1, 0), (2, 0))
    schedule = Schedule(
        net,
        (
            Change(6, {"transmit_budget": [1, 2, 3]}),
            Change(3, {"receive_capacity": [7, 8, 9]}, links((2, 1))),
        ),
    )
    assert [(s.first, s.last) for s in schedule.segments] == [(1, 2), (3, 5), (6, None)]
    assert schedule.at(2) is net
    assert_array_equal(schedule.at(3).devices.receive_capacity, [7, 8, 9])
    assert_array_equal(schedule.at(3).devices.transmit_budget, net.devices.transmit_budget)
    assert_array_equal(schedule.at(100).devices.receive_capacity, [7, 8, 9])
    assert_array_equal(schedule.at(6).devices.transmit_budget, [1, 2, 3])
    assert_array_equal(schedule.at(6).links.source, [2])


def test_a_change_at_step_one_replaces_the_start() -> None:
    schedule = Schedule(network(2), (Change(1, {"processing_cost": [2, 2]}),))
    assert len(schedule.segments) == 1
    assert_array_equal(schedule.at(1).devices.processing_cost, [2, 2])


@pytest.mark.parametrize("step", [1, 4])
def test_of_two_changes_at_one_step_the_later_counts(step: int) -> None:
    first = Change(step, {"transmit_budget": [1, 2], "processing_cost": [3, 4]})
    schedule = Schedule(network(2), (first, Change(step, {"transmit_budget": [5, 6]})))
    assert_array_equal(schedule.at(step).devices.transmit_budget, [5, 6])
    assert_array_equal(schedule.at(step).devices.processing_cost, [3, 4])
    assert [segment.first for segment in schedule.segments] == sorted({1, step})


def test_bad_changes_are_named() -> None:
    with pytest.raises(InvalidInputError, match="schedule.step: must be at least 1, is 0"):
        Change(0)
    with pytest.raises(InvalidInputError, match="schedule.devices.data: cannot change in time"):
        Change(2, {"data": [1, 2]})
    with pytest.raises(InvalidInputError, match="devices.transmit_budget: must have 2 entries, has 3"):
        Schedule(network(2), (Change(2, {"transmit_budget": [1, 2, 3]}),))
    with pytest.raises(InvalidInputError, match=r"links.source\[0\] is 5: must be below"):
        Schedule(network(2), (Change(2, links=links((5, 0))),))
