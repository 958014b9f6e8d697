import numpy as np

from solver import plan_offloading
from solver.horizon.course import CourseSteps
from solver.instances import random_network


def test_the_steps_of_a_course_are_a_sequence_made_once() -> None:
    network = random_network(np.random.default_rng(3), 12, link_probability=0.5)
    steps = plan_offloading(network, [0, 1], horizon=4).steps
    assert isinstance(steps, CourseSteps)
    assert len(steps) == 4
    assert [step.step for step in steps] == [1, 2, 3, 4]
    assert [step.step for step in steps[1:3]] == [2, 3]
    assert steps[-1] is steps[3]
    for step in steps:
        held = network.devices.data[step.source]
        assert step.fraction.size == step.target.size > 0
        np.testing.assert_array_equal(step.datapoints, step.fraction * held)
