"""Digits, trained by Flower's simulation engine on the nodes that fedsift samples.

Usage: python train_digits.py URL [--devices 10] [--sample-size 3] [--rounds 5]
Prints one JSON line: who was sampled, who trained in each round and on how much, and the accuracy after each round.
"""

import argparse
import json
import logging
from typing import Any

import numpy as np
from digits import network, probabilities, split
from flwr.app import ArrayRecord, ConfigRecord, Context, MetricRecord
from flwr.serverapp import Grid, ServerApp
from flwr.simulation import run_simulation
from node import RATE, client
from strategy import FedsiftStrategy


def accuracy(_: int, arrays: ArrayRecord) -> MetricRecord:
    """Of the global model on the test split."""
    weights, bias = arrays.to_numpy_ndarrays()
    pixels, labels = split()[1]
    found = probabilities(weights, bias, pixels).argmax(axis=1)
    return MetricRecord({"accuracy": float((found == labels).mean())})


def main() -> None:
    """Run the simulation and print what happened."""
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
