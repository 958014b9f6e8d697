"""From a network and a sampled set to offloading for t = 1..T (Sec. III-C): one convex problem after another.

After each step D_i += R_i, eq. (6), and what each pair has not sent yet shrinks (`solver.horizon.transfer` says how,
and `solver.horizon.state` keeps it).

The cap of a step looks ahead: cap_i(t) = min(θ_i(t), min_{s≥t} P_i(s)/p_i(s) − D_i(t−1)). Receivers keep what they
receive. If a step ignored a later drop of P_i/p_i, that later step would be infeasible.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from solver.arrays import ByteArray, FloatArray, IntArray
from solver.errors import InvalidInputError
from solver.horizon.course import CourseSteps
from solver.horizon.gradient import GradientModel
from solver.horizon.packing import pack, part_of
from solver.horizon.plan import Plan, StepPlan
from solver.horizon.state import HorizonState, start
from solver.horizon.transfer import DEFAULT_TRANSFER, Transfer, transfer_named
from solver.horizon.weights import NO_WEIGHTS, Weights
from solver.kernels.layout import Effort
from solver.network import Network
from solver.network.eligibility import ROUNDING, Obstacle, can_train, data_ceiling, obstacles
from solver.network.schedule import Change, Schedule
from solver.network.subgraph import Subgraph, data_outside
from solver.step.fast import TOLERANCE, effort_for, solve_horizons, time_left
from solver.step.offloading import offload_greedily, offload_nothing, offload_randomly
from solver.step.problem import StepProblem
from solver.step.reference import require_installed, solve_reference
from solver.step.solution import StepSolution
from solver.validation import as_column, as_count, as_device_set, as_number
from solver.whole.horizon_bound import PlannedSegment, horizon_bound
from solver.whole.whole_horizon import WholePlan, plan_whole

__all__ = ["METHODS", "PLANNINGS", "Period", "advance", "plan_offloading", "step_problem"]

METHODS = ("fast", "cvxpy", "random", "greedy", "none")
PLANNINGS = ("step", "horizon")

# Without a horizon, steps look ahead to every change of the schedule.
_FOR_EVER = 2**62

# The most links × steps of one compiled call: 16 MB of fractions.
_COURSE = 2_000_000

# A solver of one step in so many seconds; None if that is too little.
Solve = Callable[[StepProblem, float | None], StepSolution | None]


@dataclass(frozen=True, eq=False)
class Period:
    """Some steps of a horizon and the state after them.

    If sampled devices cannot process what they hold, now or later, `obstacles` names them and the reasons. Then there
    are no steps, no bound, and the state is unchanged. No plan for these steps has a mean objective below `bound`.
    """

    steps: Sequence[StepPlan]
    state: HorizonState
    bound: float | None = None
    obstacles: tuple[Obstacle, ...] = ()


def step_problem(
    network: Network | Schedule,
    state: HorizonState,
    *,
    gradient_norm: float = 1.0,
    gradient_noise: float = 1.0,
    horizon: int | None = None,
    transfer: str = DEFAULT_TRANSFER,
    weights: Weights = NO_WEIGHTS,
) -> StepProblem:
    """The next step's problem, as a validated `StepProblem` of its own."""
    kind = transfer_named(transfer)
    schedule = Schedule.of(network)
    as_device_set(state.sampled, "sampled", n_devices=len(schedule.network))
    subgraph = Subgraph.of(schedule.at(state.step + 1), state.sampled)
    last = _FOR_EVER if horizon is None else as_count(horizon, "horizon", low=state.step + 1)
    ceiling = data_ceiling(schedule, state.sampled, state.step + 1, last)
    unsent = state.unsent_along(subgraph)
    columns = _columns(subgraph, kind, weights, state.data, unsent, ceiling, gradient_norm, gradient_noise)
    # Planning allows for rounding where P_i = p_i·D_i; a device that holds more than that is refused.
    fits = state.data <= ceiling * ROUNDING
    return StepProblem(**(columns | {"data_ceiling": np.where(fits, columns["data_ceiling"], ceiling)}))


