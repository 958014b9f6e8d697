"""A planner that carries out a given plan; observations do not change it."""

from collections.abc import Mapping, Sequence
from typing import Any

from fedl_sim.loop.planner import PlannedStep
from fedl_sim.loop.server import Observation

__all__ = ["ScriptedPlanner"]


class ScriptedPlanner:
    """Returns the given steps τ at a time; steps after the last one move nothing."""

    def __init__(
        self, steps: Sequence[PlannedStep], period: int, *, relative_gap: float = 0.0, transfer: str = "redraw"
    ) -> None:
        self._steps = {step.step: step for step in steps}
        self._period = period
        self._done = 0
        self.worst_relative_gap = relative_gap
        self.transfer = transfer

    def observe(self, observation: Observation) -> None:
        """Ignore the observation."""

    def next_period(self) -> list[PlannedStep]:
        """Return the next τ steps."""
        first = self._done + 1
        self._done += self._period
        return [self._steps.get(t, PlannedStep(t, (), (), 0.0)) for t in range(first, self._done + 1)]

    def to_lists(self) -> dict[str, Any]:
        """Return how many steps are done."""
        return {"done": self._done}

    def restore(self, lists: Mapping[str, Any]) -> None:
        """Continue after that many steps."""
        self._done = int(lists["done"])
