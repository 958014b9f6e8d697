"""A small part to train, and changes to it."""

from typing import Any

from fedl_sim.contract import Part

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
    "target": 0.85,
    "tolerance": 0.1,
    "scheme": "ours-offload",
    "seed": 3,
    "draw": 0,
}


def make_part(**changes: Any) -> Part:
    return Part.from_json({**PART, **changes})
