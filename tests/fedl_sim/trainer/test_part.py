"""From a part to the loop that trains it: given plans, given networks, label counts."""

import json
from typing import Any

import numpy as np
import pytest

from fedl_sim.contract import ContractError, Part
from fedl_sim.data.datasets import load_data_set
from fedl_sim.trainer.part import open_part
from tests.support.parts import make_part
from tests.support.stored_work import GIVEN


def test_a_given_plan_is_carried_out_as_it_stands() -> None:
    devices = {
        "data": [30.0, 40.0, 20.0],
        "processing_capacity": [1000.0] * 3,
        "processing_cost": [1.0] * 3,
        "receive_capacity": [50.0] * 3,
        "transmit_budget": [100.0] * 3,
    }
    links = {"source": [1, 2], "target": [0, 0], "similarity": [0.0, 0.0], "transmit_cost": [2.0, 3.0]}
    dearer = {"step": 2, "devices": {}, "links": {**links, "transmit_cost": [20.0, 30.0]}}
    steps = [
        {"step": 1, "source": [1], "target": [0], "fraction": [0.5], "useful": 20.0},
        {"step": 2, "source": [2], "target": [0], "fraction": [1.0], "useful": 20.0},
    ]
    part = make_part(
        generator=None,
        network={"devices": devices, "links": links, "changes": [dearer]},
        plan={"sampled": [0], "steps": steps, "relative_gap": 1e-7},
        scheme="plan",
        sample_size=1,
        aggregations=2,
        aggregation_period=2,
    )
    loop = open_part(part)
    while not loop.finished:
        loop.advance()
    result = loop.result()
    assert result.sampled == (0,)
    assert result.worst_relative_gap == 1e-7
    last = result.aggregations[1]
    assert (last.moved, last.predicted_useful) == (40, 40.0)
    trained = last.processed
    assert last.cost == trained * 1.0 + 20 * 2.0 + 20 * 30.0
    assert result.aggregations[2].moved == 40  # nothing is planned beyond the plan


def test_a_plan_over_a_link_that_is_not_there_is_named() -> None:
    stored = json.loads(GIVEN) | {"scheme": "plan", "seed": 0, "draw": 0}
    stored["plan"]["steps"][0]["target"] = [2]
    with pytest.raises(ContractError, match=r"^plan.steps\[0\]: sends from 1 to 2, where there is no link$"):
        open_part(Part.from_json(stored))


@pytest.mark.parametrize("transfer", ["send_once", "redraw"])
def test_a_scheme_sends_as_its_work_says(transfer: str) -> None:
    # One sender of 40 datapoints with budget for all of them at every step.
    devices = {
        "data": [30.0, 40.0],
        "processing_capacity": [1000.0, 1.0],
        "processing_cost": [1.0] * 2,
        "receive_capacity": [50.0] * 2,
        "transmit_budget": [30.0] * 2,
    }
    links = {"source": [1], "target": [0], "similarity": [0.0], "transmit_cost": [1.0]}
    part = make_part(
        generator=None,
        network={"devices": devices, "links": links, "changes": []},
        scheme="greedy+fast",
        transfer=transfer,
        sample_size=1,
        aggregations=1,
        aggregation_period=3,
    )
    loop = open_part(part)
    while not loop.finished:
        loop.advance()
    assert loop.result().aggregations[1].moved == (40 if transfer == "send_once" else 90)


def test_label_counts_decide_who_holds_what() -> None:
    counts = np.zeros((2, 10))
    counts[0, 7] = 30
    counts[1, [1, 2]] = 20, 20
    devices = {
        "data": [30.0, 40.4],
        "processing_capacity": [1000.0] * 2,
        "processing_cost": [1.0] * 2,
        "receive_capacity": [5.0] * 2,
        "transmit_budget": [5.0] * 2,
        "label_counts": counts.tolist(),
    }
    links: dict[str, Any] = {"source": [], "target": [], "similarity": [], "transmit_cost": []}
    network = {"devices": devices, "links": links, "changes": []}
    loop = open_part(make_part(generator=None, network=network, sample_size=2, scheme="heuristic"))
    labels = load_data_set("digits").train.labels
    assert len(loop.holdings.data(0)) == 30
    assert set(labels[loop.holdings.data(0)]) == {7}
    assert len(loop.holdings.data(1)) == 40
    assert set(labels[loop.holdings.data(1)]) == {1, 2}
