"""What runs in Flower's processes: the nodes, and two server apps that note every round."""

import argparse
import logging
import os
import random
import signal
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from digits import RATE, Model, fleet, name, new_model, train
from flwr.app import Array, ArrayRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import FedAvg, Strategy
from flwr.simulation import run_simulation
from radio import Radio
from story import Story

from fedsift_client import Client, Order
from fedsift_client.flower import FedsiftStrategy, attend


def nodes(folder: Path, seed: int, timeout: float) -> ClientApp:
    """What runs on every node."""
    radio, story, app = Radio(folder, seed), Story(folder), ClientApp()

    def device_of(context: Context) -> int:
        device = int(context.node_config["partition-id"])
        if story.dead() == device:
            raise SystemError("this node is dead")
        return device

    def send(order: Order, context: Context) -> dict[int, int]:
        return radio.send(order)

    attend(app, device=lambda context: name(device_of(context)), send=send)

    @app.train()
    def learn(message: Message, context: Context) -> Message:
        if story.dead() == int(context.node_config["partition-id"]):
            time.sleep(timeout + 1)  # nobody waits any more
        points = radio.points(device_of(context))
        model, steps, loss = train(_model(message.content["arrays"]), points, len(story.rounds()))
        metrics = MetricRecord({"num-examples": len(points[1]), "steps": steps, "loss": loss})
        return Message(RecordDict({"arrays": _record(model), "metrics": metrics}), reply_to=message)

    return app


class Sampled(FedsiftStrategy):
    """A strategy as one would use it, but that its process may be killed: nothing is tidied up."""

    story: Story

    def configure_train(self, *given: Any) -> Iterable[Message]:
        """Plan the round and have its data moved; then die, if this is the round."""
        messages = super().configure_train(*given)
        if self.story.server_fails(self.rounds.done + 1, int(self.periods[-1].sampled[0])):
            os.kill(os.getpid(), signal.SIGKILL)
        return messages

    def aggregate_train(self, *given: Any) -> tuple[ArrayRecord | None, MetricRecord | None]:
        """Average the models, and note the round."""
        arrays, metrics = super().aggregate_train(*given)
        told = {"trained": metrics["devices"], "joined": metrics["joined"], "lost": metrics["lost"]}
        self.story.note(_model(arrays), self.periods[-1], arrived=metrics["datapoints-moved"], **told)
        return arrays, metrics


def with_fedsift(options: argparse.Namespace, seed: int, folder: Path) -> None:
    """Train on the nodes that fedsift samples; the same call goes on after a failure."""
    with Client(options.url) as client:
        strategy = Sampled(
            client,
            fleet(options.devices, seed),
            sample_size=options.sample_size,
            rounds=options.rounds,
            learning_rate=RATE,
            round_timeout=options.timeout,
            rejoin_timeout=options.timeout,
            meet_timeout=3 * options.timeout,
            checkpoint=folder / "checkpoint",
        )
        strategy.story = Story(folder)
        simulate(strategy, nodes(folder, seed, options.timeout), options)


def at_random(options: argparse.Namespace, seed: int, folder: Path) -> None:
    """Train on nodes that Flower's own strategy samples, each on what it holds. Nothing fails."""
    random.seed(seed)
    share = options.sample_size / options.devices
    strategy = FedAvg(share, 0.0, min_train_nodes=options.sample_size, min_available_nodes=options.devices)

    def evaluate(round_: int, arrays: ArrayRecord) -> MetricRecord:
        if round_:
            Story(folder).note(_model(arrays))
        return MetricRecord()

    simulate(strategy, nodes(folder, seed, options.timeout), options, evaluate_fn=evaluate)


def simulate(strategy: Strategy, app: ClientApp, options: argparse.Namespace, **more: Any) -> None:
    """Train all rounds that are left."""
    logging.getLogger("flwr").setLevel(logging.WARNING)
    server = ServerApp()

    @server.main()
    def serve(grid: Grid, context: Context) -> None:
        strategy.start(grid, _record(new_model()), options.rounds, **more)

    backend = {"client_resources": {"num_cpus": 1, "num_gpus": 0.0}}
    run_simulation(server_app=server, client_app=app, num_supernodes=options.devices, backend_config=backend)


def _model(arrays: ArrayRecord) -> Model:
    return {key: array.numpy() for key, array in arrays.items()}


def _record(model: Model) -> ArrayRecord:
    return ArrayRecord({key: Array(np.asarray(array)) for key, array in model.items()})
