"""Plans and periods of runs as numpy arrays, dense matrices or frames."""

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fedsift_client.errors import InputError, MissingPackageError, ProtocolError
from fedsift_client.orders import Order, orders_of

__all__ = ["Comparison", "Period", "Plan", "Step", "summary_of"]

PlanT = TypeVar("PlanT", bound="Plan")

_TRANSFERS = ("source", "target", "fraction", "datapoints")


@dataclass(frozen=True)
class Step:
    """One step: transfer j moves the share `fraction[j]` of the data of device `source[j]` to device `target[j]`.

    Attributes:
        step: its number, from 1.
        n_devices: how many devices the network has.
        source: shape (transfers,), as the next three.
        target: who receives.
        fraction: Φ of the transfer.
        datapoints: how many datapoints that are.
        sampled_data: D_i(t) after this step, in the order of the plan's `sampled`.
        received: useful datapoints received, likewise.
        answer: the other fields of the service's answer, such as `objective` and `relative_gap`.
    """

    step: int
    n_devices: int
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    fraction: NDArray[np.float64]
    datapoints: NDArray[np.float64]
    sampled_data: NDArray[np.float64]
    received: NDArray[np.float64]
    answer: Mapping[str, Any]

    def matrix(self) -> NDArray[np.float64]:
        """Φ(t), dense: row k has what device k sends. Shape (devices, devices)."""
        dense = np.zeros((self.n_devices, self.n_devices))
        dense[self.source, self.target] = self.fraction
        return dense


