"""A Flower strategy that lets fedsift say who trains, and who sends them data.

Every round it asks fedsift for the next step of a run. Only the sampled nodes get a training message; each finds its
offloading row in a ConfigRecord: which devices have sent it how many datapoints so far. After a round it reports the
gradient's norm, which it reads off the change of the model, and fedsift plans on with it.

Flower pins its own web framework, so this lives in an environment of its own: `make test-flower`.
"""

import time
from collections.abc import Iterable
from logging import INFO
from typing import Any

import numpy as np
import requests
from flwr.app import ArrayRecord, ConfigRecord, Message, MetricRecord, RecordDict
from flwr.common.logger import log
from flwr.serverapp import Grid
from flwr.serverapp.strategy import Strategy

__all__ = ["FedsiftStrategy"]


class FedsiftStrategy(Strategy):
    """Train on the nodes that fedsift samples; average them by the datapoints they trained on.

    Attributes:
        url: where fedsift answers.
        network: devices and topology as POST /v1/runs takes them; device i is the node whose query says so.
        sample_size: how many nodes train.
        rounds: how many rounds there will be; a round is a step, and an aggregation follows each.
        learning_rate: of the nodes' training, to read the gradient off the model's change.
    """

    def __init__(
        self, url: str, network: dict[str, Any], *, sample_size: int, rounds: int, learning_rate: float
    ) -> None:
        self.url = url.rstrip("/")
        self.network = network
        self.sample_size = sample_size
        self.rounds = rounds
        self.learning_rate = learning_rate
        self.period: dict[str, Any] = {}
        self.nodes: dict[int, int] = {}
        self.received: dict[int, dict[int, float]] = {}
        self.model: ArrayRecord | None = None
        self.gradient_norm = 1.0

    def summary(self) -> None:
        """Log what this is."""
        log(INFO, "\t├──> fedsift at %s samples %s nodes", self.url, self.sample_size)

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Ask fedsift for this round's step; send the model and the offloading rows to the sampled nodes alone."""
        self.model = arrays
        if server_round == 1:
            self.nodes = self._meet(grid)
            body = {
                "network": self.network,
                "sample_size": self.sample_size,
                "horizon": self.rounds,
                "aggregation_period": 1,
            }
            self.period = self._ask("/v1/runs", body)
        else:
            report = {"aggregation": server_round - 1, "gradient_norm": self.gradient_norm}
            self.period = self._ask(f"/v1/runs/{self.period['id']}/aggregations", report)
        transfers = self.period["steps"][0]["transfers"]
        columns = (transfers["source"], transfers["target"], transfers["datapoints"])
        for source, target, datapoints in zip(*columns, strict=True):
            row = self.received.setdefault(target, {})
            row[source] = row.get(source, 0.0) + datapoints
        return [self._message(device, arrays, config, server_round) for device in self.period["sampled"]]

    def aggregate_train(
        self, server_round: int, replies: Iterable[Message]
    ) -> tuple[ArrayRecord | None, MetricRecord | None]:
        """Average the models by datapoints (eq. 3), and note the gradient's norm and who answered."""
        answered = [reply for reply in replies if reply.has_content()]
        if not answered or self.model is None:
            return None, None
        metrics = [reply.content["metrics"] for reply in answered]
        weights = np.array([metric["datapoints"] for metric in metrics], dtype=float)
        models = [reply.content["arrays"].to_numpy_ndarrays() for reply in answered]
        mean = [np.average(layers, axis=0, weights=weights) for layers in zip(*models, strict=True)]
        before = self.model.to_numpy_ndarrays()
        change = np.sqrt(sum(float(((new - old) ** 2).sum()) for new, old in zip(mean, before, strict=True)))
        batches = float(np.average([metric["batches"] for metric in metrics], weights=weights))
        self.gradient_norm = change / (self.learning_rate * batches)
        summary = {
            "devices": sorted(int(metric["device"]) for metric in metrics),
            "datapoints": weights.tolist(),
            "gradient_norm": self.gradient_norm,
        }
        return ArrayRecord(mean), MetricRecord(summary)

    def configure_evaluate(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Nobody: the server evaluates."""
        return []

    def aggregate_evaluate(self, server_round: int, replies: Iterable[Message]) -> MetricRecord | None:
        """Nothing to do."""
        return None

    def _ask(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = requests.post(self.url + path, json=body, timeout=60)
        if not answer.ok:
            raise RuntimeError(f"fedsift refused: {answer.text}")
        period: dict[str, Any] = answer.json()
        return period

    def _meet(self, grid: Grid) -> dict[int, int]:
        """Wait for all nodes, and ask each which device it is."""
        while len(nodes := list(grid.get_node_ids())) < len(self.network["devices"]["data"]):
            time.sleep(0.2)
        queries = [Message(content=RecordDict(), message_type="query", dst_node_id=node) for node in nodes]
        replies = list(grid.send_and_receive(queries))
        for reply in replies:
            if reply.has_error():
                raise RuntimeError(f"a node did not say which device it is: {reply.error.reason}")
        return {int(reply.content["metrics"]["device"]): reply.metadata.src_node_id for reply in replies}

    def _message(self, device: int, arrays: ArrayRecord, config: ConfigRecord, server_round: int) -> Message:
        row = self.received.get(device, {})
        offloading = ConfigRecord({"source": list(row), "datapoints": list(row.values())})
        settings = ConfigRecord({**config, "server-round": server_round})
        content = RecordDict({"arrays": arrays, "config": settings, "offloading": offloading})
        return Message(content=content, message_type="train", dst_node_id=self.nodes[device])
