"""From a query to a plan: sample, then solve within a time limit. Memory is charged before each stage."""

from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from app.http.problems import InfeasibleError, InvalidRequestError
from app.wire import estimate
from app.wire.budget import charge, reserved
from app.wire.effort import Deadline
from app.wire.fleet import Translation
from app.wire.ids import DeviceIds, describe
from app.wire.network import SimilarityOrigin
from sampler import (
    SERVED_OBJECTIVES,
    Pick,
    SamplingError,
    SamplingProblem,
    TooFewDevicesError,
    UnknownSamplerError,
    find_sampler,
    objective_of,
    served_samplers,
)
from sampler.set_bound import set_bound
from solver import (
    GradientModel,
    HorizonState,
    Period,
    Plan,
    Schedule,
    Weights,
    advance,
    start,
)
from solver.horizon.membership import Moved
from solver.kernels.layout import Effort
from solver.network.energy import Energy
from solver.orders import Orders, make_orders
from solver.step.fast import TOLERANCE, effort_for

__all__ = [
    "Choice",
    "PlanQuery",
    "PlanResult",
    "bound_choices",
    "check_choice",
    "choose",
    "make_plan",
    "plan_choice",
    "sampling_memory",
    "solve_period",
]

# Up to this many links × steps a solve takes well under a second. A time limit would only slow it down, and would
# switch off the solver's second opinion on a hard step.
_UNTIMED_WORK = 200_000
# Sampling may take this share of the time that is left. Without time the solver hardly improves on sending nothing.
_SAMPLING_SHARE = 0.5


@dataclass(frozen=True, eq=False)
class PlanQuery:
    """What is to be planned, and the limits of the plan; `stored` is the id and version of a stored network."""

    schedule: Schedule
    sample_size: int
    horizon: int
    aggregation_period: int
    gradient: GradientModel
    gradient_noise: float
    sampler: str
    sampled: NDArray[np.int64] | None
    eligible: NDArray[np.int64] | None
    explained: NDArray[np.int64]
    solver: str
    transfer: str
    weights: Weights
    planning: str
    seed: int
    time_limit: float
    asked_for_time_limit: bool
    dense: bool
    max_reference_links: int
    orders: bool = False
    ids: DeviceIds | None = None
    fleet: Translation | None = None
    energy: Energy | None = None
    stored: tuple[str, int] | None = None
    similarity: SimilarityOrigin | None = None


@dataclass(frozen=True, eq=False)
class Choice:
    """The sampled devices with what the sampler says of them; `complete` is None where the caller chose them.

    No choice has a mean objective below `set_bound`. These devices have at least the share `guarantee` of the most that
    any can have of the sampler's own `objective`.
    """

    sampled: NDArray[np.int64]
    scores: NDArray[np.float64]
    trace: tuple[Pick, ...] = ()
    complete: bool | None = None
    guarantee: float | None = None
    objective: str | None = None
    set_bound: float | None = None


@dataclass(frozen=True, eq=False)
class PlanResult:
    """A plan or a period of one, the state after it, and the seconds of each stage.

    `orders` are those of its steps, if they were asked for; the state is then that after them.
    """

    plan: Plan
    state: HorizonState
    seconds: dict[str, float]
    choice: Choice | None = None
    orders: Orders | None = None
    ids: DeviceIds | None = None
    fleet: Translation | None = None
    energy: Energy | None = None
    similarity: SimilarityOrigin | None = None

    def moved(self, before: HorizonState) -> Moved:
        """What is sent from the state before its steps on, by pair: by the orders, or else as planned."""
        if self.orders is None:
            return Moved.by(self.plan.steps, before, self.state)
        return self.orders.moved


def make_plan(query: PlanQuery, *, steps: int | None = None) -> PlanResult:
    """Sample, and plan the first `steps` steps (default: all).

    Raises:
        InfeasibleError: too few devices can be sampled.
    """
    begin = perf_counter()
    last = query.horizon if steps is None else min(steps, query.horizon)
    _charge_steps(query, last)
    deadline = Deadline.after(query.time_limit)
    choice = choose(query, deadline)
    chosen = perf_counter()
    state = start(query.schedule, choice.sampled)
    result = _solve(query, state, query.gradient, last, deadline)
    solved = perf_counter()
    choice = replace(choice, set_bound=bound_choices(query, last, deadline))
    seconds = {"sample": chosen - begin, **result.seconds, "bound": perf_counter() - solved}
    return replace(result, seconds=seconds, choice=choice)


