"""Rounds of training on the devices that fedsift samples: what the adapters to frameworks have in common.

A round is a period of a run. `begin` plans it and tells what the round before saw; `finish` notes what this one saw.
With a checkpoint folder, a server that died goes on with the round that it was in, with the same run and the same plan.
"""

import json
import os
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedsift_client.answers import Period
from fedsift_client.client import Client
from fedsift_client.errors import InputError
from fedsift_client.inputs import Given
from fedsift_client.runs import Run

__all__ = ["Model", "Pairs", "Rounds", "gradient_norm", "weighted_mean"]

Model = Mapping[str, NDArray[Any]]
# Datapoints by (sender, receiver).
Pairs = Mapping[tuple[int, int], int]


@dataclass
class _Saved:
    """What a restarted server needs, beside the model."""

    key: str = field(default_factory=lambda: uuid.uuid4().hex)
    run_id: str | None = None
    rounds_done: int = 0
    report: dict[str, Any] = field(default_factory=dict)
    lost: list[int] = field(default_factory=list)


class Rounds:
    """Plans rounds, and remembers how far they are.

    Args:
        client: of the service.
        given: the fleet or network, as `Client.plan` takes it.
        sample_size: how many devices train.
        rounds: how many rounds there will be.
        steps_per_round: steps of a round; an aggregation follows the last of them.
        checkpoint: a folder for what a restarted server needs; None keeps nothing.
        parameters: other fields of POST /v1/runs.
    """

    def __init__(
        self,
        client: Client,
        given: Given,
        *,
        sample_size: int,
        rounds: int,
        steps_per_round: int = 1,
        checkpoint: Path | str | None = None,
        **parameters: Any,
    ) -> None:
        if rounds < 1 or steps_per_round < 1:
            raise InputError("there must be at least one round, of at least one step")
        self.rounds = rounds
        self._client = client
        self._given = given
        self._asked = {
            "sample_size": sample_size,
            "horizon": rounds * steps_per_round,
            "aggregation_period": steps_per_round,
            "orders": True,
            **parameters,
        }
        self._folder = None if checkpoint is None else Path(checkpoint)
        self._saved = self._read()
        self._run: Run | None = None

    @property
    def done(self) -> int:
        """Rounds that are finished, those before a restart among them."""
        return self._saved.rounds_done

    @property
    def lost(self) -> frozenset[int]:
        """Devices that were reported as lost, those before a restart among them, and have not come back."""
        return frozenset(self._saved.lost)

    @property
    def run_id(self) -> str | None:
        """The run's id, once it has begun."""
        return self._saved.run_id

    def model(self) -> dict[str, NDArray[Any]] | None:
        """The model after the last finished round; None if there is no checkpoint of one."""
        if self._folder is None or not self.done:
            return None
        with np.load(self._folder / f"model-{self.done}.npz", allow_pickle=False) as file:
            return {name: file[name] for name in file.files}

    def begin(self) -> Period:
        """The plan of the next round. It may be asked for again, also after a restart."""
        if self.done >= self.rounds:
            raise InputError("all rounds are done")
        if self._run is None:
            self._run = self._found()
        if self._run.aggregation < self.done:
            self._run.aggregate(**self._saved.report)
        return self._run.period

    def finish(
        self,
        model: Model,
        *,
        gradient_norm: float | None,
        lost: Iterable[int] = (),
        joined: Iterable[int] = (),
        arrived: Pairs | None = None,
    ) -> None:
        """Note what a round saw; the next `begin` reports it.

        Args:
            model: after the round, for the checkpoint.
            gradient_norm: as measured; None if nobody has trained, then the last one holds.
            lost: devices that did not answer.
            joined: devices that have come back. One that is in `lost` too was restarted.
            arrived: what arrived of the round's orders; pairs that are missing delivered nothing. None: all of it.
        """
        if self._run is None:
            raise InputError("the round has not begun")
        last = self._saved.report.get("gradient_norm", 1.0)
        report: dict[str, Any] = {"gradient_norm": last if gradient_norm is None else float(gradient_norm)}
        gone, back = ({int(device) for device in devices} for devices in (lost, joined))
        gone -= self.lost
        back &= self.lost | gone
        report |= {"lost": sorted(gone)} if gone else {}
        report |= {"joined": sorted(back)} if back else {}
        report |= {} if arrived is None else _shortfall(self._run.period, arrived)
        still = sorted((self.lost | gone) - back)
        self._saved = _Saved(self._saved.key, self._run.id, self.done + 1, report, still)
        self._write(model)

    def _found(self) -> Run:
        if self._saved.run_id is not None:
            return self._client.run(self._saved.run_id)
        self._write(None)  # the key: a server that dies before it has the answer finds the same run
        run = self._client.start_run(self._given, **self._asked, idempotency_key=self._saved.key)
        self._saved.run_id = run.id
        self._write(None)
        return run

    def _read(self) -> _Saved:
        place = None if self._folder is None else self._folder / "rounds.json"
        if place is None or not place.exists():
            return _Saved()
        return _Saved(**json.loads(place.read_text(encoding="utf-8")))

    def _write(self, model: Model | None) -> None:
        """The model first: what names it is written when it is there. Both are replaced as a whole."""
        if self._folder is None:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        if model is not None:
            with (self._folder / "model.part").open("wb") as file:
                np.savez(file, **dict(model))  # type: ignore[arg-type]
                os.fsync(file.fileno())
            (self._folder / "model.part").replace(self._folder / f"model-{self.done}.npz")
        with (self._folder / "rounds.part").open("w", encoding="utf-8") as text:
            json.dump(self._saved.__dict__, text)
            text.flush()
            os.fsync(text.fileno())
        (self._folder / "rounds.part").replace(self._folder / "rounds.json")
        for old in self._folder.glob("model-*.npz"):
            if old.name != f"model-{self.done}.npz":
                old.unlink()


def gradient_norm(before: Model, after: Model, *, learning_rate: float, steps: float) -> float:
    """‖∇F̄‖ read off the change of the global model in so many steps of gradient descent."""
    change = sum(float(((np.asarray(after[name]) - np.asarray(before[name])) ** 2).sum()) for name in before)
    return float(np.sqrt(change)) / (learning_rate * max(steps, 1e-12))


def weighted_mean(models: Iterable[Model], weights: Iterable[float]) -> dict[str, NDArray[Any]]:
    """The mean of models by weight, eq. (3) of the paper; each array keeps its type."""
    pairs = list(zip(models, weights, strict=True))
    total = sum(weight for _, weight in pairs)
    if not total > 0:
        raise InputError("the weights add up to nothing")
    found: dict[str, NDArray[Any]] = {}
    for name in pairs[0][0]:
        mean = sum(np.asarray(model[name], np.float64) * (weight / total) for model, weight in pairs)
        found[name] = np.asarray(mean).astype(np.asarray(pairs[0][0][name]).dtype)
    return found


def _shortfall(period: Period, arrived: Pairs) -> dict[str, Any]:
    """What the service is told of pairs that delivered less than was ordered."""
    ordered: dict[tuple[int, int], int] = {}
    for order in period.orders:
        for one in order.sends:
            ordered[order.device, one.to] = ordered.get((order.device, one.to), 0) + one.count
    rows = [(*pair, arrived.get(pair, 0)) for pair, n in sorted(ordered.items()) if arrived.get(pair, 0) < n]
    if not rows:
        return {}
    source, target, datapoints = (list(column) for column in zip(*rows, strict=True))
    return {"delivered": {"source": source, "target": target, "datapoints": datapoints}}