def advance(
    network: Network | Schedule,
    state: HorizonState,
    gradient_norms: npt.ArrayLike,
    *,
    gradient_noise: float = 1.0,
    horizon: int | None = None,
    method: str = "fast",
    transfer: str = DEFAULT_TRANSFER,
    weights: Weights = NO_WEIGHTS,
    planning: str = "step",
    generator: np.random.Generator | None = None,
    tolerance: float = TOLERANCE,
    time_limit: float | None = None,
    cancel: ByteArray | None = None,
) -> Period:
    """Plan the next steps, one for each gradient norm.

    Planning in several calls, each from the state of the one before, gives the same steps as one call. `horizon` is the
    last step that the caps look ahead to (default: every change of the schedule). `transfer` is one of `TRANSFERS` of
    `solver.horizon.transfer`. `weights` price sending, processing and energy (`solver.horizon.weights`). With planning
    `horizon` these steps are improved as one problem (`solver.whole.whole_horizon`); it needs the fast solver and
    transfer `send_once`. `time_limit` (seconds) holds for all steps together; the steps after it get what the solver
    finds without an iteration. Another thread may set `cancel[0]`; then the period ends with the last step that is
    done.

    Raises:
        InvalidInputError: an unknown name, a set that does not fit the network, or a number out of range.
        MissingExtraError: the method is `cvxpy` and CVXPY is not installed.
    """
    schedule = Schedule.of(network)
    norms = as_column(gradient_norms, "gradient_norms")
    how = _how(method, transfer, weights, gradient_noise, planning, generator, tolerance, time_limit, cancel)
    as_device_set(state.sampled, "sampled", n_devices=len(schedule.network))
    look_ahead = _FOR_EVER if horizon is None else as_count(horizon, "horizon", low=state.step + max(norms.size, 1))
    unsampled = data_outside(schedule.network.devices.data, state.sampled)
    return _advance(schedule, state, norms, look_ahead, unsampled, how)


class _How(NamedTuple):
    """How senders send, what counts in the objective, and how the steps are solved (None: by the fast solver)."""

    transfer: Transfer
    weights: Weights
    noise: float
    planning: str
    solve: Solve | None
    effort: Effort


def _how(
    method: str,
    transfer: str,
    weights: Weights,
    gradient_noise: float,
    planning: str,
    generator: np.random.Generator | None,
    tolerance: float,
    time_limit: float | None,
    cancel: ByteArray | None = None,
) -> _How:
    """These options, checked."""
    noise = as_number(gradient_noise, "gradient_noise")
    kind = transfer_named(transfer)
    _check_planning(planning, kind, method)
    effort = effort_for(tolerance, time_limit, cancel)
    return _How(kind, weights, noise, planning, None if method == "fast" else _solver(method, generator), effort)


def _advance(
    schedule: Schedule, state: HorizonState, norms: FloatArray, look_ahead: int, unsampled: float, how: _How
) -> Period:
    """`advance` with all its arguments checked; `unsampled` is D_Ŝ."""
    ceiling = data_ceiling(schedule, state.sampled, state.step + 1, look_ahead)
    if not can_train(state.data, ceiling).all():
        hindrances = obstacles(schedule, look_ahead, state.sampled, first=state.step + 1, data=state.data)
        return Period((), state, obstacles=hindrances)
    steps, segments, shares, after = _by_steps(schedule, state, norms, look_ahead, unsampled, ceiling, how)
    if not segments:
        return Period((), state)
    bound = horizon_bound(segments, shares, state.data, how.noise, how.weights, how.effort)
    if len(steps) == 1 and (how.transfer is Transfer.SEND_ONCE or not state.source.size):
        # The step is the whole horizon, and its own bound is closer: it finds the senders' prices exactly. A plan that
        # redraws what it has sent before is bounded by less than one that does not.
        bound = max(bound, steps[0].objective * (1.0 - steps[0].relative_gap))
    # Cancelled work ends here, with the steps that are done.
    if how.planning == "horizon" and after.step == state.step + norms.size:
        plan = plan_whole(WholePlan(steps, after, bound), segments, state, how.noise, how.weights, how.effort)
        steps, after, bound = plan.steps, plan.state, plan.bound
    return Period(steps, after, bound)


