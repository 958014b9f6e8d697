"""Lives of devices: the times at which they go down and come up again, drawn at random or read from a trace.

A trace is a CSV file with one line for each change, in any order:

    device,period,state
    17,2.4,down
    17,5,up

`device` is a number from 0 to N − 1. `period` is a time since the start of the run, counted in periods: 2.4 is in the
third period, after two fifths of it. At a whole number a change happens between two periods, so the next plan knows of
it. `state` is `up` or `down`. All devices are up at first, unless a line says otherwise of the time 0.
"""

import csv
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fedl_sim.churn.churn import Churn
from fedl_sim.errors import InvalidSettingError
from fedl_sim.randomness import stream

__all__ = ["Lives", "draw_lives", "lives_of", "read_trace"]

COLUMNS = ["device", "period", "state"]


@dataclass(frozen=True, eq=False)
class Lives:
    """Changes in order of time: at `time[j]`, in periods, `device[j]` goes up or down."""

    device: NDArray[np.int64]
    time: NDArray[np.float64]
    up: NDArray[np.bool_]

    def __post_init__(self) -> None:
        if not len(self.device) == len(self.time) == len(self.up) or np.any(np.diff(self.time) < 0):
            raise ValueError("changes need a device, a time and a state each, and must be in order of time")


def lives_of(churn: Churn, n_devices: int, periods: int, *, seed: int) -> Lives:
    """Return the lives of all devices: the trace's, or drawn ones."""
    if churn.trace is not None:
        return read_trace(Path(churn.trace), n_devices)
    return draw_lives(churn, n_devices, periods, seed=seed)


def draw_lives(churn: Churn, n_devices: int, periods: int, *, seed: int) -> Lives:
    """Draw exponential times up and down in turn until the last period is over, for each device by itself."""
    found: list[tuple[NDArray[np.int64], NDArray[np.float64], bool]] = []
    clock = np.zeros(n_devices)
    turn = 0
    while churn.loss > 0 and clock.min() < periods:
        up = turn % 2 == 1
        mean = churn.absence if up else churn.mean_life
        # All devices draw in every turn, so that a device's life does not depend on the others' or on their number.
        clock = clock + (stream(seed, "lives", turn).exponential(1.0, n_devices) * mean)
        happens = np.flatnonzero(clock < periods)
        found.append((happens, clock[happens], up))
        turn += 1
    devices = np.concatenate([np.empty(0, np.int64), *(device for device, _, _ in found)])
    times = np.concatenate([np.empty(0), *(time for _, time, _ in found)])
    states = np.concatenate([np.empty(0, np.bool_), *(np.full(len(device), up) for device, _, up in found)])
    return _ordered(devices, times, states)


def read_trace(path: Path, n_devices: int) -> Lives:
    """Read a trace.

    Raises:
        InvalidSettingError: the file cannot be read, or a line is not a change of one of these devices.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = csv.DictReader(file)
            if rows.fieldnames != COLUMNS:
                raise InvalidSettingError(f"{path}: the first line must be {','.join(COLUMNS)}")
            changes = [_change(row, f"{path}, line {rows.line_num}", n_devices) for row in rows]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InvalidSettingError(f"the trace {path} cannot be read: {error}") from error
    device, time, up = zip(*changes, strict=True) if changes else ((), (), ())
    return _ordered(np.array(device, np.int64), np.array(time, np.float64), np.array(up, np.bool_))


def _change(row: dict[str, str], place: str, n_devices: int) -> tuple[int, float, bool]:
    try:
        device, time = int(row["device"]), float(row["period"])
    except (TypeError, ValueError):
        raise InvalidSettingError(f"{place}: device and period must be numbers") from None
    if not 0 <= device < n_devices:
        raise InvalidSettingError(f"{place}: device must lie in 0..{n_devices - 1}, is {device}")
    if not (time >= 0 and math.isfinite(time)):
        raise InvalidSettingError(f"{place}: period must be a number from 0 on, is {row['period']}")
    if row["state"] not in {"up", "down"}:
        raise InvalidSettingError(f"{place}: state must be up or down, is {row['state']!r}")
    return device, time, row["state"] == "up"


def _ordered(device: NDArray[np.int64], time: NDArray[np.float64], up: NDArray[np.bool_]) -> Lives:
    order = np.argsort(time, kind="stable")
    return Lives(device[order], time[order], up[order])
