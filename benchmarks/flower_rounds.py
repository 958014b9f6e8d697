"""Rounds of the benchmark's task in Flower's simulation, run by the interpreter that has Flower.

Usage: python flower_rounds.py TASK.npz — prints one JSON line {"round_s": …, "version": …}.
Stands alone: Flower pins its own web framework, so it lives in an environment of its own.
"""

import json
import logging
import sys
import time
from importlib.metadata import version

import numpy as np
import torch
from flwr.client import ClientApp, NumPyClient
from flwr.common import Context, ndarrays_to_parameters
from flwr.server import ServerApp, ServerAppComponents, ServerConfig
from flwr.server.strategy import FedAvg
from flwr.simulation import run_simulation
from torch import nn
from torch.nn import functional

ROUNDS = 7  # the first starts the workers and is not counted; the others are as many as our repetitions


class Cnn(nn.Module):
    """The model of the task, written as a Flower user would."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 10, 5)
        self.conv2 = nn.Conv2d(10, 20, 5)
        self.dropout = nn.Dropout2d(0.5)
        self.dense1 = nn.Linear(320, 50)
        self.dense2 = nn.Linear(50, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return logits."""
        x = functional.relu(functional.max_pool2d(self.conv1(x), 2))
        x = functional.relu(functional.max_pool2d(self.dropout(self.conv2(x)), 2))
        x = functional.relu(self.dense1(x.flatten(1)))
        logits: torch.Tensor = self.dense2(x)
        return logits


def train(
    model: nn.Module, images: torch.Tensor, labels: torch.Tensor, *, epochs: int, batch: int, rate: float
) -> None:
    """Train a device's epochs in mini-batches: the plain loop."""
    optimiser = torch.optim.SGD(model.parameters(), lr=rate)
    model.train()
    for _ in range(epochs):
        order = torch.randperm(len(labels))
        for start in range(0, len(order), batch):
            rows = order[start : start + batch]
            optimiser.zero_grad()
            loss = functional.cross_entropy(model(images[rows]), labels[rows])
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()


class Device(NumPyClient):  # type: ignore[misc, unused-ignore]
    """One device; its data is loaded once per worker process."""

    def __init__(self, task: str, device: int) -> None:
        with np.load(task) as file:
            self.images = torch.from_numpy(file[f"images{device}"])
            self.labels = torch.from_numpy(file[f"labels{device}"])
            self.epochs, self.batch = int(file["epochs"]), int(file["batch"])
            self.rate = float(file["rate"])

    def fit(self, parameters: list[np.ndarray], config: object) -> tuple[list[np.ndarray], int, dict[str, float]]:
        """Train from the global parameters."""
        model = Cnn()
        with torch.no_grad():
            for p, value in zip(model.parameters(), parameters, strict=True):
                p.copy_(torch.from_numpy(value))
        train(model, self.images, self.labels, epochs=self.epochs, batch=self.batch, rate=self.rate)
        return [p.detach().numpy() for p in model.parameters()], len(self.labels), {}


def main(task: str) -> None:
    """Run the rounds and print how long one takes."""
    logging.getLogger("flwr").setLevel(logging.ERROR)
    with np.load(task) as file:
        devices = int(file["devices"])
    stamps: list[float] = []

    def client(context: Context) -> object:
        return Device(task, int(context.node_config["partition-id"])).to_client()

    def stamp(server_round: int, parameters: object, config: object) -> None:
        stamps.append(time.perf_counter())

    def server(context: Context) -> ServerAppComponents:
        start = ndarrays_to_parameters([p.detach().numpy() for p in Cnn().parameters()])
        strategy = FedAvg(
            fraction_fit=1.0,
            fraction_evaluate=0.0,
            min_fit_clients=devices,
            min_available_clients=devices,
            initial_parameters=start,
            evaluate_fn=stamp,
        )
        return ServerAppComponents(strategy=strategy, config=ServerConfig(num_rounds=ROUNDS))

    run_simulation(
        server_app=ServerApp(server_fn=server),
        client_app=ClientApp(client_fn=client),
        num_supernodes=devices,
        backend_config={"client_resources": {"num_cpus": 1, "num_gpus": 0.0}},
    )
    # stamps: before round 1, after rounds 1..ROUNDS. The best round is compared, as for the others.
    rounds = np.diff(stamps)[1:]
    print(json.dumps({"round_s": float(rounds.min()), "version": version("flwr")}))


if __name__ == "__main__":
    main(sys.argv[1])
