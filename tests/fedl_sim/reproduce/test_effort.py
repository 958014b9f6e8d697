"""Estimates of how long runs take."""

from dataclasses import replace

import pytest

from fedl_sim.loop.loop import RunSettings
from fedl_sim.network.realisation import RealisationSettings
from fedl_sim.reproduce.cell import Cell
from fedl_sim.reproduce.effort import Effort, hours

STILL = Cell("mnist", "ours", 0, realisation=RealisationSettings(n_devices=100), run=RunSettings(5, 10))
MOVING = replace(STILL, scheme="ours-offload")
ALL = replace(STILL, scheme="all")


def test_a_kind_takes_as_long_as_its_finished_runs_by_aggregation() -> None:
    effort = Effort()
    assert effort.seconds([STILL]) == 0
    effort.learn(STILL, 20.0)
    effort.learn(replace(STILL, data_set="fashion-mnist", seed=7, scheme="heuristic"), 40.0)
    effort.learn(ALL, 300.0)
    longer = replace(STILL, run=replace(STILL.run, aggregations=20))
    assert effort.seconds([STILL, longer]) == pytest.approx(30 + 60)
    # FedL on all nodes trains on the whole data set, whatever N.
    larger = replace(ALL, realisation=RealisationSettings(n_devices=800))
    assert effort.seconds([larger]) == pytest.approx(300)
    # What is not known takes the mean of the kinds: 3 and 30 seconds for an aggregation.
    assert effort.seconds([MOVING]) == pytest.approx(165)
    assert effort.unknown([STILL, MOVING, replace(MOVING, seed=3), ALL]) == [MOVING]


def test_durations_for_people() -> None:
    assert (hours(90), hours(7300)) == ("2 min", "2.0 h")
