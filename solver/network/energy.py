"""The energy that a plan takes, in joules: what a fleet's owner pays for beside time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from solver.arrays import FloatArray, IntArray
from solver.network.subgraph import Subgraph, pair_keys
from solver.validation import as_column, as_indices, frozen

__all__ = ["Energy"]


class _Step(Protocol):
    """What `Energy` reads of a step of a plan."""

    @property
    def source(self) -> IntArray: ...
    @property
    def target(self) -> IntArray: ...
    @property
    def datapoints(self) -> FloatArray: ...
    @property
    def sampled_data(self) -> FloatArray: ...


class _Plan(Protocol):
    @property
    def sampled(self) -> IntArray: ...
    @property
    def steps(self) -> Sequence[_Step]: ...


@dataclass(frozen=True, eq=False)
class Energy:
    """What sending and processing a datapoint take.

    Attributes:
        processing: joules for a datapoint that a device holds, in a step; one for each device.
        source, target: the ends of each link.
        transmit: joules to send a datapoint over each link, what is sent again included.
    """

    processing: FloatArray
    source: IntArray
    target: IntArray
    transmit: FloatArray

    def __post_init__(self) -> None:
        processing = as_column(self.processing, "energy.processing")
        n = processing.size
        source, target = (as_indices(getattr(self, name), f"energy.{name}", below=n) for name in ("source", "target"))
        transmit = as_column(self.transmit, "energy.transmit", length=source.size)
        order = np.argsort(pair_keys(source, target, n))
        columns = {
            "processing": processing,
            "source": source[order],
            "target": target[order],
            "transmit": transmit[order],
        }
        for name, column in columns.items():
            object.__setattr__(self, name, frozen(column))

    def of(self, plan: _Plan) -> tuple[float, float]:
        """Joules of what the plan's steps send, and of what its sampled devices process; unknown links take none."""
        sending = sum(step.datapoints @ self._of_links(step.source, step.target) for step in plan.steps)
        processing = sum(step.sampled_data @ self.processing[plan.sampled] for step in plan.steps)
        return float(sending), float(processing)

    def of_sending(self, subgraph: Subgraph) -> FloatArray:
        """Joules to send a datapoint over each link."""
        return self._of_links(subgraph.source, subgraph.target)

    def of_holding(self, subgraph: Subgraph) -> FloatArray:
        """Joules to process a datapoint at each sampled device."""
        return self.processing[subgraph.sampled]

    def _of_links(self, source: IntArray, target: IntArray) -> FloatArray:
        n = self.processing.size
        known, asked = pair_keys(self.source, self.target, n), pair_keys(source, target, n)
        if not known.size:
            return np.zeros(asked.size)
        place = np.minimum(np.searchsorted(known, asked), known.size - 1)
        return np.where(known[place] == asked, self.transmit[place], 0.0)
