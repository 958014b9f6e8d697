"""A fleet as its owner knows it, in seconds, bytes and megabits, and the network of the paper that it amounts to.

| paper | from | unit |
|---|---|---|
| D_i | `datapoints` | datapoints |
| p_i | `epochs_per_step` / `samples_per_second` | seconds of computing for a datapoint |
| P_i | min(`step_seconds`·(1 − `load`), p_i·`storage_datapoints`); 0 for a device that may not train | seconds a step |
| ψ_ki | 8·b_ki / (`mbps`·10⁶), b_ki = `datapoint_bytes` / (1 − `loss`) | seconds of radio for a datapoint |
| Ψ_k | `airtime_seconds` | seconds of radio a step |
| θ_i | min(`storage_datapoints` − D_i, `airtime_seconds` / mean ψ_ki of the links to i) | datapoints a step |
| A_ki | a link within one trust group (or outside all), from a device that may send to one that may train | |

Eq. (10) keeps D_i(t) ≤ P_i/p_i, so the second part of P_i keeps the storage over all steps; θ_i alone would keep it in
one. θ_i assumes that a device listens to all its senders for an equal number of datapoints.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from solver.arrays import BoolArray, FloatArray, IntArray
from solver.errors import InvalidInputError
from solver.network import Devices, Links, Network
from solver.validation import as_column, as_indices, as_number, frozen, reject_first

__all__ = ["Fleet"]

_BITS_IN_BYTE = 8
_MEGA = 1e6
_POSITIVE = ("step_seconds", "datapoint_bytes", "epochs_per_step")
_DEVICE_COLUMNS = ("datapoints", "samples_per_second", "load", "airtime_seconds")
_FLAGS = ("may_train", "may_send")


@dataclass(frozen=True, eq=False)
class Fleet:
    """N devices and the links between them, as their owner knows them.

    Attributes:
        step_seconds: length of a step.
        datapoint_bytes: size of a datapoint on a link.
        datapoints: how many each device holds.
        samples_per_second: datapoints that each device trains on in a second, if it does nothing else.
        load: share of its time that each device needs for other work.
        storage_datapoints: the most datapoints that each device can hold; infinite without a limit.
        airtime_seconds: seconds of a step that each device may use its radio.
        may_train, may_send: whether each device is willing to.
        group: number of each device's trust group; −1 for none.
        source, target: sender and receiver of each link.
        mbps: rate of each link, in 10⁶ bits a second.
        loss: share of what is sent over each link that has to be sent again.
        epochs_per_step: how often a device goes through its data in a step.
    """

    step_seconds: float
    datapoint_bytes: float
    datapoints: FloatArray
    samples_per_second: FloatArray
    load: FloatArray
    storage_datapoints: FloatArray
    airtime_seconds: FloatArray
    may_train: BoolArray
    may_send: BoolArray
    group: IntArray
    source: IntArray
    target: IntArray
    mbps: FloatArray
    loss: FloatArray
    epochs_per_step: float = 1.0

    def __post_init__(self) -> None:
        for name in _POSITIVE:
            object.__setattr__(self, name, as_number(getattr(self, name), f"fleet.{name}", strict=True))
        n = np.size(self.datapoints)
        for name in _DEVICE_COLUMNS:
            high = {"load": 1.0, "airtime_seconds": self.step_seconds}.get(name)
            object.__setattr__(self, name, as_column(getattr(self, name), f"devices.{name}", length=n, high=high))
        self._check_devices(n)
        for name in ("source", "target"):
            object.__setattr__(self, name, as_indices(getattr(self, name), f"links.{name}", below=n))
        for name, high in (("mbps", None), ("loss", 1.0)):
            column = as_column(getattr(self, name), f"links.{name}", length=self.source.size, high=high)
            object.__setattr__(self, name, column)
        reject_first(self.mbps == 0, self.mbps, "links.mbps", "must be above 0")
        reject_first(self.loss == 1, self.loss, "links.loss", "must be below 1")

    def _check_devices(self, n: int) -> None:
        rates = self.samples_per_second
        reject_first(rates == 0, rates, "devices.samples_per_second", "must be above 0")
        storage = frozen(np.array(self.storage_datapoints, np.float64))
        object.__setattr__(self, "storage_datapoints", storage)
        for name in ("storage_datapoints", *_FLAGS, "group"):
            if np.shape(getattr(self, name)) != (n,):
                raise InvalidInputError(f"devices.{name}", f"must have {n} entries")
        for name in _FLAGS:
            object.__setattr__(self, name, frozen(np.array(getattr(self, name), np.bool_)))
        object.__setattr__(self, "group", frozen(np.array(self.group, np.int64)))
        short = ~(storage >= self.datapoints)
        reject_first(short, storage, "devices.storage_datapoints", "must be at least the datapoints that it holds")

    def __len__(self) -> int:
        return int(self.datapoints.size)

    @cached_property
    def across_groups(self) -> BoolArray:
        """Links between trust groups, or between a group and devices of none."""
        mask: BoolArray = self.group[self.source] != self.group[self.target]
        return mask

    @cached_property
    def unwilling(self) -> BoolArray:
        """Links from devices that may not send, or to devices that may not train."""
        mask: BoolArray = ~(self.may_send[self.source] & self.may_train[self.target])
        return mask

    @property
    def usable(self) -> BoolArray:
        """A: the links that data may go over."""
        return ~(self.across_groups | self.unwilling)

    @property
    def bytes_per_datapoint(self) -> FloatArray:
        """b: what each link sends for a datapoint until all of it has arrived; what is lost is sent again."""
        return np.asarray(self.datapoint_bytes / (1.0 - self.loss))

    @property
    def seconds_per_datapoint(self) -> FloatArray:
        """ψ of each link, in seconds."""
        return np.asarray(_BITS_IN_BYTE * self.bytes_per_datapoint / (self.mbps * _MEGA))

    def joules_per_datapoint(self, joules_per_megabyte: FloatArray) -> FloatArray:
        """What each link takes to send a datapoint, what is sent again included."""
        return np.asarray(self.bytes_per_datapoint / _MEGA * joules_per_megabyte)

    def devices(self, label_counts: FloatArray | None = None, label_epsilon: float | None = None) -> Devices:
        """The device columns of the network."""
        cost = self.epochs_per_step / self.samples_per_second
        seconds = np.minimum(self.step_seconds * (1.0 - self.load), cost * self.storage_datapoints)
        return Devices(
            data=self.datapoints,
            processing_capacity=np.where(self.may_train, seconds, 0.0),
            processing_cost=cost,
            receive_capacity=np.minimum(self.storage_datapoints - self.datapoints, self._radio_capacity()),
            transmit_budget=self.airtime_seconds,
            label_counts=label_counts,
            label_epsilon=label_epsilon,
        )

    def network(self, devices: Devices, similarity: FloatArray) -> Network:
        """The network; `similarity` is λ of each usable link."""
        usable = self.usable
        cost = self.seconds_per_datapoint[usable]
        return Network(devices, Links(self.source[usable], self.target[usable], similarity, cost))

    def _radio_capacity(self) -> FloatArray:
        """Datapoints that each device can receive in its airtime; 0 where no link leads to it."""
        usable, n = self.usable, len(self)
        target = self.target[usable]
        links = np.bincount(target, minlength=n)
        seconds = np.bincount(target, weights=self.seconds_per_datapoint[usable], minlength=n)
        return np.divide(self.airtime_seconds * links, seconds, out=np.zeros(n), where=links > 0)
