"""Digits shared out over devices, the network between them, and softmax regression."""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits

Points = tuple[NDArray[np.float64], NDArray[np.int64]]
LABELS_PER_DEVICE, POINTS_PER_DEVICE, TEST_SHARE = 3, 60, 5


@cache
def split() -> tuple[Points, Points]:
    """Digits for training and for testing."""
    pixels, labels = load_digits(return_X_y=True)
    test = np.arange(len(labels)) % TEST_SHARE == 0
    return (pixels[~test] / 16, labels[~test]), (pixels[test] / 16, labels[test])


@cache
def holding(device: int) -> NDArray[np.int64]:
    """Which training points a device holds: of three labels only, so that it learns little alone."""
    generator = np.random.default_rng(device)
    _, labels = split()[0]
    wanted = generator.choice(10, LABELS_PER_DEVICE, replace=False)
    return generator.choice(np.flatnonzero(np.isin(labels, wanted)), POINTS_PER_DEVICE)


def network(devices: int) -> dict[str, Any]:
    """Devices in a ring with chords; similarity is the share of labels two neighbours have in common."""
    generator = np.random.default_rng(0)
    ends = [(k, (k + hop) % devices) for k in range(devices) for hop in (1, 2, 3)]
    _, labels = split()[0]
    kinds = [set(labels[holding(device)].tolist()) for device in range(devices)]
    return {
        "devices": {
            "data": [POINTS_PER_DEVICE] * devices,
            "processing_capacity": generator.uniform(200, 600, devices).tolist(),
            "processing_cost": [1.0] * devices,
            "receive_capacity": generator.uniform(10, 40, devices).tolist(),
            "transmit_budget": generator.uniform(10, 30, devices).tolist(),
        },
        "topology": {
            "kind": "links",
            "source": [source for source, _ in ends],
            "target": [target for _, target in ends],
            "similarity": [len(kinds[source] & kinds[target]) / LABELS_PER_DEVICE * 0.5 for source, target in ends],
            "transmit_cost": [1.0] * len(ends),
        },
    }


def probabilities(
    weights: NDArray[np.float64], bias: NDArray[np.float64], pixels: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Softmax regression."""
    scores = pixels @ weights + bias
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))
