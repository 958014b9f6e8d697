"""A run that is packed, restored elsewhere and gone on with equals one that was left alone, to the last bit."""

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fedl_sim.errors import CheckpointError
from fedl_sim.loop.checkpoint import pack, restore
from fedl_sim.loop.loop import SchemeLoop
from fedl_sim.trainer.part import open_part

PART: dict[str, Any] = {
    "data_set": "digits",
    "model": None,
    "generator": {"n_devices": 15, "mean_datapoints": 25, "link_probability": 0.4},
    "labels_per_device": 3,
    "sample_size": 3,
    "aggregations": 5,
    "aggregation_period": 2,
    "learning_rate": 0.01,
    "batch_size": 10,
    "scheme": "ours-offload",
    "seed": 3,
    "draw": 0,
}


def finish(loop: SchemeLoop) -> Any:
    while not loop.finished:
        loop.advance()
    return loop.result()


@pytest.mark.parametrize("scheme", ["ours-offload", "random-offload", "heuristic-offload", "all"])
@pytest.mark.parametrize("model", ["softmax", "cnn"])
def test_going_on_elsewhere_changes_nothing(scheme: str, model: str) -> None:
    part = {**PART, "scheme": scheme, "model": model, "aggregations": 3}
    alone = open_part(part)
    expected = finish(alone)
    loop = open_part(part)
    while not loop.finished:
        loop.advance()
        packed = pack(loop)
        loop = open_part(part)
        restore(loop, packed)
    assert loop.result() == expected
    np.testing.assert_array_equal(loop.parameters, alone.parameters)
    for device in loop.sampled.tolist():
        np.testing.assert_array_equal(loop.holdings.data(device), alone.holdings.data(device))


def test_a_checkpoint_is_small_and_has_nothing_pickled() -> None:
    loop = open_part(PART)
    loop.advance()
    loop.advance()
    packed = pack(loop)
    assert len(packed) < 20_000
    with np.load(io.BytesIO(packed), allow_pickle=False) as archive:
        assert all(archive[name].dtype != object for name in archive.files)


def test_another_runs_checkpoint_is_refused() -> None:
    loop = open_part(PART)
    loop.advance()
    for part in ({**PART, "seed": 4}, {**PART, "model": "cnn"}):
        with pytest.raises(CheckpointError, match="another run"):
            restore(open_part(part), pack(loop))
    with pytest.raises(CheckpointError, match="cannot be read"):
        restore(open_part(PART), b"nothing")


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
    part = {
        **PART,
        "generator": None,
        "network": {"devices": devices, "links": links, "changes": [dearer]},
        "plan": {"sampled": [0], "steps": steps, "relative_gap": 1e-7},
        "scheme": "plan",
        "sample_size": 1,
        "aggregations": 2,
        "aggregation_period": 2,
    }
    result = finish(open_part(part))
    assert result.sampled == (0,)
    assert result.worst_relative_gap == 1e-7
    last = result.aggregations[1]
    assert (last.moved, last.predicted_useful) == (40, 40.0)
    trained = last.processed
    assert last.cost == trained * 1.0 + 20 * 2.0 + 20 * 30.0
    assert result.aggregations[2].moved == 40  # nothing is planned beyond the plan


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
    part = {**PART, "generator": None, "network": {"devices": devices, "links": links, "changes": []}}
    loop = open_part({**part, "sample_size": 2, "scheme": "heuristic"})
    from fedl_sim.data.datasets import load_data_set

    labels = load_data_set("digits").train.labels
    assert len(loop.holdings.data(0)) == 30
    assert set(labels[loop.holdings.data(0)]) == {7}
    assert len(loop.holdings.data(1)) == 40
    assert set(labels[loop.holdings.data(1)]) == {1, 2}


def test_the_trainer_answers_line_by_line_and_ends_with_its_input(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "fedl_sim.trainer"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )

    def ask(request: dict[str, Any]) -> dict[str, Any]:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        answer: dict[str, Any] = json.loads(process.stdout.readline())
        return answer

    opening = {"open": PART, "checkpoint": None, "folder": str(tmp_path)}
    assert ask(opening)["opened"]["next"] == 0
    assert ask({"advance": 1})["error"]["type"] == "checkpoint"
    records = [ask({"advance": k})["record"] for k in range(3)]
    saved = tmp_path / "saved.npz"
    saved.write_bytes((tmp_path / "checkpoint.npz").read_bytes())
    records.append(ask({"advance": 3})["record"])
    assert ask({**opening, "checkpoint": str(saved)})["opened"]["next"] == 3
    assert ask({"advance": 3})["record"] == records[3]
    assert ask({**opening, "open": {**PART, "sample_size": 99}})["error"]["type"] == "infeasible"
    assert ask({**opening, "open": {**PART, "scheme": "clever"}})["error"]["type"] == "invalid"
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(10) == 0
    assert process.stdout is not None
    process.stdout.close()
