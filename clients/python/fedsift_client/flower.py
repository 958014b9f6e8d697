"""Flower (flwr 1.42): a strategy whose nodes fedsift samples, and what a node does with its orders.

On the server:

    strategy = FedsiftStrategy(Client(), fleet, sample_size=5, rounds=20, learning_rate=0.1)
    strategy.start(grid, ArrayRecord(model))

On the nodes, beside a `train` function that answers `num-examples`:

    app = ClientApp()
    attend(app, device=lambda context: "cam-17", send=send)
"""

import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from logging import INFO, WARNING
from pathlib import Path
from typing import Any

import numpy as np
from flwr.app import Array, ArrayRecord, ConfigRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.common.logger import log
from flwr.serverapp import Grid
from flwr.serverapp.strategy import Result, Strategy

from fedsift_client.answers import Period
from fedsift_client.client import Client
from fedsift_client.errors import FedsiftError, InputError
from fedsift_client.inputs import Given
from fedsift_client.orders import Order
from fedsift_client.rounds import Model, Rounds, gradient_norm, weighted_mean

__all__ = ["FedsiftStrategy", "attend"]

_DEVICE, _ORDERS = "fedsift_device", "fedsift_orders"


@dataclass(frozen=True)
class _Round:
    period: Period
    arrays: ArrayRecord
    arrived: dict[tuple[int, int], int]


