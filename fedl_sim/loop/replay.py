"""A run that was planned elsewhere and whose devices changed, trained as it was: period by period.

A device that was lost in a period sends no update, and what it received is gone. Who leaves the sampled devices keeps
nothing of what it received. Own data changes between two periods.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fedl_sim.data.datasets import DataSet
from fedl_sim.engines.base import Engine
from fedl_sim.loop.loop import RunSettings, SchemeLoop
from fedl_sim.loop.script import ScriptedPlanner
from fedl_sim.network.partition import Partition
from fedl_sim.network.realisation import Realisation
from sampler.schemes import Scheme

__all__ = ["ReplayLoop", "ReplayedPeriod"]


@dataclass(frozen=True, eq=False)
class ReplayedPeriod:
    """Who trains in a period, who of them is lost before it ends, and what everybody has of their own."""

    sampled: NDArray[np.int64]
    lost: frozenset[int]
    partition: Partition


class ReplayLoop(SchemeLoop):
    """A given plan with the devices of each period; after the last period they stay, and nobody is lost."""

    def __init__(
        self,
        scheme: Scheme,
        realisation: Realisation,
        data: DataSet,
        engine: Engine,
        settings: RunSettings,
        *,
        seed: int,
        periods: Sequence[ReplayedPeriod],
        planner: ScriptedPlanner,
    ) -> None:
        super().__init__(
            scheme, realisation, data, engine, settings, seed=seed, sampled=periods[0].sampled, planner=planner
        )
        self._periods = periods
        self.processed = {device: 0 for period in periods for device in period.sampled.tolist()}

    def go_to(self, k: int) -> None:
        """Let the devices of period k train, with their own data of then."""
        now = self._periods[min(k, len(self._periods)) - 1]
        self.holdings.renew(now.partition)
        gone = set(self.holdings.devices) - set(now.sampled.tolist()) | self._lost_in(k - 1)
        for device in gone:
            self.holdings.drop(device)
        for device in now.sampled.tolist():
            self.holdings.admit(device)
        self.sampled = now.sampled

    def _staying(self, k: int) -> NDArray[np.int64]:
        """Those of period k who are not lost."""
        return self.sampled[~np.isin(self.sampled, list(self._lost_in(k)))]

    def _lost_in(self, k: int) -> frozenset[int]:
        return self._periods[k - 1].lost if 0 < k <= len(self._periods) else frozenset()
