"""A planner that carries out a plan made elsewhere, as it stands: no observation changes it."""

from collections.abc import Mapping, Sequence
from typing import Any

from fedl_sim.loop.planner import PlannedStep
from fedl_sim.loop.server import Observation

__all__ = ["ScriptedPlanner"]


class ScriptedPlanner:
    """Hands out given steps τ at a time; steps beyond the script move nothing."""

    def __init__(self, steps: Sequence[PlannedStep], period: int, *, relative_gap: float = 0.0) -> None:
        self._steps = {step.step: step for step in steps}
        self._period = period
        self._done = 0
        self.worst_relative_gap = relative_gap

    def observe(self, observation: Observation) -> None:
        """A script does not listen."""

    def next_period(self) -> list[PlannedStep]:
        """The next τ steps."""
        first = self._done + 1
        self._done += self._period
        return [self._steps.get(t, PlannedStep(t, (), (), 0.0)) for t in range(first, self._done + 1)]

    def to_lists(self) -> dict[str, Any]:
        """How many steps are done."""
        return {"done": self._done}

    def restore(self, lists: Mapping[str, Any]) -> None:
        """Go on from there."""
        self._done = int(lists["done"])
