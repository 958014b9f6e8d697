"""What runs in NVIDIA FLARE's processes: the sites, and two controllers that note every round."""

import random
import time
from pathlib import Path
from typing import Any

from digits import new_model, number, train
from nvflare.apis.fl_constant import ReturnCode
from nvflare.apis.fl_context import FLContext
from nvflare.apis.shareable import Shareable, make_reply
from nvflare.apis.signal import Signal
from nvflare.app_common.abstract.fl_model import FLModel
from nvflare.app_common.utils.fl_model_utils import FLModelUtils
from nvflare.app_common.workflows.model_controller import ModelController
from radio import Radio
from story import Story

from fedsift_client import Order, Period
from fedsift_client.nvflare import ORDERS_TASK, FedsiftController, OrdersExecutor
from fedsift_client.rounds import weighted_mean


class Site(OrdersExecutor):
    """Trains and sends."""

    def __init__(self, folder: str, seed: int, timeout: int) -> None:
        super().__init__()
        self.folder, self.seed, self.timeout = folder, seed, timeout

    def send(self, order: Order, fl_ctx: FLContext) -> dict[int, int]:
        """Put the order's datapoints into the receivers' folders."""
        return Radio(Path(self.folder), self.seed).send(order)

    def execute(self, task_name: str, shareable: Shareable, fl_ctx: FLContext, abort_signal: Signal) -> Shareable:
        """Train, or carry out an order."""
        device = number(fl_ctx.get_identity_name())
        if Story(Path(self.folder)).dead() == device:
            time.sleep(self.timeout + 1 if task_name == "train" else 0)  # nobody waits any more
            return make_reply(ReturnCode.EXECUTION_EXCEPTION)
        if task_name == ORDERS_TASK:
            return super().execute(task_name, shareable, fl_ctx, abort_signal)
        model = FLModelUtils.from_shareable(shareable)
        points = Radio(Path(self.folder), self.seed).points(device)
        params, steps, loss = train(model.params, points, int(model.current_round))
        meta = {"num_examples": len(points[1]), "steps": steps, "loss": loss}
        return FLModelUtils.to_shareable(FLModel(params=params, meta=meta))


class Sampled(FedsiftController):
    """A controller as one would use it, but that it fails in a round."""

    def send_model_and_wait(self, task_name: str, data: FLModel, targets: list[str], **more: Any) -> list[FLModel]:
        """Data has moved when the model is sent; then fail, if this is the round."""
        if task_name == "train" and self.story.server_fails(data.current_round + 1, number(targets[0])):
            self.panic("this server fails")
        return super().send_model_and_wait(task_name, data, targets, **more)

    def trained(self, period: Period, names: list[str], params: dict[str, Any]) -> None:
        """Note the round."""
        told = {"trained": [number(one) for one in names], "joined": self.joined, "lost": self.lost}
        self.story.note(params, period, arrived=self.moved, **told)

    @property
    def story(self) -> Story:
        """Beside the checkpoint."""
        return Story(Path(str(self.checkpoint)).parent)


class AtRandom(ModelController):
    """Clients that FLARE's own `sample_clients` draws, each training on what it holds."""

    def __init__(self, folder: str, sample_size: int, rounds: int, seed: int, timeout: int) -> None:
        super().__init__(persistor_id="", ignore_result_error=True)
        self.folder, self.sample_size, self.rounds = folder, sample_size, rounds
        self.seed, self.timeout = seed, timeout

    def run(self) -> None:
        """Train all rounds."""
        random.seed(self.seed)
        params = new_model()
        for current in range(self.rounds):
            model = FLModel(params=params, current_round=current, total_rounds=self.rounds)
            names = self.sample_clients(self.sample_size)
            answers = self.send_model_and_wait("train", model, names, timeout=self.timeout)
            if answers:
                weights = [answer.meta["num_examples"] for answer in answers]
                params = weighted_mean([answer.params for answer in answers], weights)
            Story(Path(self.folder)).note(params)
