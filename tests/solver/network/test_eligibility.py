import numpy as np
from numpy.testing import assert_array_equal

from solver import Change, Obstacle, Schedule, eligible_devices, obstacles
from tests.support.solving import network


def test_devices_without_data_or_capacity_are_out_and_say_why() -> None:
    net = network(4, data=[100, 0, 100, 100], processing_capacity=[100, 100, 99, 500], processing_cost=[1, 1, 1, 0])
    assert_array_equal(eligible_devices(net), [True, False, False, True])
    found = obstacles(Schedule.of(net), 1)
    assert found == (
        Obstacle(1, 1, "holds no data"),
        Obstacle(2, 1, "processing its 100 datapoints costs 100, its capacity is 99"),
    )


def test_a_later_drop_of_capacity_counts_only_within_the_horizon() -> None:
    schedule = Schedule(network(2), (Change(5, {"processing_capacity": [50, 1000]}),))
    assert_array_equal(eligible_devices(schedule, 4), [True, True])
    assert_array_equal(eligible_devices(schedule, 5), [False, True])
    (obstacle,) = obstacles(schedule, 5)
    assert (obstacle.device, obstacle.step) == (0, 5)


def test_a_drop_already_past_does_not_count() -> None:
    schedule = Schedule(network(1, processing_capacity=[10.0]), (Change(3, {"processing_capacity": [1000.0]}),))
    assert obstacles(schedule, 9, np.array([0]), first=3) == ()
    assert len(obstacles(schedule, 9, np.array([0]), first=2)) == 1