class FedsiftStrategy(Strategy):
    """Train on the nodes that fedsift samples, after their neighbours have sent them data; average by examples.

    A node that does not answer in time is reported as lost, and fedsift plans without it. Before each round, nodes that
    are new or were lost are asked who they are; a device that answers again is reported as joined.

    Args:
        client: of the service.
        given: the fleet or network, as `Client.plan` takes it. A node says which of its devices it is.
        sample_size: how many nodes train.
        rounds: how many rounds there will be.
        learning_rate: of the nodes' training, to read the gradient's norm off the model's change. Nodes may answer
            `steps`, the steps of gradient descent that they took, and `loss`.
        steps_per_round: of the plan; orders are carried out before a round's training.
        round_timeout: seconds that nodes have for a round.
        meet_timeout: seconds to wait for nodes at the start; those that are missing by then count as lost.
        rejoin_timeout: seconds that a lost node has before each round to say that it is back.
        checkpoint: a folder; with it, a restarted server app goes on where it was.
        parameters: other fields of POST /v1/runs.

    Attributes:
        periods: the plan of each round since the start.
        trained: the devices that trained in each of them.
        joined: the devices that came back in each of them.
    """

    def __init__(
        self,
        client: Client,
        given: Given,
        *,
        sample_size: int,
        rounds: int,
        learning_rate: float,
        steps_per_round: int = 1,
        round_timeout: float = 600.0,
        meet_timeout: float = 120.0,
        rejoin_timeout: float = 5.0,
        checkpoint: Path | str | None = None,
        **parameters: Any,
    ) -> None:
        self.rounds = Rounds(
            client,
            given,
            sample_size=sample_size,
            rounds=rounds,
            steps_per_round=steps_per_round,
            checkpoint=checkpoint,
            **parameters,
        )
        self.learning_rate = learning_rate
        self.round_timeout = round_timeout
        self.meet_timeout = meet_timeout
        self.rejoin_timeout = rejoin_timeout
        self.periods: list[Period] = []
        self.trained: list[list[int]] = []
        self.joined: list[list[int]] = []
        self._nodes: dict[int, int] = {}
        # Since the last report: who did not answer, and who is back.
        self._silent: set[int] = set()
        self._joined: set[int] = set()
        self._round: _Round | None = None

    def summary(self) -> None:
        """Log what this is."""
        log(INFO, "\t├──> fedsift samples the nodes; %s of %s rounds are done", self.rounds.done, self.rounds.rounds)

    def start(self, grid: Grid, initial_arrays: ArrayRecord, num_rounds: int | None = None, **options: Any) -> Result:
        """Train the rounds that are left; after a restart from the model of the checkpoint.

        Rounds of the result count from this start. `num_rounds` may be left out: the strategy knows.
        """
        if num_rounds not in {None, self.rounds.rounds}:
            raise InputError(f"the strategy was made for {self.rounds.rounds} rounds")
        model = self.rounds.model()
        arrays = initial_arrays if model is None else _record(model)
        left = self.rounds.rounds - self.rounds.done
        return super().start(grid, arrays, left, **{"timeout": self.round_timeout, **options})

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Plan the round, have its orders carried out, and send the model to the sampled nodes alone."""
        period = self.rounds.begin()
        self.periods.append(period)
        if self._nodes:
            self._welcome(grid, period, set(grid.get_node_ids()) - self._present(), self.rejoin_timeout)
        else:
            self._meet(grid, period)
        self._round = _Round(period, arrays, self._deliver(period, grid))
        settings = ConfigRecord({**config, "server-round": self.rounds.done + 1})
        content = RecordDict({"arrays": arrays, "config": settings})
        return [self._message(device, "train", content) for device in period.sampled.tolist() if device in self._nodes]

    def aggregate_train(
        self, server_round: int, replies: Iterable[Message]
    ) -> tuple[ArrayRecord | None, MetricRecord | None]:
        """Average the models, and note the gradient's norm and who did not answer."""
        if self._round is None:
            raise InputError("a round ends that has not begun")
        period, before = self._round.period, _model(self._round.arrays)
        answers = {self._device_of(one): one.content for one in replies if not one.has_error()}
        self._lose(set(period.sampled.tolist()) - set(answers))
        metrics = {device: _metrics(content) for device, content in answers.items()}
        weights = [float(metrics[device]["num-examples"]) for device in answers]
        after, norm = before, None
        if answers:
            after = weighted_mean([_model(content["arrays"]) for content in answers.values()], weights)
            steps = np.average([float(metrics[device].get("steps", 1)) for device in answers], weights=weights)
            norm = gradient_norm(before, after, learning_rate=self.learning_rate, steps=float(steps))
        arrived = self._round.arrived
        lost, joined = self._silent, self._joined
        self.rounds.finish(after, gradient_norm=norm, lost=lost, joined=joined, arrived=arrived)
        told: dict[str, Any] = {
            "devices": sorted(answers),
            "num-examples": [int(metrics[device]["num-examples"]) for device in sorted(answers)],
            "lost": sorted(lost),
            "joined": sorted(joined),
            "datapoints-moved": sum(arrived.values()),
        }
        self._silent, self._joined = set(), set()
        self.trained.append(sorted(answers))
        self.joined.append(sorted(joined))
        told |= {} if norm is None else {"gradient-norm": norm}
        losses = [metrics[device].get("loss") for device in answers]
        if losses and all(loss is not None for loss in losses):
            told["loss"] = float(np.average(np.asarray(losses, float), weights=weights))
        return (_record(after) if answers else None), MetricRecord(told)

    def configure_evaluate(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Nobody: let the server evaluate, or override this."""
        return []

    def aggregate_evaluate(self, server_round: int, replies: Iterable[Message]) -> MetricRecord | None:
        """Nothing to do."""
        return None

    def _meet(self, grid: Grid, period: Period) -> None:
        """Ask nodes which device they are, until all but the lost ones are known or the time is over."""
        deadline = time.monotonic() + self.meet_timeout
        asked: set[int] = set()
        awaited = set(range(period.n_devices)) - self.rounds.lost
        while not awaited <= set(self._nodes) and time.monotonic() < deadline:
            new = set(grid.get_node_ids()) - asked
            asked |= new
            self._welcome(grid, period, new, max(deadline - time.monotonic(), 0.1))
            if not awaited <= set(self._nodes):
                time.sleep(0.2)
        if not self._nodes:
            raise FedsiftError("no node has said which device it is: does its app call `attend`?")
        self._lose(awaited - set(self._nodes))

    def _welcome(self, grid: Grid, period: Period, nodes: set[int], timeout: float) -> None:
        """Ask these nodes which device they are; a device that was lost has joined."""
        queries = [Message(RecordDict(), node, f"query.{_DEVICE}", ttl=timeout) for node in sorted(nodes)]
        for reply in grid.send_and_receive(queries, timeout=timeout) if queries else ():
            if reply.has_error():
                continue
            device = period.number_of(reply.content["fedsift"]["device"])
            if device in self._nodes and device not in self.rounds.lost:
                self._silent.add(device)  # another node has taken its place: it was restarted
            if device in self._nodes or device in self.rounds.lost:
                self._joined.add(device)
                log(INFO, "\t├──> device %s is back", device)
            self._nodes[device] = reply.metadata.src_node_id

    def _present(self) -> set[int]:
        """The nodes of devices that are not lost."""
        return {node for device, node in self._nodes.items() if device not in self._absent()}

    def _absent(self) -> set[int]:
        return set(self.rounds.lost | self._silent) - self._joined

    def _deliver(self, period: Period, grid: Grid) -> dict[tuple[int, int], int]:
        """Hand each node its order, and collect what arrived of it, by sender and receiver."""
        messages = []
        for order in period.orders:
            if order.sends and order.device in self._nodes and order.device not in self._absent():
                content = RecordDict({"fedsift": ConfigRecord({"order": json.dumps(order.told())})})
                messages.append(self._message(order.device, f"query.{_ORDERS}", content))
        arrived: dict[tuple[int, int], int] = {}
        answered: set[int] = set()
        for reply in grid.send_and_receive(messages, timeout=self.round_timeout) if messages else ():
            if not reply.has_error():
                told, device = reply.content["fedsift"], self._device_of(reply)
                answered.add(device)
                for to, count in zip(told["to"], told["count"], strict=True):
                    arrived[device, int(to)] = arrived.get((device, int(to)), 0) + int(count)
        self._lose({self._device_at(one.metadata.dst_node_id) for one in messages} - answered)
        return arrived

    def _lose(self, devices: set[int]) -> None:
        new = devices - self._absent()
        if new:
            log(WARNING, "\t├──> these devices did not answer: %s", sorted(new))
        self._silent |= new
        self._joined -= new

    def _message(self, device: int, kind: str, content: RecordDict) -> Message:
        return Message(content, self._nodes[device], kind, ttl=self.round_timeout)

    def _device_of(self, reply: Message) -> int:
        return self._device_at(reply.metadata.src_node_id)

    def _device_at(self, node: int) -> int:
        return next(device for device, place in self._nodes.items() if place == node)


def attend(
    app: ClientApp,
    device: Callable[[Context], int | str],
    send: Callable[[Order, Context], Mapping[int, int]],
) -> None:
    """Let a node's app answer the strategy.

    Args:
        app: the node's app.
        device: which device the node is, by its number or id.
        send: carries an order out, with a `Courier`; it returns `courier.arrived(order)`.
    """

    @app.query(_DEVICE)
    def introduce(message: Message, context: Context) -> Message:
        content = RecordDict({"fedsift": ConfigRecord({"device": device(context)})})
        return Message(content, reply_to=message)

    @app.query(_ORDERS)
    def carry_out(message: Message, context: Context) -> Message:
        order = Order.of(json.loads(str(message.content["fedsift"]["order"])))
        arrived = send(order, context)
        told = {"to": [int(to) for to in arrived], "count": [int(count) for count in arrived.values()]}
        return Message(RecordDict({"fedsift": ConfigRecord(told)}), reply_to=message)


def _metrics(content: RecordDict) -> dict[str, Any]:
    """All metrics of an answer, whatever its records are called."""
    found = {name: value for record in content.metric_records.values() for name, value in record.items()}
    if "num-examples" not in found:
        raise InputError("a node must answer the metric num-examples: models are averaged by it")
    return found


def _model(arrays: ArrayRecord) -> Model:
    return {name: array.numpy() for name, array in arrays.items()}


def _record(model: Model) -> ArrayRecord:
    return ArrayRecord({name: Array(np.asarray(array)) for name, array in model.items()})
