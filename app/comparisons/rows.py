"""From a comparison to its rows: one plan for each combination, all within one time limit.

The network is parsed once. Rows of one sample size and budget scale share their bound on all choices, and a set that
several rows choose is planned once. A row may take a quarter of the time that is left, and the last ones an equal part,
so that a slow sampler leaves some for the others; what a row does not need is for the rows after it.
"""

import math
import time
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from app.http.problems import InfeasibleError, InvalidRequestError
from app.plans.planning import PlanQuery, PlanResult, bound_choices, choose, plan_choice
from app.plans.proven import proven
from app.wire.budget import charge, returned
from app.wire.effort import Deadline
from app.wire.estimate import network as network_size
from solver import Network, Schedule

__all__ = ["Cell", "Comparison", "Figures", "Row", "RowState", "coverage", "make_rows", "with_budgets"]

RowState = Literal["planned", "infeasible", "refused", "not_reached"]
# Objectives this close, relative to their size, are equal but for rounding.
_ROUNDING = 1e-9
# The part of the time that is left which one row may take.
_SHARE = 0.25
# What a budget scale applies to: θ and Ψ. The processing capacity decides who can be sampled, so it stays.
_BUDGETS = ("receive_capacity", "transmit_budget")


@dataclass(frozen=True)
class Cell:
    """One combination."""

    sampler: str
    sample_size: int
    budget_scale: float
    seed: int


@dataclass(frozen=True, eq=False)
class Comparison:
    """What all rows have in common, the combinations in order, and for each of them the number of its baseline.

    Combinations of one budget scale must follow one another.
    """

    common: PlanQuery
    cells: tuple[Cell, ...]
    baselines: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Figures:
    """What a plan comes to; `energy` is in joules, of sending and of processing."""

    sampled: NDArray[np.int64]
    status: str
    complete: bool | None
    objective: float
    relative_gap: float
    horizon_bound: float
    horizon_gap: float
    set_bound: float
    set_gap: float
    sent: float
    useful: float
    transmit_cost: float
    processing_cost: float
    energy: tuple[float, float] | None
    coverage: float

    @property
    def width(self) -> float:
        """How much of the objective may be the solver's: its certified gap, or rounding if that is more."""
        return abs(self.objective) * max(self.relative_gap, _ROUNDING)


@dataclass(frozen=True, eq=False)
class Row:
    """A combination with its figures, or with the reason why it has none; `seconds` are those of each stage."""

    cell: Cell
    state: RowState
    figures: Figures | None = None
    reason: str | None = None
    seconds: dict[str, float] = field(default_factory=dict)


def make_rows(comparison: Comparison) -> list[Row]:
    """Plan row by row until the time is over; rows that were not begun by then say so.

    Raises:
        OverloadedError: the client has left, or the service is shutting down.
        TooLargeError: one row alone needs more memory than there is for requests.
    """
    common = comparison.common
    deadline = Deadline.after(common.time_limit)
    planner = _Planner(common)
    rows = []
    for place, cell in enumerate(comparison.cells):
        deadline.check()
        if deadline.left <= 0:
            rows.append(Row(cell, "not_reached", reason="the time limit was over"))
            continue
        share = deadline.left * max(_SHARE, 1 / (len(comparison.cells) - place))
        with returned():
            rows.append(planner.row(cell, Deadline(time.monotonic() + share, deadline.flag)))
    return rows