def _by_steps(
    schedule: Schedule,
    state: HorizonState,
    norms: FloatArray,
    look_ahead: int,
    unsampled: float,
    ceiling: FloatArray,
    how: _How,
) -> tuple[Sequence[StepPlan], list[PlannedSegment], list[FloatArray], HorizonState]:
    """Plan one step after another, segment by segment, until cancelled; `ceiling` is that of the first segment.

    Returns the steps, what the bound needs of each segment, its shares of each step and link, and the state after all.
    """
    first, end = state.step, state.step + norms.size
    begin, solve, effort = state, how.solve, how.effort
    steps: list[Sequence[StepPlan]] = []
    segments: list[PlannedSegment] = []
    shares: list[FloatArray] = []
    while state.step < end and not effort.cancel[0]:
        conditions = schedule.segment_at(state.step + 1)
        last = end if conditions.last is None else min(conditions.last, end)
        subgraph = Subgraph.of(conditions.network, state.sampled, unsampled)
        # A course has a number for each link and step, so those of many links are planned in parts.
        last = min(last, state.step + max(_COURSE // max(subgraph.source.size, 1), 1))
        # The ceiling of a step is the lowest from that step on, so it is constant within a segment.
        if steps:
            ceiling = data_ceiling(schedule, state.sampled, state.step + 1, look_ahead)
        own_norms = norms[state.step - first : last - first]
        segment = _Segment(subgraph, how.transfer, how.weights, ceiling, own_norms, how.noise)
        done = segment.in_one_call(state, effort) if solve is None else segment.one_by_one(state, solve, effort)
        if len(done.steps) < segment.norms.size:
            solve = None  # time is over: the fast solver has more than nothing for the steps that are left
        steps.append(done.steps)
        state = done.state
        if done.steps:
            segments.append(_planned_segment(begin, segment, done))
            shares.append(done.shares)
    return steps[0] if len(steps) == 1 else tuple(chain.from_iterable(steps)), segments, shares, state


class _Done(NamedTuple):
    """The steps of a segment and the state after them.

    `shares` is (steps, links) what arrives for the first time, `received` and `prices` are (steps, S) R and μ;
    `iterations` are those of all steps.
    """

    steps: Sequence[StepPlan]
    state: HorizonState
    shares: FloatArray
    received: FloatArray
    prices: FloatArray
    iterations: float


@dataclass(frozen=True, eq=False)
class _Segment:
    """Steps under the same conditions, one for each gradient norm."""

    subgraph: Subgraph
    kind: Transfer
    weights: Weights
    ceiling: FloatArray
    norms: FloatArray
    noise: float

    def in_one_call(self, state: HorizonState, effort: Effort) -> _Done:
        """By the fast solver, in compiled code."""
        subgraph = self.subgraph
        part = part_of(subgraph, state.data, self.ceiling, self.noise, state.unsent_along(subgraph), self.weights)
        packed, moving = pack([part], self.norms[:, None], once=self.kind is Transfer.SEND_ONCE)
        course, done = solve_horizons(packed, moving, effort)
        last = state.step + int(done[0])
        steps = CourseSteps(state.step + 1, last, subgraph, course, self.norms, self.weights)
        own = slice(len(steps))
        shares = course.steps.phi[own]
        if self.kind is not Transfer.SEND_ONCE:
            # The steps have their fractions already.
            shares = np.divide(course.useful[own], subgraph.fresh, out=shares, where=subgraph.fresh > 0)
        after = state.after(last, moving.data, subgraph, moving.unsent)
        iterations = float(course.steps.figures[own, 0, 0].sum())
        return _Done(steps, after, shares, course.steps.R[own], course.steps.mu[own], iterations)

    def one_by_one(self, state: HorizonState, solve: Solve, effort: Effort) -> _Done:
        """By another solver, while it has time."""
        unsent = state.unsent_along(self.subgraph)
        held = state.data
        steps, shares = [], []
        for t, norm in enumerate(self.norms.tolist(), start=state.step + 1):
            columns = _columns(self.subgraph, self.kind, self.weights, held, unsent, self.ceiling, norm, self.noise)
            answer = None if effort.cancel[0] else solve(StepProblem.trusted(**columns), time_left(effort))
            if answer is None:
                break
            shares.append(self.kind.share(unsent, answer.fractions))
            unsent = self.kind.left(unsent, answer.fractions)
            held = held + answer.received
            steps.append(_step_plan(t, self.subgraph, answer, held, self.weights))
        last = state.step + len(steps)
        after = state.after(last, held, self.subgraph, unsent)
        received, prices = [step.received for step in steps], [step.receiver_prices for step in steps]
        iterations = sum(step.iterations for step in steps)
        return _Done(steps, after, np.array(shares), np.array(received), np.array(prices), iterations)


def plan_offloading(
    network: Network | Schedule,
    sampled: npt.ArrayLike,
    *,
    horizon: int,
    changes: Iterable[Change] = (),
    gradient: GradientModel | None = None,
    gradient_noise: float = 1.0,
    method: str = "fast",
    transfer: str = DEFAULT_TRANSFER,
    weights: Weights = NO_WEIGHTS,
    planning: str = "step",
    generator: np.random.Generator | None = None,
    tolerance: float = TOLERANCE,
    time_limit: float | None = None,
) -> Plan:
    """Plan the offloading for t = 1..T without observations: ‖∇F̄(t)‖ = norm/decay^t.

    If sampled devices cannot process their data, the plan is `infeasible` and names the devices and the reasons.
    """
    begin = perf_counter()
    schedule = Schedule.of(network, changes)
    horizon = as_count(horizon, "horizon")
    gradient = GradientModel() if gradient is None else gradient
    how = _how(method, transfer, weights, gradient_noise, planning, generator, tolerance, time_limit)
    state = start(schedule, sampled)
    unsampled = data_outside(schedule.network.devices.data, state.sampled)
    period = _advance(schedule, state, gradient.norms(1, horizon), horizon, unsampled, how)
    seconds = perf_counter() - begin
    return Plan(
        n_devices=len(schedule.network),
        sampled=period.state.sampled,
        steps=period.steps,
        obstacles=period.obstacles,
        seconds=seconds,
        unsampled_data=unsampled,
        gradient_noise=gradient_noise,
        transfer=transfer,
        planning=planning,
        horizon_bound=period.bound,
    )


def _check_planning(name: str, kind: Transfer, method: str) -> None:
    if name not in PLANNINGS:
        raise InvalidInputError("planning", f"must be one of {', '.join(PLANNINGS)}, is {name!r}")
    if name == "horizon" and kind is not Transfer.SEND_ONCE:
        raise InvalidInputError("planning", "horizon needs transfer send_once: redrawing over many steps is not convex")
    if name == "horizon" and method != "fast":
        raise InvalidInputError("planning", f"horizon needs the method fast, is {method!r}")


def _planned_segment(begin: HorizonState, segment: _Segment, done: _Done) -> PlannedSegment:
    """What the bound on the whole horizon needs of these steps; `begin` is the state before the first of all."""
    n_steps = len(done.steps)
    return PlannedSegment(
        segment.subgraph,
        segment.ceiling,
        begin.unsent_along(segment.subgraph),
        n_steps,
        segment.norms[:n_steps],
        done.received,
        done.prices,
        done.iterations,
    )


def _columns(
    subgraph: Subgraph,
    kind: Transfer,
    weights: Weights,
    held: FloatArray,
    unsent: FloatArray,
    ceiling: FloatArray,
    norm: float,
    noise: float,
) -> dict[str, Any]:
    devices = subgraph.network.devices
    sampled = subgraph.sampled
    useful = kind.useful(subgraph.fresh, unsent)
    return {
        "offsets": subgraph.offsets,
        "receiver": subgraph.receiver,
        "useful": useful,
        "cost": subgraph.cost,
        "budget": subgraph.budget,
        "receive_capacity": devices.receive_capacity[sampled],
        # Rounding in D_i + R_i may exceed the ceiling by the last digit.
        "data_ceiling": np.maximum(ceiling, held),
        "data": held,
        "unsampled_data": subgraph.unsampled_data,
        "gradient_norm": norm,
        "gradient_noise": noise,
        "limit": kind.limit(unsent),
        "price": weights.prices(subgraph, useful),
        "load": subgraph.held if weights.are_zero else None,
    }


def _solver(method: str, generator: np.random.Generator | None) -> Solve:
    """What solves the steps one by one; the fast solver has all of them in one call instead."""
    if method == "cvxpy":
        require_installed()
        return lambda problem, remaining: (
            solve_reference(problem, time_limit=remaining) if remaining is None or remaining > 0 else None
        )
    if method == "random":
        if generator is None:
            raise InvalidInputError("generator", "random offloading needs a random generator")
        return lambda problem, _: offload_randomly(problem, generator)
    if method == "greedy":
        return lambda problem, _: offload_greedily(problem)
    if method == "none":
        return lambda problem, _: offload_nothing(problem)
    raise InvalidInputError("method", f"must be one of {', '.join(METHODS)}, is {method!r}")


def _joules(subgraph: Subgraph, moves: IntArray, datapoints: FloatArray, held: FloatArray, weights: Weights) -> float:
    joules = weights.priced
    if joules is None:
        return 0.0
    return float(datapoints @ joules.of_sending(subgraph)[moves] + held @ joules.of_holding(subgraph))


def _step_plan(t: int, subgraph: Subgraph, answer: StepSolution, held: FloatArray, weights: Weights) -> StepPlan:
    moves = np.flatnonzero(answer.fractions)
    fraction = answer.fractions[moves]
    datapoints = fraction * subgraph.held[moves]
    step = StepPlan(
        step=t,
        source=subgraph.source[moves],
        target=subgraph.target[moves],
        fraction=fraction,
        datapoints=datapoints,
        useful=fraction * answer.problem.useful[moves],
        received=answer.received,
        sampled_data=held,
        gradient_norm=answer.problem.gradient_norm,
        sampling_term=answer.sampling_term,
        statistical_term=answer.statistical_term,
        relative_gap=answer.relative_gap,
        max_violation=answer.max_violation,
        status=answer.status,
        iterations=answer.iterations,
        receiver_prices=answer.receiver_prices,
        transmit_cost=float(datapoints @ subgraph.cost[moves]),
        processing_cost=float(held @ subgraph.processing_cost),
        energy_cost=_joules(subgraph, moves, datapoints, held, weights),
        weights=weights,
    )
    # The step problem leaves out what processing the data held before costs.
    return step if answer.gap == 0 else replace(step, relative_gap=answer.gap / step.objective)
