"""A plan made elsewhere is carried out as it stands."""

from fedl_sim.loop.holdings import Transfer
from fedl_sim.loop.planner import PlannedStep
from fedl_sim.loop.script import ScriptedPlanner
from fedl_sim.loop.server import Observation

SECOND = PlannedStep(2, (Transfer(0, 1, 0.5),), (1.5,), 3.0)
FOURTH = PlannedStep(4, (Transfer(2, 1, 0.25),), (1.0,), 2.0)


def test_steps_come_a_period_at_a_time_and_those_that_are_not_planned_move_nothing() -> None:
    planner = ScriptedPlanner([FOURTH, SECOND], 3, relative_gap=0.125)
    assert planner.next_period() == [PlannedStep(1, (), (), 0.0), SECOND, PlannedStep(3, (), (), 0.0)]
    assert planner.next_period() == [FOURTH, PlannedStep(5, (), (), 0.0), PlannedStep(6, (), (), 0.0)]
    assert planner.worst_relative_gap == 0.125


def test_what_is_observed_changes_nothing_and_a_restored_script_goes_on() -> None:
    planner = ScriptedPlanner([SECOND, FOURTH], 2)
    assert planner.next_period()[1] == SECOND
    planner.observe(Observation(10.0, 10.0, 10.0))
    other = ScriptedPlanner([SECOND, FOURTH], 2)
    other.restore(planner.to_lists())
    assert other.next_period() == planner.next_period() == [PlannedStep(3, (), (), 0.0), FOURTH]
