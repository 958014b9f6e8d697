"""Fleets that tests share."""

from typing import Any

import numpy as np

FLEET: dict[str, Any] = {
    "step_seconds": 60,
    "datapoint_bytes": 3000,
    "devices": [
        {"id": "hub", "datapoints": 600, "samples_per_second": 400, "load": 0.5, "storage_datapoints": 4000},
        {"id": "cam-1", "datapoints": 300, "samples_per_second": 20, "airtime_seconds": 6},
        {"id": "cam-2", "datapoints": 200, "samples_per_second": 20, "group": "site-b"},
        {"id": "cam-3", "datapoints": 400, "samples_per_second": 20, "may_train": False},
        {"id": "cam-4", "datapoints": 500, "samples_per_second": 30, "may_send": False},
    ],
    "links": [
        {"from": "cam-1", "to": "hub", "mbps": 6.0, "loss": 0.1, "similarity": 0.4},
        {"from": "cam-2", "to": "hub", "mbps": 6.0, "similarity": 0.1},
        {"from": "cam-3", "to": "hub", "mbps": 2.0, "similarity": 0.2},
        {"from": "cam-4", "to": "hub", "mbps": 2.0},
        {"from": "hub", "to": "cam-4", "mbps": 2.0},
    ],
}


def random_fleet(seed: int, n: int, *, links: int = 4) -> dict[str, Any]:
    """A fleet in which every device has a few links to others, and leaves some fields out."""
    rng = np.random.default_rng(seed)

    def some(**values: Any) -> dict[str, Any]:
        return {name: value for name, value in values.items() if rng.random() < 0.7}

    devices = [
        {
            "id": f"device {i}",
            "datapoints": int(rng.integers(20, 200)),
            "samples_per_second": float(rng.uniform(5, 50)),
            **some(
                load=float(rng.uniform(0, 0.9)),
                storage_datapoints=int(rng.integers(200, 1000)),
                airtime_seconds=float(rng.uniform(0.1, 1)),
                label_counts={name: int(rng.integers(0, 60)) for name in rng.choice(list("abcdef"), 3, replace=False)},
                group=str(rng.choice(["east", "west"], p=[0.9, 0.1])),
                may_train=bool(rng.random() < 0.9),
                may_send=bool(rng.random() < 0.9),
            ),
        }
        for i in range(n)
    ]
    ends = [
        (i, int(j)) for i in range(n) for j in rng.choice(np.delete(np.arange(n), i), min(links, n - 1), replace=False)
    ]
    made = [
        {
            "from": f"device {i}",
            "to": f"device {j}",
            "mbps": float(rng.uniform(1, 20)),
            **some(loss=float(rng.uniform(0, 0.5)), similarity=float(rng.uniform(0, 1))),
        }
        for i, j in ends
    ]
    return {"step_seconds": 60, "datapoint_bytes": 3136, "devices": devices, "links": made}
