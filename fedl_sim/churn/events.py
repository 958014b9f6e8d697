"""What happens to each device in each period: a function of the settings and the seed, and of no scheme.

So schemes that are compared meet the same events.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fedl_sim.churn.churn import Churn
from fedl_sim.churn.lives import Lives, lives_of
from fedl_sim.randomness import stream

__all__ = ["PeriodEvents", "events_of", "happenings"]


@dataclass(frozen=True, eq=False)
class PeriodEvents:
    """One period, by device.

    Attributes:
        steps: τ.
        present: up when the period begins.
        survived: local steps of the period that are over before the device goes down: τ if it does not, 0 if absent.
        finished: local steps that it completes: fewer than it survives if it straggles.
    """

    steps: int
    present: NDArray[np.bool_]
    survived: NDArray[np.int64]
    finished: NDArray[np.int64]

    @property
    def lost(self) -> NDArray[np.bool_]:
        """Present when the period begins, and down before it ends."""
        lost: NDArray[np.bool_] = self.present & (self.survived < self.steps)
        return lost

    @property
    def arrived(self) -> NDArray[np.bool_]:
        """Whose update the server gets, if they train: there at the end, with a step completed."""
        arrived: NDArray[np.bool_] = self.present & (self.survived == self.steps) & (self.finished > 0)
        return arrived


def happenings(churn: Churn, n_devices: int, periods: int, steps: int, *, seed: int) -> tuple[PeriodEvents, ...]:
    """Return the events of every period; `steps` is τ."""
    return events_of(lives_of(churn, n_devices, periods, seed=seed), churn, n_devices, periods, steps, seed=seed)


def events_of(
    lives: Lives, churn: Churn, n_devices: int, periods: int, steps: int, *, seed: int
) -> tuple[PeriodEvents, ...]:
    """Cut lives into periods, and add stragglers."""
    up = np.ones(n_devices, np.bool_)
    found = []
    change = 0
    for period in range(periods):
        while change < len(lives.time) and lives.time[change] <= period:
            up[lives.device[change]] = lives.up[change]
            change += 1
        present = up.copy()
        survived = np.where(present, steps, 0)
        while change < len(lives.time) and lives.time[change] < period + 1:
            device = lives.device[change]
            if not lives.up[change]:
                # The first time counts: a device that goes down loses its data, also if it is back soon.
                survived[device] = min(survived[device], int((lives.time[change] - period) * steps))
            up[device] = lives.up[change]
            change += 1
        found.append(
            PeriodEvents(steps, present, survived, np.minimum(survived, _pace(churn, n_devices, period, steps, seed)))
        )
    return tuple(found)


def _pace(churn: Churn, n_devices: int, period: int, steps: int, seed: int) -> NDArray[np.int64]:
    """How many local steps each device has time for in a period."""
    generator = stream(seed, "stragglers", period)
    slow = generator.random(n_devices) < churn.straggling
    return np.where(slow, generator.integers(0, steps, n_devices), steps)
