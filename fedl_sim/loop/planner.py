"""The planner of the closed loop: from the measurements at an aggregation to the next period's transfers."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fedl_sim.errors import SimulationError
from fedl_sim.loop.holdings import Transfer
from fedl_sim.loop.server import Observation
from fedl_sim.randomness import stream
from solver.arrays import FloatArray
from solver.horizon.gradient import GradientModel
from solver.horizon.membership import Moved
from solver.horizon.plan import StepPlan
from solver.horizon.sequence import advance
from solver.horizon.state import HorizonState, start
from solver.network import Network
from solver.network.schedule import Schedule
from solver.orders import Orders, make_orders

if TYPE_CHECKING:
    from fedl_sim.loop.loop import RunSettings

__all__ = ["PeriodPlanner", "PlannedStep", "Planner", "carried_out", "optimises"]


def optimises(method: str) -> bool:
    """Whether a way of offloading uses the objective, and so the measured gradient."""
    return method not in {"none", "random", "greedy"}


@dataclass(frozen=True)
class PlannedStep:
    """One step to carry out: its transfers, ψ of each, and the useful data that the plan expects in total."""

    step: int
    transfers: tuple[Transfer, ...]
    costs: tuple[float, ...]
    predicted_useful: float


class PeriodPlanner(Protocol):
    """The interface of planners; `to_lists` and `restore` move a planner to another process."""

    worst_relative_gap: float
    transfer: str

    def observe(self, observation: Observation) -> None:
        """Use the measurements of an aggregation."""

    def next_period(self) -> list[PlannedStep]:
        """Return the next τ steps."""

    def to_lists(self) -> dict[str, Any]:
        """Return the planner's state as plain JSON values."""

    def restore(self, lists: Mapping[str, Any]) -> None:
        """Return to the state that `to_lists` wrote."""


def carried_out(
    orders: Orders, data: FloatArray, steps: Iterable[int], share: FloatArray | None = None
) -> list[PlannedStep]:
    """These steps as orders say: whole datapoints, also of links that the plan does not use in that step.

    Of each send, `share` arrives (default: all).
    """
    by_step: dict[int, list[tuple[Transfer, float, float]]] = {step: [] for step in steps}
    arrives = np.ones(len(orders)) if share is None else share
    columns = (orders.step, orders.source, orders.target, orders.count, arrives, orders.cost, orders.useful * arrives)
    for step, source, target, count, part, cost, useful in zip(*(one.tolist() for one in columns), strict=True):
        by_step[step].append((Transfer(source, target, count / float(data[source]), count, part), cost, useful))
    return [
        PlannedStep(step, tuple(r[0] for r in rows), tuple(r[1] for r in rows), sum(r[2] for r in rows))
        for step, rows in by_step.items()
    ]


