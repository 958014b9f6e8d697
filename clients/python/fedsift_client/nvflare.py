"""NVIDIA FLARE (nvflare 2.9): a controller whose clients fedsift samples, and what a client does with its orders.

A client's name is the id of its device. On the server, `FedsiftController` is the workflow. On a client, an executor
handles the tasks `train` and `fedsift_orders`; `OrdersExecutor` is one for the second.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from nvflare.apis.executor import Executor
from nvflare.apis.fl_constant import ReturnCode
from nvflare.apis.fl_context import FLContext
from nvflare.apis.shareable import Shareable, make_reply
from nvflare.apis.signal import Signal
from nvflare.app_common.abstract.fl_model import FLModel
from nvflare.app_common.utils.fl_model_utils import FLModelUtils
from nvflare.app_common.workflows.model_controller import ModelController

from fedsift_client.answers import Period
from fedsift_client.client import Client
from fedsift_client.errors import InputError
from fedsift_client.orders import Order
from fedsift_client.rounds import Rounds, gradient_norm, weighted_mean

__all__ = ["ORDERS_TASK", "FedsiftController", "OrdersExecutor"]

ORDERS_TASK = "fedsift_orders"


class FedsiftController(ModelController):
    """Train on the clients that fedsift samples, after their neighbours have sent them data; average by examples.

    A client that does not answer in time, or with an error, is reported as lost, and fedsift plans without it. Before
    each round a lost client that is connected gets an empty order; if it answers, it is reported as joined. At the
    start all clients get one: their processes may take long to start. An answer to `train` has the trained parameters,
    and in `meta` the numbers `num_examples`, `steps` (of gradient descent) and, if it likes, `loss`.

    Args:
        fleet: a fleet or network as a dict, or the id of a stored network; devices have ids, the clients' names.
        sample_size: how many clients train.
        rounds: how many rounds there will be.
        learning_rate: of the clients' training, to read the gradient's norm off the model's change.
        initial: the first model, lists of numbers by name; None takes the persistor's.
        url: of the service; None means FEDSIFT_URL. The API key is FEDSIFT_API_KEY.
        steps_per_round: of the plan; orders are carried out before a round's training.
        round_timeout: seconds that clients have for a round, a whole number.
        meet_timeout: seconds to wait for clients at the start; those that do not answer by then count as lost.
        rejoin_timeout: seconds that a lost client has before each round to answer that it is back.
        checkpoint: a folder; with it, a restarted server goes on where it was.
        parameters: other fields of POST /v1/runs.
        persistor_id: the component that keeps the model; empty for none.

    Attributes:
        joined: the devices that came back in the last round.
        lost: the devices that did not answer in it.
        moved: the datapoints that arrived by its orders.
    """

    def __init__(
        self,
        fleet: dict[str, Any] | str,
        *,
        sample_size: int,
        rounds: int,
        learning_rate: float,
        initial: dict[str, Any] | None = None,
        url: str | None = None,
        steps_per_round: int = 1,
        round_timeout: int = 600,
        meet_timeout: int = 120,
        rejoin_timeout: int = 5,
        checkpoint: str | None = None,
        parameters: dict[str, Any] | None = None,
        persistor_id: str = "",
    ) -> None:
        super().__init__(persistor_id=persistor_id, ignore_result_error=True)
        # FLARE writes a job's configuration from attributes that have the names of the arguments.
        self.fleet = fleet
        self.sample_size = sample_size
        self.rounds = rounds
        self.learning_rate = learning_rate
        self.initial = initial
        self.url = url
        self.steps_per_round = steps_per_round
        self.round_timeout = round_timeout
        self.meet_timeout = meet_timeout
        self.rejoin_timeout = rejoin_timeout
        self.checkpoint = checkpoint
        self.parameters = parameters
        self.joined: list[int] = []
        self.lost: list[int] = []
        self.moved = 0
        self._has_met = False

    def run(self) -> None:
        """Train all rounds that are left."""
        with Client(self.url) as client:
            rounds = Rounds(
                client,
                self.fleet,
                sample_size=self.sample_size,
                rounds=self.rounds,
                steps_per_round=self.steps_per_round,
                checkpoint=self.checkpoint,
                **(self.parameters or {}),
            )
            params = rounds.model() or self._first()
            try:
                while rounds.done < rounds.rounds:
                    params = self._train(rounds, params)
                    if self.persistor is not None:
                        self.save_model(FLModel(params=params))
            except _AbortedError:
                self.warning(f"the job was aborted in round {rounds.done + 1}; a restarted one goes on with it")

    def trained(self, period: Period, names: list[str], params: dict[str, Any]) -> None:
        """Called after each round with its plan, the clients that trained and the model: a place to evaluate."""

    def _first(self) -> dict[str, Any]:
        if self.initial is None:
            return dict(self.load_model().params)
        return {name: np.asarray(value, np.float64) for name, value in self.initial.items()}

    def _train(self, rounds: Rounds, before: dict[str, Any]) -> dict[str, Any]:
        period = rounds.begin()
        if period.device_ids is None:
            raise InputError("devices need ids, the names of FLARE's clients")
        present = {client.name for client in self.engine.get_clients()}
        lost = {number for number, name in enumerate(period.device_ids) if name not in present}
        if not self._has_met:  # the processes of clients may take long to start: that is no time of a round
            awaited = set(range(period.n_devices)) - rounds.lost - lost
            lost |= awaited - self._answering(period, awaited, self.meet_timeout)
            self._has_met = True
        joined = self._answering(period, rounds.lost - lost, self.rejoin_timeout)
        arrived, silent = self._deliver(period, (lost | rounds.lost) - joined)
        lost |= silent
        model = FLModel(params=before, current_round=rounds.done, total_rounds=rounds.rounds)
        sampled = [period.device_ids[device] for device in period.sampled.tolist() if device not in lost]
        answers = {one.meta["client_name"]: one for one in self._ask("train", model, sampled)}
        lost |= {period.number_of(name) for name in period.sampled_ids or () if name not in answers}
        after, norm = before, None
        if answers:
            weights = [float(one.meta["num_examples"]) for one in answers.values()]
            after = weighted_mean([one.params for one in answers.values()], weights)
            steps = np.average([float(one.meta.get("steps", 1)) for one in answers.values()], weights=weights)
            norm = gradient_norm(before, after, learning_rate=self.learning_rate, steps=float(steps))
        rounds.finish(after, gradient_norm=norm, lost=lost, joined=joined - lost, arrived=arrived)
        self.joined, self.lost, self.moved = sorted(joined - lost), sorted(lost), sum(arrived.values())
        self.info(f"round {rounds.done}: {sorted(answers)} trained, {self.moved} datapoints moved, lost: {self.lost}")
        self.trained(period, sorted(answers), after)
        return after

    def _answering(self, period: Period, devices: Iterable[int], timeout: int) -> set[int]:
        """Which of these devices answer an empty order."""
        names = [(period.device_ids or [])[device] for device in sorted(devices)]
        empty = {name: Order(period.number_of(name), (), name).told() for name in names}
        model = FLModel(params={}, meta={ORDERS_TASK: empty})
        answers = self._ask(ORDERS_TASK, model, names, timeout)
        return {period.number_of(answer.meta["client_name"]) for answer in answers}

    def _deliver(self, period: Period, lost: set[int]) -> tuple[dict[tuple[int, int], int], set[int]]:
        """Hand each client its order; what arrived by sender and receiver, and who did not answer."""
        orders = {order.id: order for order in period.orders if order.sends and order.device not in lost}
        if not orders:
            return {}, set()
        model = FLModel(params={}, meta={ORDERS_TASK: {name: order.told() for name, order in orders.items()}})
        arrived: dict[tuple[int, int], int] = {}
        silent = {order.device for order in orders.values()}
        for answer in self._ask(ORDERS_TASK, model, [name for name in orders if name is not None]):
            device = orders[answer.meta["client_name"]].device
            silent.discard(device)
            for to, count in answer.meta[ORDERS_TASK].items():
                arrived[device, int(to)] = int(count)
        return arrived, silent

    def _ask(self, task: str, model: FLModel, names: list[str], timeout: int | None = None) -> list[FLModel]:
        found: list[FLModel] = []
        if names:
            seconds = self.round_timeout if timeout is None else timeout
            found = self.send_model_and_wait(task, model, names, timeout=seconds)
        # An aborted job waits for nobody. Clients that have not answered are not lost, and the round is not over.
        if self.abort_signal.triggered:
            raise _AbortedError
        return found


class _AbortedError(Exception):
    """FLARE ends the job, in the middle of a round."""


class OrdersExecutor(Executor, ABC):
    """Carries out a client's orders; a subclass says how data is sent."""

    @abstractmethod
    def send(self, order: Order, fl_ctx: FLContext) -> Mapping[int, int]:
        """Carry an order out, with a `Courier`; return `courier.arrived(order)`."""

    def execute(self, task_name: str, shareable: Shareable, fl_ctx: FLContext, abort_signal: Signal) -> Shareable:
        """Answer the task `fedsift_orders`."""
        if task_name != ORDERS_TASK:
            return make_reply(ReturnCode.TASK_UNKNOWN)
        told = FLModelUtils.from_shareable(shareable).meta[ORDERS_TASK]
        order = Order.of(told[fl_ctx.get_identity_name()])
        arrived = {str(int(to)): int(count) for to, count in self.send(order, fl_ctx).items()}
        return FLModelUtils.to_shareable(FLModel(params={}, meta={ORDERS_TASK: arrived}))