def plan_choice(query: PlanQuery, sampled: NDArray[np.int64], deadline: Deadline) -> PlanResult:
    """Plan all steps for devices that are chosen already.

    Raises:
        InfeasibleError: one of them cannot process what it holds.
    """
    _charge_steps(query, query.horizon)
    return _solve(query, start(query.schedule, sampled), query.gradient, query.horizon, deadline)


def check_choice(query: PlanQuery) -> None:
    """Refuse samplers that callers are not offered, and fixed sets beside `eligible`.

    A stored run or plan may name a sampler that was offered once. Nothing is sampled for it again, so only new queries
    are checked.

    Raises:
        InvalidRequestError: callers are not offered this sampler, or `sampled` names a device that is not eligible.
    """
    if query.sampled is not None:
        _check_eligible(query, query.sampled)
    try:
        find_sampler(query.sampler, served=True)
    except UnknownSamplerError as error:
        # The error's own text would echo the caller's.
        objectives = f"and of those that search, NAME:OBJECTIVE with one of {', '.join(SERVED_OBJECTIVES)}"
        rule = f"must be one of {', '.join(served_samplers())}; {objectives}"
        raise InvalidRequestError.at("/sampler", rule) from error


def choose(query: PlanQuery, deadline: Deadline) -> Choice:
    """The devices that the sampler chooses in its share of the time, or those that the caller names.

    Raises:
        InfeasibleError: too few devices can be sampled.
        InvalidRequestError: the sampler is unknown or cannot serve this network.
    """
    deadline.check()  # reading a large network may have taken long
    check_choice(query)
    if query.sampled is not None:
        return Choice(query.sampled, np.empty(0))
    with sampling_memory(query):
        choice = _sample(query, deadline)
    deadline.check()
    return choice


def _check_eligible(query: PlanQuery, sampled: NDArray[np.int64]) -> None:
    strangers = [] if query.eligible is None else np.setdiff1d(sampled, query.eligible).tolist()
    if strangers:
        name = strangers[0] if query.ids is None else query.ids.names[strangers[0]]
        raise InvalidRequestError.at("/sampled", f"names device {name}, which is not in `eligible`")


def sampling_memory(query: PlanQuery) -> AbstractContextManager[None]:
    """Reserve what it takes to look at all devices, to sample among them, or to say what hinders each."""
    n, links = len(query.schedule.network), len(query.schedule.network.links)
    return reserved(estimate.sampling(query.sampler, n, links), f"sampling among {n} devices with {links} links")


def _sample(query: PlanQuery, deadline: Deadline) -> Choice:
    problem = _problem(query, effort_for(TOLERANCE, _SAMPLING_SHARE * deadline.left, deadline.flag))
    try:
        selection = find_sampler(query.sampler)(problem, np.random.default_rng(query.seed))
    except SamplingError as error:
        raise InvalidRequestError.at("/sampler", str(error)) from error
    return Choice(
        selection.sampled,
        selection.scores,
        selection.trace,
        selection.complete,
        selection.guarantee,
        objective_of(query.sampler),
    )


def bound_choices(query: PlanQuery, last: int, deadline: Deadline) -> float:
    """What no choice of devices can go below in the steps up to `last`, as far as the time that is left can tell."""
    with sampling_memory(query):
        return set_bound(_problem(query, effort_for(TOLERANCE, deadline.left, deadline.flag)), last)


def _problem(query: PlanQuery, effort: Effort) -> SamplingProblem:
    allowed = _mask(query)
    try:
        return SamplingProblem.of(
            query.schedule,
            query.sample_size,
            horizon=query.horizon,
            allowed=allowed,
            transfer=query.transfer,
            gradient=query.gradient,
            gradient_noise=query.gradient_noise,
            effort=effort,
            explained=query.explained,
        )
    except TooFewDevicesError as error:
        relevant = tuple(o for o in error.obstacles if allowed is None or allowed[o.device])
        detail = f"{error.asked} devices are to be sampled, {error.eligible} can be"
        raise InfeasibleError(detail, relevant, describe(query.ids)) from error


def solve_period(query: PlanQuery, state: HorizonState, gradient: GradientModel, last: int) -> PlanResult:
    """Plan the steps after `state.step` up to `last`.

    Raises:
        InfeasibleError: a sampled device cannot process what it holds.
        InvalidRequestError: more links for the reference solver than are allowed.
        TooLargeError: the plan needs more memory than there is for requests.
    """
    _charge_steps(query, last - state.step)
    return _solve(query, state, gradient, last, Deadline.after(query.time_limit))