class _Planner:
    """Plans rows, and remembers of earlier rows what later ones can use."""

    def __init__(self, common: PlanQuery) -> None:
        self._common = common
        self._scale = 1.0
        self._schedule = common.schedule
        self._bounds: dict[int, float] = {}
        self._planned: dict[tuple[int, ...], Figures] = {}
        network = common.schedule.network
        size = network_size(len(network), len(network.links)) * len(common.schedule.segments)
        charge(size, "the network with scaled budgets")

    def row(self, cell: Cell, deadline: Deadline) -> Row:
        """One row."""
        self._scale_budgets(cell.budget_scale)
        query = replace(
            self._common,
            schedule=self._schedule,
            sampler=cell.sampler,
            sample_size=cell.sample_size,
            seed=cell.seed,
        )
        try:
            return self._planned_row(cell, query, deadline)
        except InfeasibleError as error:
            return Row(cell, "infeasible", reason=error.detail)
        except InvalidRequestError as error:
            return Row(cell, "refused", reason=error.errors[0].detail)

    def _scale_budgets(self, scale: float) -> None:
        if scale != self._scale:
            self._schedule = with_budgets(self._common.schedule, scale)
            self._scale = scale
            self._bounds.clear()
            self._planned.clear()

    def _planned_row(self, cell: Cell, query: PlanQuery, deadline: Deadline) -> Row:
        begin = perf_counter()
        choice = choose(query, deadline)
        chosen = perf_counter()
        figures = self._planned.get(key := tuple(choice.sampled.tolist()))
        if figures is None:
            figures = self._figures(query, choice.sampled, deadline)
            if figures.status != "time_limit":
                self._planned[key] = figures
        figures = replace(figures, complete=choice.complete)
        return Row(cell, "planned", figures, seconds={"sample": chosen - begin, "solve": perf_counter() - chosen})

    def _figures(self, query: PlanQuery, sampled: NDArray[np.int64], deadline: Deadline) -> Figures:
        result = plan_choice(query, sampled, deadline)
        if query.sample_size not in self._bounds:
            self._bounds[query.sample_size] = bound_choices(query, query.horizon, deadline)
        return _figures(result, self._bounds[query.sample_size], query.schedule.at(1))


def _figures(result: PlanResult, bound: float, network: Network) -> Figures:
    plan = result.plan
    objective, gap = plan.objective, plan.relative_gap
    if objective is None or gap is None or plan.horizon_bound is None:
        raise InvalidRequestError.at("/network", "no step could be planned")
    if not math.isfinite(objective + gap):
        raise InvalidRequestError.at("/network", "its numbers are too far apart to compute with")
    horizon_bound, horizon_gap = proven(plan, plan.horizon_bound)
    set_bound, set_gap = proven(plan, bound)
    return Figures(
        sampled=plan.sampled,
        status=plan.status.value,
        complete=None,
        objective=objective,
        relative_gap=gap,
        horizon_bound=horizon_bound,
        horizon_gap=horizon_gap,
        set_bound=set_bound,
        set_gap=set_gap,
        sent=plan.datapoints_moved,
        useful=float(sum(step.received.sum() for step in plan.steps)),
        transmit_cost=plan.transmit_cost,
        processing_cost=plan.processing_cost,
        energy=None if result.energy is None else result.energy.of(plan),
        coverage=coverage(network, plan.sampled),
    )


def coverage(network: Network, sampled: NDArray[np.int64]) -> float:
    """Σ_k D_k max_{i∈𝒮} λ_ki / Σ_k D_k with λ_ii = 1: the share of all data that sampled devices have the like of."""
    similar = np.zeros(len(network))
    for device in sampled.tolist():
        into = slice(network.incoming[device], network.incoming[device + 1])
        source = network.links.source[into]
        similar[source] = np.maximum(similar[source], network.links.similarity[into])
    similar[sampled] = 1.0
    total = network.total_data
    return float(network.devices.data @ similar / total) if total > 0 else 0.0


def with_budgets(schedule: Schedule, scale: float) -> Schedule:
    """The schedule with all receive capacities and transmit budgets multiplied."""
    if scale == 1.0:
        return schedule
    devices = schedule.network.devices
    network = schedule.network.with_columns({name: scale * getattr(devices, name) for name in _BUDGETS})
    changes = []
    for change in schedule.whole_changes():
        columns = {
            name: scale * np.asarray(column, np.float64) if name in _BUDGETS else column
            for name, column in change.columns.items()
        }
        changes.append(replace(change, columns=columns))
    return Schedule(network, tuple(changes))
