"""Digits shared out over devices, the fleet that they are, and softmax regression."""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits

from fedsift_client import sketch

Points = tuple[NDArray[np.float64], NDArray[np.int64]]
Model = dict[str, NDArray[np.float64]]
LABELS_PER_DEVICE, POINTS_PER_DEVICE, TEST_SHARE = 3, 60, 5
BATCH, RATE = 10, 0.1


@cache
def split() -> tuple[Points, Points]:
    """Digits for training and for testing."""
    pixels, labels = load_digits(return_X_y=True)
    test = np.arange(len(labels)) % TEST_SHARE == 0
    return (pixels[~test] / 16, labels[~test]), (pixels[test] / 16, labels[test])


@cache
def holding(device: int, seed: int) -> Points:
    """What a device holds: points of three labels only, so that it learns little alone."""
    generator = np.random.default_rng([seed, device])
    pixels, labels = split()[0]
    wanted = generator.choice(10, LABELS_PER_DEVICE, replace=False)
    chosen = generator.choice(np.flatnonzero(np.isin(labels, wanted)), POINTS_PER_DEVICE, replace=False)
    return pixels[chosen], labels[chosen]


def name(device: int) -> str:
    """The id of a device."""
    return f"node-{device}"


def number(device_id: str) -> int:
    """The device of an id."""
    return int(device_id.rpartition("-")[2])


def fleet(devices: int, seed: int) -> dict[str, Any]:
    """Devices in a ring with chords, on slow radio; each tells how many of its points have which label."""
    generator = np.random.default_rng(seed)
    ends = [(k, (k + hop) % devices) for k in range(devices) for hop in (1, 2, 3)]
    return {
        "step_seconds": 60,
        "datapoint_bytes": 520,
        "devices": [
            {
                "id": name(device),
                "datapoints": POINTS_PER_DEVICE,
                "samples_per_second": generator.uniform(3, 10),
                "airtime_seconds": generator.uniform(4, 12),
                "label_counts": sketch(holding(device, seed)[1], range(10)).label_counts,
            }
            for device in range(devices)
        ],
        "links": [{"from": name(source), "to": name(target), "mbps": 0.01} for source, target in ends],
    }


def new_model() -> Model:
    """Softmax regression before any training."""
    return {"weights": np.zeros((64, 10)), "bias": np.zeros(10)}


def train(model: Model, points: Points, seed: int) -> tuple[Model, int, float]:
    """An epoch of gradient descent; the model, its number of steps, and the mean loss."""
    pixels, labels = points
    weights, bias = model["weights"], model["bias"]
    order = np.random.default_rng(seed).permutation(len(labels))
    batches = [order[i : i + BATCH] for i in range(0, len(order), BATCH)]
    losses = []
    for batch in batches:
        found = _probabilities(weights, bias, pixels[batch])
        losses.append(-np.log(found[np.arange(len(batch)), labels[batch]] + 1e-12).mean())
        error = found - np.eye(10)[labels[batch]]
        weights = weights - RATE * pixels[batch].T @ error / len(batch)
        bias = bias - RATE * error.mean(axis=0)
    return {"weights": weights, "bias": bias}, len(batches), float(np.mean(losses))


def accuracy(model: Model) -> float:
    """Of the model on the test split."""
    pixels, labels = split()[1]
    found = _probabilities(model["weights"], model["bias"], pixels).argmax(axis=1)
    return float((found == labels).mean())


def _probabilities(
    weights: NDArray[np.float64], bias: NDArray[np.float64], pixels: NDArray[np.float64]
) -> NDArray[np.float64]:
    scores = pixels @ weights + bias
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))
