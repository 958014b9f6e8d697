"""Small networks and problems that tests share."""

from typing import Any

import numpy as np

from solver import Devices, Links, Network, StepProblem


def devices(n: int = 4, **columns: Any) -> Devices:
    values: dict[str, Any] = {
        "data": [100.0] * n,
        "processing_capacity": [1000.0] * n,
        "processing_cost": [1.0] * n,
        "receive_capacity": [50.0] * n,
        "transmit_budget": [20.0] * n,
    }
    return Devices(**(values | columns))


def links(*pairs: tuple[int, int], **columns: Any) -> Links:
    values: dict[str, Any] = {
        "source": [pair[0] for pair in pairs],
        "target": [pair[1] for pair in pairs],
        "similarity": [0.5] * len(pairs),
        "transmit_cost": [1.0] * len(pairs),
    }
    return Links(**(values | columns))


def network(n: int, *pairs: tuple[int, int], link_columns: dict[str, Any] | None = None, **columns: Any) -> Network:
    return Network(devices(n, **columns), links(*pairs, **(link_columns or {})))


def problem(**changes: Any) -> StepProblem:
    """One sender linked to two receivers, nothing binding but the sender's own data."""
    values: dict[str, Any] = {
        "offsets": [0, 2],
        "receiver": [0, 1],
        "useful": [150.0, 150.0],
        "cost": [1.0, 1.0],
        "budget": [10.0],
        "receive_capacity": [1e6, 1e6],
        "data_ceiling": [np.inf, np.inf],
        "data": [100.0, 200.0],
        "unsampled_data": 150.0,
        "gradient_norm": 0.0,
        "gradient_noise": 1.0,
    }
    return StepProblem(**(values | changes))