class Planner:
    """Plans period by period with the gradient norm and γ last observed (Sec. III-C).

    It knows what an orchestrator knows: its own plans and the observations. It does not know how much data really
    arrived. So predicted and arrived data can differ, and both are recorded.

    `moved` is what the last period sends; None if no data is offloaded.
    """

    def __init__(
        self,
        network: Network | Schedule,
        sampled: NDArray[np.int64],
        method: str,
        settings: "RunSettings",
        *,
        seed: int,
        purpose: str = "run",
    ) -> None:
        self._schedule = Schedule.of(network)
        self._method = method
        self._horizon = settings.horizon
        self._period = settings.training.aggregation_period
        self._seed = seed
        self._purpose = purpose
        self._state: HorizonState = start(self._schedule, sampled)
        self._closed_loop = settings.closed_loop
        self._gradient: GradientModel | None = None
        self._noise = 1.0
        self._costs: dict[int, dict[tuple[int, int], float]] = {}
        self.worst_relative_gap = 0.0
        self.transfer = settings.transfer
        self.moved: Moved | None = None

    def observe(self, observation: Observation) -> None:
        """Use the measurements of the aggregation at the current step; two consecutive ones give α_k.

        In open loop only the first one counts: the plan assumes that the gradient stays as before training. If training
        diverges, the last finite measurement stands.
        """
        finite = math.isfinite(observation.gradient_norm) and math.isfinite(observation.gradient_noise)
        if self._gradient is not None and not (self._closed_loop and finite):
            return
        self._noise = observation.gradient_noise
        if self._gradient is None:
            self._gradient = GradientModel(observation.gradient_norm)
        else:
            self._gradient = self._gradient.observe(observation.gradient_norm, self._period)

    @property
    def state(self) -> HorizonState:
        """The state after the steps planned so far."""
        return self._state

    def go_on(self, network: Network, state: HorizonState) -> None:
        """Go on in another network, from another state: devices went, came, or got less than was planned."""
        self._schedule, self._state, self._costs = Schedule.of(network), state, {}

    def next_period(self) -> list[PlannedStep]:
        """Plan the next τ steps."""
        first = self._state.step + 1
        if self._method == "none":
            self._state = replace(self._state, step=self._state.step + self._period)
            return [PlannedStep(t, (), (), 0.0) for t in range(first, first + self._period)]
        if self._gradient is None:
            raise ValueError("observe an aggregation (k = 0) before planning")
        period = advance(
            self._schedule,
            self._state,
            self._gradient.norms(first, first + self._period - 1),
            gradient_noise=self._noise,
            horizon=self._horizon,
            method=self._method,
            transfer=self.transfer,
            generator=stream(self._seed, "plan", self._purpose, first),
        )
        if period.obstacles:
            reasons = "; ".join(f"device {o.device} {o.reason}" for o in period.obstacles[:5])
            raise SimulationError(f"the sampled devices cannot go on: {reasons}")
        if optimises(self._method):  # the gap of others has no meaning
            self.worst_relative_gap = max(self.worst_relative_gap, *(step.relative_gap for step in period.steps))
        before = self._state
        if self.transfer != "send_once":
            self._state, self.moved = period.state, Moved.by(period.steps, before, period.state)
            return [self._planned(step) for step in period.steps]
        orders = make_orders(self._schedule, before, period.steps, horizon=self._horizon)
        self._state, self.moved = orders.state, orders.moved
        return carried_out(orders, self._schedule.network.devices.data, [step.step for step in period.steps])

    def _planned(self, step: StepPlan) -> PlannedStep:
        """A step of a plan that redraws."""
        columns = (step.source.tolist(), step.target.tolist(), step.fraction.tolist())
        transfers = tuple(map(Transfer, *columns))
        cost = self._cost_at(step.step)
        costs = tuple(cost[transfer.source, transfer.target] for transfer in transfers)
        return PlannedStep(step.step, transfers, costs, float(step.useful.sum()))

    def _cost_at(self, step: int) -> dict[tuple[int, int], float]:
        """Return ψ of every link that exists at a step."""
        segment = self._schedule.segment_at(step)
        if segment.first not in self._costs:
            links = segment.network.links
            pairs = zip(links.source.tolist(), links.target.tolist(), strict=True)
            self._costs[segment.first] = dict(zip(pairs, links.transmit_cost.tolist(), strict=True))
        return self._costs[segment.first]

    def to_lists(self) -> dict[str, Any]:
        """Return the state: horizon, gradient model, γ and the worst gap so far."""
        gradient = None if self._gradient is None else asdict(self._gradient)
        return {
            "state": self._state.to_lists(),
            "gradient": gradient,
            "noise": self._noise,
            "worst_relative_gap": self.worst_relative_gap,
        }

    def restore(self, lists: Mapping[str, Any]) -> None:
        """Return to the state that `to_lists` wrote."""
        self._state = HorizonState.from_lists(lists["state"])
        self._gradient = None if lists["gradient"] is None else GradientModel(**lists["gradient"])
        self._noise = lists["noise"]
        self.worst_relative_gap = lists["worst_relative_gap"]
