"""Which devices can be sampled: a sampled device must be able to process its data at every step, eq. (10)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from solver.arrays import BoolArray, FloatArray, IntArray
from solver.network import Network
from solver.network.schedule import Conditions, Schedule
from solver.validation import as_count

__all__ = ["ROUNDING", "Obstacle", "can_train", "data_ceiling", "data_ceilings", "eligible_devices", "obstacles"]

# Rounding in D + R, or in P/p, may exceed the ceiling by this factor.
ROUNDING = 1 + 1e-9


@dataclass(frozen=True)
class Obstacle:
    """Why a device cannot be sampled; `step` is the first step at which that holds."""

    device: int
    step: int
    reason: str


def data_ceilings(schedule: Schedule, devices: IntArray, last: int) -> Iterator[tuple[Conditions, FloatArray]]:
    """The segments up to step `last`, latest first, each with the most data that a device may hold in it, eq. (10).

    Receivers keep their data, so this is min P_i(s)/p_i(s) over the steps s from the segment to `last`.
    """
    ceiling = np.full(devices.size, np.inf)
    for segment in reversed(schedule.segments):
        if segment.first <= last:
            capacity = segment.network.devices.processing_capacity[devices]
            cost = segment.network.devices.processing_cost[devices]
            with np.errstate(over="ignore"):
                own = np.divide(capacity, cost, out=np.full(capacity.size, np.inf), where=cost > 0)
            ceiling = np.minimum(ceiling, own)
            yield segment, ceiling


def data_ceiling(schedule: Schedule, devices: IntArray, first: int, last: int) -> FloatArray:
    """The most data a device may hold at step `first`: min P_i(s)/p_i(s) over the steps s = first..last."""
    return next(ceiling for segment, ceiling in data_ceilings(schedule, devices, last) if segment.first <= first)


def eligible_devices(network: Network | Schedule, horizon: int = 1) -> BoolArray:
    """Mask of the devices that hold data and can process it at every step 1..horizon."""
    schedule = Schedule.of(network)
    everyone = np.arange(len(schedule.network))
    last = as_count(horizon, "horizon")
    return can_train(schedule.network.devices.data, data_ceiling(schedule, everyone, 1, last))


def obstacles(
    network: Network | Schedule,
    horizon: int,
    devices: IntArray | None = None,
    *,
    first: int = 1,
    data: FloatArray | None = None,
) -> tuple[Obstacle, ...]:
    """For each of `devices` (default: all) that cannot train at every step first..horizon, the reason.

    `data` is what they hold before step `first` (default: D_i(0)).
    """
    schedule = Schedule.of(network)
    horizon = as_count(horizon, "horizon", low=first)
    chosen = np.arange(len(schedule.network)) if devices is None else devices
    held = schedule.network.devices.data[chosen] if data is None else data
    blocked = np.flatnonzero(~can_train(held, data_ceiling(schedule, chosen, first, horizon)))
    return tuple(_obstacle(schedule, int(chosen[j]), float(held[j]), first) for j in blocked)


def can_train(held: FloatArray, ceiling: FloatArray) -> BoolArray:
    """Mask of the devices that hold data, and no more than their ceiling."""
    fits: BoolArray = held <= ceiling * ROUNDING
    return fits & (held > 0)


def _obstacle(schedule: Schedule, device: int, data: float, first: int) -> Obstacle:
    if data == 0:
        return Obstacle(device, first, "holds no data")
    for segment in schedule.segments:
        capacity = float(segment.network.devices.processing_capacity[device])
        cost = float(segment.network.devices.processing_cost[device])
        if (segment.last is None or segment.last >= first) and cost > 0 and data > capacity / cost:
            need = f"processing its {data:g} datapoints costs {cost * data:g}, its capacity is {capacity:g}"
            return Obstacle(device, max(segment.first, first), need)
    raise AssertionError(f"device {device} has no obstacle")
