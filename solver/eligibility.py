"""Who can be sampled: eq. (10) binds sampled devices at every step, so some cannot be."""

from dataclasses import dataclass

import numpy as np

from solver.arrays import BoolArray, FloatArray, IntArray
from solver.schedule import Schedule

__all__ = ["Obstacle", "data_ceiling", "eligible_devices", "obstacles"]


@dataclass(frozen=True)
class Obstacle:
    """Why a device cannot be sampled; `step` is the first one at which it shows (0: from the start)."""

    device: int
    step: int
    reason: str


def data_ceiling(schedule: Schedule, devices: IntArray | slice, first: int, last: int) -> FloatArray:
    """The most data a device may ever hold: min P_i(s)/p_i(s) over the steps s = first..last, eq. (10)."""
    ceilings = []
    for network in schedule.between(first, last):
        capacity = network.devices.processing_capacity[devices]
        cost = network.devices.processing_cost[devices]
        with np.errstate(over="ignore"):
            ceilings.append(np.divide(capacity, cost, out=np.full(capacity.size, np.inf), where=cost > 0))
    return np.asarray(np.minimum.reduce(ceilings), dtype=np.float64)


def eligible_devices(schedule: Schedule, horizon: int) -> BoolArray:
    """Mask of the devices that hold data and can process it at every step 1..horizon."""
    data = schedule.network.devices.data
    mask: BoolArray = (data > 0) & (data <= data_ceiling(schedule, slice(None), 1, horizon))
    return mask


def obstacles(schedule: Schedule, horizon: int, devices: IntArray | None = None) -> tuple[Obstacle, ...]:
    """Why each ineligible device (of `devices`, or of all) cannot be sampled."""
    eligible = eligible_devices(schedule, horizon)
    chosen = np.arange(eligible.size) if devices is None else devices
    return tuple(_obstacle(schedule, int(i)) for i in chosen[~eligible[chosen]])


def _obstacle(schedule: Schedule, device: int) -> Obstacle:
    data = float(schedule.network.devices.data[device])
    if data == 0:
        return Obstacle(device, 0, "holds no data")
    for segment in schedule.segments:
        capacity = float(segment.network.devices.processing_capacity[device])
        cost = float(segment.network.devices.processing_cost[device])
        if cost > 0 and data > capacity / cost:
            need = f"processing its {data:g} datapoints costs {cost * data:g}, its capacity is {capacity:g}"
            return Obstacle(device, segment.first, need)
    raise AssertionError(f"device {device} has no obstacle")
