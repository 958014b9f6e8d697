"""Digits, trained by Flower's simulation engine on the nodes that fedsift samples.

Usage: python train_digits.py URL [--devices 10] [--sample-size 3] [--rounds 5]
Prints one JSON line: who was sampled, who trained in each round and on how much, and the accuracy after each round.
"""

import argparse
import json
import logging
from functools import cache
from typing import Any

import numpy as np
from flwr.app import ArrayRecord, ConfigRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid, ServerApp
from flwr.simulation import run_simulation
from numpy.typing import NDArray
from sklearn.datasets import load_digits

Points = tuple[NDArray[np.float64], NDArray[np.int64]]
LABELS_PER_DEVICE, POINTS_PER_DEVICE, TEST_SHARE, BATCH, RATE = 3, 60, 5, 10, 0.1


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


client = ClientApp()


@client.query()
def introduce(message: Message, context: Context) -> Message:
    """Say which device this node is."""
    metrics = MetricRecord({"device": int(context.node_config["partition-id"])})
    return Message(content=RecordDict({"metrics": metrics}), reply_to=message)


@client.train()
def train(message: Message, context: Context) -> Message:
    """An epoch on the device's own points and on those that its neighbours sent."""
    device = int(context.node_config["partition-id"])
    sent = message.content["offloading"]
    rows = zip(sent["source"], sent["datapoints"], strict=True)
    # A simulated neighbour sends the first so many of its points.
    parts = [holding(device), *(holding(source)[: round(datapoints)] for source, datapoints in rows)]
    pixels, labels = split()[0]
    order = np.random.default_rng(int(message.content["config"]["server-round"])).permutation(np.concatenate(parts))
    weights, bias = message.content["arrays"].to_numpy_ndarrays()
    batches = [order[i : i + BATCH] for i in range(0, len(order), BATCH)]
    for batch in batches:
        error = probabilities(weights, bias, pixels[batch]) - np.eye(10)[labels[batch]]
        weights = weights - RATE * pixels[batch].T @ error / len(batch)
        bias = bias - RATE * error.mean(axis=0)
    metrics = MetricRecord({"device": device, "datapoints": len(order), "batches": len(batches)})
    content = RecordDict({"arrays": ArrayRecord([weights, bias]), "metrics": metrics})
    return Message(content=content, reply_to=message)


def accuracy(_: int, arrays: ArrayRecord) -> MetricRecord:
    """Of the global model on the test split."""
    weights, bias = arrays.to_numpy_ndarrays()
    pixels, labels = split()[1]
    found = probabilities(weights, bias, pixels).argmax(axis=1)
    return MetricRecord({"accuracy": float((found == labels).mean())})


def main() -> None:
    """Run the simulation and print what happened."""
    from strategy import FedsiftStrategy  # noqa: PLC0415 - the nodes' processes need no strategy

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("--devices", type=int, default=10)
    parser.add_argument("--sample-size", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    logging.getLogger("flwr").setLevel(logging.WARNING)
    strategy = FedsiftStrategy(
        options.url,
        network(options.devices),
        sample_size=options.sample_size,
        rounds=options.rounds,
        learning_rate=RATE,
    )
    server = ServerApp()
    report: dict[str, Any] = {}

    @server.main()
    def serve(grid: Grid, context: Context) -> None:
        start = ArrayRecord([np.zeros((64, 10)), np.zeros(10)])
        result = strategy.start(grid, start, options.rounds, train_config=ConfigRecord(), evaluate_fn=accuracy)
        rounds = result.train_metrics_clientapp.values()
        report.update(
            sampled=sorted(strategy.period["sampled"]),
            trained=[one["devices"] for one in rounds],
            datapoints=[one["datapoints"] for one in rounds],
            accuracy=[one["accuracy"] for one in result.evaluate_metrics_serverapp.values()],
        )

    run_simulation(
        server_app=server,
        client_app=client,
        num_supernodes=options.devices,
        backend_config={"client_resources": {"num_cpus": 1, "num_gpus": 0.0}},
    )
    print(json.dumps(report))


if __name__ == "__main__":
    main()