@dataclass(frozen=True)
class Plan:
    """Who trains, and what is sent in each step.

    Attributes:
        sampled: the devices that train, in the order of choice.
        scores: the sampler's, likewise; empty where it chose nothing.
        steps: one for each step.
        answer: the other fields of the service's answer.
    """

    sampled: NDArray[np.int64]
    scores: NDArray[np.float64]
    steps: tuple[Step, ...]
    answer: Mapping[str, Any]

    @classmethod
    def of(cls: type[PlanT], answer: Mapping[str, Any]) -> PlanT:
        """A plan from the service's JSON."""
        try:
            n_devices = int(answer["n_devices"])
            steps = tuple(_step(one, n_devices) for one in answer["steps"])
            rest = {name: value for name, value in answer.items() if name not in {"sampled", "scores", "steps"}}
            sampled = np.asarray(answer["sampled"], np.int64)
            return cls(sampled, np.asarray(answer.get("scores", []), np.float64), steps, rest)
        except (KeyError, TypeError, ValueError) as error:
            raise ProtocolError("the answer is not a plan") from error

    @classmethod
    def of_archive(cls, body: bytes) -> "Plan":
        """A plan from the service's archive of arrays."""
        try:
            with np.load(io.BytesIO(body), allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            answer = json.loads(arrays["summary"].tobytes())
            ends = arrays["offsets"].tolist()
            steps = []
            for t, told in enumerate(answer.pop("steps")):
                part = slice(ends[t], ends[t + 1])
                columns = {name: arrays[name][part] for name in _TRANSFERS}
                rows = {name: arrays[name][t] for name in ("sampled_data", "received")}
                steps.append(Step(int(told["step"]), int(answer["n_devices"]), **columns, **rows, answer=told))
            answer |= _orders(arrays)
            return cls(arrays["sampled"].astype(np.int64), arrays["scores"], tuple(steps), answer)
        except (KeyError, TypeError, ValueError, OSError, IndexError) as error:
            raise ProtocolError("the answer is not an archive with a plan") from error

    @property
    def id(self) -> str | None:
        """Its id, if it is kept."""
        return self.answer.get("id")

    @property
    def status(self) -> str:
        """What is proven of the plan: `optimal`, `step_optimal` (see `horizon_gap`), `feasible` or `time_limit`."""
        return str(self.answer["status"])

    @property
    def horizon_gap(self) -> float:
        """By what share at most a plan of all steps together could have a lower objective, for the same devices."""
        return float(self.answer["horizon_gap"])

    @property
    def objective(self) -> float:
        """The mean objective of its steps."""
        return float(self.answer["objective"])

    @property
    def n_devices(self) -> int:
        """How many devices the network has."""
        return int(self.answer["n_devices"])

    @property
    def device_ids(self) -> list[str] | None:
        """The id of each device by its number, if devices have ids."""
        return self.answer.get("device_ids")

    @property
    def sampled_ids(self) -> list[str] | None:
        """The ids of those that train."""
        return self.answer.get("sampled_ids")

    @property
    def orders(self) -> tuple[Order, ...]:
        """What each device is to send, if the plan was asked for with `orders=True`."""
        told = self.answer.get("orders")
        if told is None:
            raise InputError("this plan was asked for without orders=True")
        return orders_of(told)

    def order_of(self, device: int | str) -> Order:
        """The order of one device, by its number or its id; it may be empty."""
        number = self.number_of(device)
        for order in self.orders:
            if order.device == number:
                return order
        return Order(number, (), None if self.device_ids is None else self.device_ids[number])

    def number_of(self, device: int | str) -> int:
        """The number of the device with this id, or the number itself."""
        if isinstance(device, str):
            if self.device_ids is None or device not in self.device_ids:
                raise InputError(f"no device has the id {device!r}")
            return self.device_ids.index(device)
        return device

    def matrices(self) -> NDArray[np.float64]:
        """Φ(1..T), dense. Shape (steps, devices, devices)."""
        return np.stack([step.matrix() for step in self.steps])

    def frame(self) -> Any:
        """All transfers as a pandas DataFrame: step, source, target, fraction, datapoints, and ids if there are any."""
        pd = _pandas()
        columns = {name: np.concatenate([getattr(step, name) for step in self.steps]) for name in _TRANSFERS}
        steps = np.repeat([step.step for step in self.steps], [step.source.size for step in self.steps])
        frame = pd.DataFrame({"step": steps, **columns})
        if self.device_ids is not None:
            names = np.asarray(self.device_ids, object)
            frame.insert(2, "source_id", names[columns["source"]])
            frame.insert(4, "target_id", names[columns["target"]])
        return frame


@dataclass(frozen=True)
class Period(Plan):
    """The steps of a run between two aggregations."""

    @property
    def aggregation(self) -> int:
        """The aggregation that it follows; 0 for the first period."""
        return int(self.answer["aggregation"])

    @property
    def state(self) -> str:
        """`active`, or `finished` if the run ends with this period."""
        return str(self.answer["state"])

    @property
    def replaced(self) -> list[dict[str, Any]]:
        """Which lost device was replaced by which, as the service tells it: `{"lost": 7, "by": 12}`."""
        return list(self.answer.get("replaced") or [])


@dataclass(frozen=True)
class Comparison:
    """Plans side by side: `rows` for every combination, `groups` of those that differ by seed alone.

    Both have the service's names; docs/api.md of the service explains them.
    """

    rows: list[dict[str, Any]]
    groups: list[dict[str, Any]]
    answer: Mapping[str, Any]

    @classmethod
    def of(cls, answer: Mapping[str, Any]) -> "Comparison":
        """The comparison in an answer."""
        return cls(answer["rows"], answer["groups"], {k: v for k, v in answer.items() if k not in {"rows", "groups"}})

    @property
    def complete(self) -> bool:
        """Whether every row was reached within the time limit."""
        return bool(self.answer["complete"])

    def frame(self) -> Any:
        """The rows as a pandas DataFrame; fields within fields have names as `difference.objective`."""
        return _pandas().json_normalize(self.rows)

    def group_frame(self) -> Any:
        """The groups likewise, as `objective.mean`."""
        return _pandas().json_normalize(self.groups)


def summary_of(body: bytes) -> dict[str, Any]:
    """What an archive of the service says beside its arrays."""
    try:
        with np.load(io.BytesIO(body), allow_pickle=False) as file:
            found: dict[str, Any] = json.loads(file["summary"].tobytes())
    except (KeyError, ValueError, OSError) as error:
        raise ProtocolError("the answer is not an archive of fedsift's") from error
    return found


def _pandas() -> Any:
    try:
        import pandas as pd  # noqa: PLC0415 - optional
    except ImportError as error:
        raise MissingPackageError("frames need pandas: pip install 'fedsift-client[frames]'") from error
    return pd


def _orders(arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """The orders of an archive in the form that JSON has, if it has any."""
    if "order_source" not in arrays:
        return {}
    names = {"step": "order_step", "to": "order_target", "first": "order_first", "count": "order_count"}
    columns = [arrays[name].tolist() for name in names.values()]
    found: dict[int, list[dict[str, int]]] = {}
    for device, *row in zip(arrays["order_source"].tolist(), *columns, strict=True):
        found.setdefault(device, []).append(dict(zip(names, row, strict=True)))
    return {"orders": [{"device": device, "sends": sends} for device, sends in found.items()]}


def _step(told: Mapping[str, Any], n_devices: int) -> Step:
    transfers = told["transfers"]
    rest = {name: value for name, value in told.items() if name not in {"transfers", "sampled_data", "received"}}
    return Step(
        step=int(told["step"]),
        n_devices=n_devices,
        source=np.asarray(transfers["source"], np.int64),
        target=np.asarray(transfers["target"], np.int64),
        fraction=np.asarray(transfers["fraction"], np.float64),
        datapoints=np.asarray(transfers["datapoints"], np.float64),
        sampled_data=np.asarray(told["sampled_data"], np.float64),
        received=np.asarray(told["received"], np.float64),
        answer=rest,
    )
