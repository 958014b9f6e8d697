"""Digits, trained in Flower's simulator: nodes that fedsift samples, beside Flower's own random sampling.

Usage: python with_flower.py URL [--devices 10] [--sample-size 3] [--rounds 6] [--seeds 2] [--timeout 30]

Half-way one of the nodes that train dies: it does not answer any more. A round later it comes back. Data moves between
nodes by fedsift's orders before each round. Prints a table, and last a line of JSON for each seed.

With --folder FOLDER there is one seed, and what the server and the nodes keep is in FOLDER. With --dies-in ROUND the
server app kills itself in that round, after data has moved; the same command without it goes on with that round.
"""

import argparse
import json
import logging
import os
import random
import signal
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
from digits import RATE, accuracy, fleet, name, new_model, train
from flwr.app import Array, ArrayRecord, ConfigRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import FedAvg, Strategy
from flwr.simulation import run_simulation
from radio import Radio

from fedsift_client import Client
from fedsift_client.flower import FedsiftStrategy, attend


def nodes(folder: Path, options: argparse.Namespace, seed: int, *, silent: bool) -> ClientApp:
    """What runs on every node. The one that dies does not answer, or if not `silent` answers with an error."""
    radio = Radio(folder, seed)
    app = ClientApp()

    def device_of(context: Context) -> int:
        return int(context.node_config["partition-id"])

    def live(device: int, *, now: bool = False) -> None:
        if radio.dies(device, now=now):
            time.sleep(1.5 * options.timeout if silent else 0)
            raise SystemError("this node is dead")

    def send(order: Any, context: Context) -> dict[int, int]:
        live(device_of(context))
        return radio.send(order)

    def introduce(context: Context) -> str:
        if radio.dies(device_of(context), now=False):
            raise SystemError("this node is dead")
        return name(device_of(context))

    attend(app, device=introduce, send=send)

    @app.train()
    def learn(message: Message, context: Context) -> Message:
        device, round_ = device_of(context), int(message.content["config"]["server-round"])
        live(device, now=round_ == options.rounds // 2)
        points = radio.points(device)
        model, steps, loss = train(_model(message.content["arrays"]), points, round_)
        metrics = MetricRecord({"num-examples": len(points[1]), "steps": steps, "loss": loss, "device": device})
        return Message(RecordDict({"arrays": _record(model), "metrics": metrics}), reply_to=message)

    return app


class Mortal(FedsiftStrategy):
    """A server app that kills its own process in a round: as when the machine fails, nothing is tidied up."""

    dies_in = 0

    def configure_train(self, *given: Any) -> Any:
        """Plan the round and have its data moved; then die, if this is the round."""
        messages = super().configure_train(*given)
        if self.rounds.done + 1 == self.dies_in:
            os.kill(os.getpid(), signal.SIGKILL)
        return messages


def simulate(
    strategy: Strategy,
    app: ClientApp,
    options: argparse.Namespace,
    after_round: Callable[[], None] = lambda: None,
    **more: Any,
) -> list[float]:
    """The accuracy before training and after each round."""
    server, found = ServerApp(), []

    def evaluate(_: int, arrays: ArrayRecord) -> MetricRecord:
        found.append(accuracy(_model(arrays)))
        after_round()
        return MetricRecord({"accuracy": found[-1]})

    @server.main()
    def serve(grid: Grid, context: Context) -> None:
        start = _record(new_model())
        strategy.start(grid, start, options.rounds, evaluate_fn=evaluate, train_config=ConfigRecord(), **more)

    backend = {"client_resources": {"num_cpus": 1, "num_gpus": 0.0}}
    run_simulation(server_app=server, client_app=app, num_supernodes=options.devices, backend_config=backend)
    return found


def with_fedsift(options: argparse.Namespace, seed: int) -> dict[str, Any]:
    """Train on the nodes that fedsift samples."""
    with tempfile.TemporaryDirectory() as made, Client(options.url) as client:
        folder = Path(options.folder or made)
        strategy = Mortal(
            client,
            fleet(options.devices, seed),
            sample_size=options.sample_size,
            rounds=options.rounds,
            learning_rate=RATE,
            round_timeout=options.timeout,
            rejoin_timeout=options.timeout,
            checkpoint=folder / "checkpoint",
        )
        strategy.dies_in = options.dies_in
        radio = Radio(folder, seed)

        def after_round() -> None:
            if strategy.rounds.done == options.rounds // 2 + 1:
                radio.come_back()

        found = simulate(strategy, nodes(folder, options, seed, silent=True), options, after_round)
        ordered = [sum(one.count for order in period.orders for one in order.sends) for period in strategy.periods]
        return {
            "accuracy": found,
            "sampled": [period.sampled.tolist() for period in strategy.periods],
            "trained": strategy.trained,
            "joined": strategy.joined,
            "run": strategy.rounds.run_id,
            "replaced": [period.replaced for period in strategy.periods],
            "dead": radio.dead(),
            "ordered": ordered,
            "moved": radio.moved(),
        }


def at_random(options: argparse.Namespace, seed: int) -> list[float]:
    """Train on nodes that Flower's own strategy samples, each on what it holds."""
    random.seed(seed)
    share = options.sample_size / options.devices
    strategy = FedAvg(share, 0.0, min_train_nodes=options.sample_size, min_available_nodes=options.devices)
    with tempfile.TemporaryDirectory() as folder:
        app = nodes(Path(folder), options, seed, silent=False)
        return simulate(strategy, app, options, timeout=options.timeout)


def main() -> None:
    """Train both ways for each seed, and print what happened."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("--devices", type=int, default=10)
    parser.add_argument("--sample-size", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=30.0)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--dies-in", type=int, default=0)
    options = parser.parse_args()
    logging.getLogger("flwr").setLevel(logging.WARNING)
    if options.folder is not None:
        options.folder.mkdir(exist_ok=True)
        print(json.dumps({"seed": 0, **with_fedsift(options, 0)}))
        return
    reports = [
        {"seed": seed, **with_fedsift(options, seed), "random": at_random(options, seed)}
        for seed in range(options.seeds)
    ]
    print("Mean accuracy of the last three rounds:\n")
    print("| seed | fedsift | Flower at random | datapoints moved | died |\n|---|---|---|---|---|")
    for one in reports:
        late = [mean(one[key][-3:]) for key in ("accuracy", "random")]
        print(f"| {one['seed']} | {late[0]:.3f} | {late[1]:.3f} | {one['moved']} | {one['dead']} |")
    for one in reports:
        print(json.dumps(one))


def _model(arrays: ArrayRecord) -> dict[str, Any]:
    return {name: array.numpy() for name, array in arrays.items()}


def _record(model: dict[str, Any]) -> ArrayRecord:
    return ArrayRecord({name: Array(np.asarray(array)) for name, array in model.items()})


if __name__ == "__main__":
    main()