def _solve(query: PlanQuery, state: HorizonState, gradient: GradientModel, last: int, deadline: Deadline) -> PlanResult:
    begin = perf_counter()
    n_links = links_into(query.schedule, state.sampled)
    _keep_limits(query, n_links)
    norms = gradient.norms(state.step + 1, last)
    needed = estimate.offloading(query.solver, query.sample_size, n_links, norms.size)
    if query.planning == "horizon":
        needed += estimate.whole_horizon(query.sample_size, n_links, norms.size)
    with reserved(needed, f"solving {norms.size} steps with {n_links} links"):
        period = _advance(query, state, norms, deadline)
    deadline.check()
    if period.obstacles:
        raise InfeasibleError(
            "sampled devices cannot process the data they hold", period.obstacles, describe(query.ids)
        )
    n_transfers = sum(step.source.size for step in period.steps)
    charge(estimate.transfers(n_transfers), f"an answer of {n_transfers} transfers")
    seconds = perf_counter() - begin
    network = query.schedule.network
    unsampled = float(np.delete(network.devices.data, state.sampled).sum())
    plan = Plan(
        n_devices=len(network),
        sampled=state.sampled,
        steps=period.steps,
        obstacles=(),
        seconds=seconds,
        unsampled_data=unsampled,
        gradient_noise=query.gradient_noise,
        transfer=query.transfer,
        planning=query.planning,
        horizon_bound=period.bound,
    )
    told = {"ids": query.ids, "fleet": query.fleet, "energy": query.energy, "similarity": query.similarity}
    result = PlanResult(plan, period.state, {"solve": seconds}, **told)  # type: ignore[arg-type]
    return _with_orders(query, state, result) if query.orders else result


def _with_orders(query: PlanQuery, state: HorizonState, result: PlanResult) -> PlanResult:
    """The result with its orders; `state` is that before its steps."""
    begin = perf_counter()
    steps = result.plan.steps
    pairs = state.source.size + sum(step.source.size for step in steps)
    with reserved(estimate.ordering(pairs), f"orders of at most {pairs} pairs of devices"):
        orders = make_orders(query.schedule, state, steps, transfer=query.transfer, horizon=query.horizon)
    charge(estimate.orders(len(orders)), f"orders of {len(orders)} sends")
    seconds = {**result.seconds, "orders": perf_counter() - begin}
    return replace(result, orders=orders, state=orders.state, seconds=seconds)


def _charge_steps(query: PlanQuery, steps: int) -> None:
    size, n = query.sample_size, len(query.schedule.network)
    charge(estimate.steps(size, steps), f"a plan for {size} devices over {steps} steps")
    if query.dense:
        charge(estimate.dense_matrices(n, steps), f"an answer of {steps} matrices of {n}×{n} numbers")


def _keep_limits(query: PlanQuery, n_links: int) -> None:
    if query.solver == "cvxpy" and n_links > query.max_reference_links:
        raise InvalidRequestError.at(
            "/solver", f"cvxpy takes at most {query.max_reference_links} links, here are {n_links}"
        )


def _mask(query: PlanQuery) -> NDArray[np.bool_] | None:
    if query.eligible is None:
        return None
    mask = np.zeros(len(query.schedule.network), dtype=np.bool_)
    mask[query.eligible] = True
    return mask


def _advance(query: PlanQuery, state: HorizonState, norms: NDArray[np.float64], deadline: Deadline) -> Period:
    work = links_into(query.schedule, state.sampled) * norms.size
    small = work <= _UNTIMED_WORK and query.planning == "step"
    untimed = small and not query.asked_for_time_limit and query.solver == "fast"
    return advance(
        query.schedule,
        state,
        norms,
        gradient_noise=query.gradient_noise,
        horizon=query.horizon,
        method=query.solver,
        transfer=query.transfer,
        weights=query.weights,
        planning=query.planning,
        time_limit=None if untimed else deadline.left,
        cancel=deadline.flag,
    )


def links_into(schedule: Schedule, sampled: NDArray[np.int64]) -> int:
    """The most links into the sampled devices under any of the schedule's conditions."""
    return max(
        int((segment.network.incoming[sampled + 1] - segment.network.incoming[sampled]).sum())
        for segment in schedule.segments
    )
