"""What runs in NVIDIA FLARE's processes: the sites, and two controllers that note the accuracy of every round."""

import json
import random
import time
from pathlib import Path
from typing import Any

from digits import accuracy, new_model, number, train
from nvflare.apis.fl_context import FLContext
from nvflare.apis.shareable import Shareable
from nvflare.apis.signal import Signal
from nvflare.app_common.abstract.fl_model import FLModel
from nvflare.app_common.utils.fl_model_utils import FLModelUtils
from nvflare.app_common.workflows.model_controller import ModelController
from radio import Radio

from fedsift_client import Order, Period
from fedsift_client.nvflare import ORDERS_TASK, FedsiftController, OrdersExecutor
from fedsift_client.rounds import weighted_mean


class Site(OrdersExecutor):
    """Trains and sends. The one that dies does not answer any more, or if not `silent` answers with an error.

    While it is dead it answers an empty order, by which the server asks who is back, with an error.
    """

    def __init__(self, folder: str, seed: int, dies_in: int, seconds: float, *, silent: bool) -> None:
        super().__init__()
        self.folder, self.seed, self.dies_in, self.seconds, self.silent = folder, seed, dies_in, seconds, silent

    def send(self, order: Order, fl_ctx: FLContext) -> dict[int, int]:
        """Put the order's datapoints into the receivers' folders."""
        return self._radio.send(order)

    def execute(self, task_name: str, shareable: Shareable, fl_ctx: FLContext, abort_signal: Signal) -> Shareable:
        """Train, or carry out an order."""
        device, model = number(fl_ctx.get_identity_name()), FLModelUtils.from_shareable(shareable)
        if self._radio.dies(device, now=task_name == "train" and model.current_round == self.dies_in):
            asked = model.meta.get(ORDERS_TASK, {}).get(fl_ctx.get_identity_name(), {"sends": "to train"})["sends"]
            time.sleep(self.seconds if self.silent and asked else 0)
            raise SystemError("this site is dead")
        if task_name == ORDERS_TASK:
            return super().execute(task_name, shareable, fl_ctx, abort_signal)
        points = self._radio.points(device)
        params, steps, loss = train(model.params, points, int(model.current_round))
        meta = {"num_examples": len(points[1]), "steps": steps, "loss": loss}
        return FLModelUtils.to_shareable(FLModel(params=params, meta=meta))

    @property
    def _radio(self) -> Radio:
        return Radio(Path(self.folder), self.seed)


class Sampled(FedsiftController):
    """Clients that fedsift samples."""

    def trained(self, period: Period, names: list[str], params: dict[str, Any]) -> None:
        """Note the round."""
        told = {
            "accuracy": accuracy(params),
            "sampled": period.sampled.tolist(),
            "trained": sorted(number(one) for one in names),
            "joined": self.joined,
            "replaced": period.replaced,
            "ordered": sum(one.count for order in period.orders for one in order.sends),
        }
        folder = Path(str(self.checkpoint)).parent
        note(folder / "report.jsonl", told)
        if len((folder / "report.jsonl").read_text().splitlines()) == self.rounds // 2 + 1:
            Radio(folder, 0).come_back()


class AtRandom(ModelController):
    """Clients that FLARE's own `sample_clients` draws, each training on what it holds."""

    def __init__(self, report: str, sample_size: int, rounds: int, seed: int, round_timeout: int) -> None:
        super().__init__(persistor_id="", ignore_result_error=True)
        self.report, self.sample_size, self.rounds = report, sample_size, rounds
        self.seed, self.round_timeout = seed, round_timeout

    def run(self) -> None:
        """Train all rounds."""
        random.seed(self.seed)
        params = new_model()
        for current in range(self.rounds):
            model = FLModel(params=params, current_round=current, total_rounds=self.rounds)
            names = self.sample_clients(self.sample_size)
            answers = self.send_model_and_wait("train", model, names, timeout=self.round_timeout)
            if answers:
                weights = [answer.meta["num_examples"] for answer in answers]
                params = weighted_mean([answer.params for answer in answers], weights)
            note(Path(self.report), {"accuracy": accuracy(params)})


def note(report: Path, told: dict[str, Any]) -> None:
    """Append a line of JSON."""
    with report.open("a") as file:
        file.write(json.dumps(told) + "\n")
