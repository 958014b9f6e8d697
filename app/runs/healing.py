"""Who trains in the next period of a run: devices are lost and come back, and others take their places."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from app.http.problems import InfeasibleError, InvalidRequestError
from app.plans.planning import Choice, PlanQuery, PlanResult, sampling_memory, solve_period
from app.runs.carried import Carried
from app.runs.policy import Group, Policy
from app.wire.effort import Deadline
from app.wire.ids import describe
from sampler import DEFAULT_OBJECTIVE, SamplingError, SamplingProblem, TooFewDevicesError, find_sampler, objective_of
from sampler.healing import Healed, QuotaError, Replacement, heal
from sampler.set_bound import set_bound
from solver import GradientModel, HorizonState, Obstacle, Schedule, obstacles
from solver.horizon.membership import NOBODY, exchange, schedule_as_it_stands
from solver.step.fast import TOLERANCE, effort_for

__all__ = ["Fresh", "NextSet", "Replaced", "next_set", "plan_next", "within_groups", "without_lost"]

LOST, SWAPPED, VACANT = "lost", "swapped", "vacant"
_NOBODY = "no sampled device can train on, and none takes its place"
# Looking for replacements may take this share of the time that is left.
_SHARE = 0.5


@dataclass(frozen=True)
class Replaced:
    """A device that left the sampled set and the one that came; `reason`: why it left, or that a place was free."""

    lost: int | None
    by: int | None
    reason: str


@dataclass(frozen=True, eq=False)
class Fresh:
    """A choice of all devices afresh, and its plan for the same steps."""

    sampled: NDArray[np.int64]
    objective: float
    bound: float


@dataclass(frozen=True, eq=False)
class NextSet:
    """The state with who trains next, who was replaced, and the problem that they were chosen for, if any were."""

    state: HorizonState
    replaced: tuple[Replaced, ...] = ()
    problem: SamplingProblem | None = None
    complete: bool | None = None


def without_lost(query: PlanQuery, lost: NDArray[np.int64]) -> PlanQuery:
    """The query for a network in which lost devices hold no data: they neither train nor send."""
    if not lost.size:
        return query
    network = query.schedule.network
    data = network.devices.data.copy()
    data[lost] = 0.0
    return replace(query, schedule=Schedule(network.with_columns({"data": data}), query.schedule.changes))


def next_set(query: PlanQuery, carried: Carried, period: int, gone: NDArray[np.int64], policy: Policy) -> NextSet:
    """Who trains in this period.

    Sampled devices that are in `gone` have lost what they held. `query` is that of the network without those that are
    lost now (`without_lost`).

    Raises:
        InfeasibleError: nobody can train; says which devices and why.
    """
    state = carried.horizon
    limits = policy.participation
    refused = {} if limits is None else carried.trained.refused(limits, period)
    members = state.sampled.tolist()
    told = refused | dict.fromkeys(gone.tolist(), LOST)
    reasons = {device: told[device] for device in members if device in told}
    if policy.resample.when == "never":
        return _remaining(query, state, reasons, gone)
    able = [device for device in members if device not in reasons]
    reasons |= {one.device: one.reason for one in _overloaded(query, state, able)}
    vacant = state.sampled.size < query.sample_size
    if not (reasons or vacant or policy.resample.when == "always"):
        return NextSet(state)
    with sampling_memory(query):
        problem = _problem(query, carried, refused, reasons, gone)
        leaving = np.array(list(reasons), np.int64)
        generator = np.random.default_rng([query.seed, period])
        try:
            healed = _healed(query.sampler, problem, state.sampled, generator, lost=leaving, policy=policy)
        except QuotaError as error:
            why = refused | dict.fromkeys(carried.lost, LOST)
            raise _unmet(query, problem, policy.groups, error, why) from error
    if not healed.sampled.size:
        raise _nobody(query, carried, refused | reasons)
    replaced = tuple(_told(one, reasons) for one in healed.replaced)
    new = exchange(query.schedule, state, healed.sampled, lost=gone)
    came = any(one.by is not None for one in replaced)
    return NextSet(new, replaced, problem if came else None, healed.complete if came else None)


def _remaining(query: PlanQuery, state: HorizonState, reasons: dict[int, str], gone: NDArray[np.int64]) -> NextSet:
    kept = [device for device in state.sampled.tolist() if device not in reasons]
    if not kept:
        raise _infeasible(query, _NOBODY, reasons, state.step + 1)
    told = tuple(Replaced(device, None, reason) for device, reason in reasons.items())
    return NextSet(exchange(query.schedule, state, kept, lost=gone), told) if told else NextSet(state)


def _overloaded(query: PlanQuery, state: HorizonState, able: list[int]) -> tuple[Obstacle, ...]:
    here = np.flatnonzero(np.isin(state.sampled, able))
    devices, held = state.sampled[here], state.data[here]
    return obstacles(query.schedule, query.horizon, devices, first=state.step + 1, data=held)


def _problem(
    query: PlanQuery, carried: Carried, refused: dict[int, str], reasons: dict[int, str], gone: NDArray[np.int64]
) -> SamplingProblem:
    """Choose for the steps that are left, in the network as it stands."""
    state = carried.horizon
    ahead = query.schedule.after(state.step)
    now = schedule_as_it_stands(ahead, state, transfer=query.transfer, lost=gone)
    allowed = _allowed(query)
    allowed[list(refused)] = False
    gradient = replace(carried.gradient, since=0)
    try:
        problem = _among(query, now, query.horizon - state.step, allowed, gradient)
    except TooFewDevicesError as error:
        raise _nobody(query, carried, refused | reasons) from error
    return replace(problem, sample_size=min(query.sample_size, problem.candidates.size))


def _allowed(query: PlanQuery) -> NDArray[np.bool_]:
    n = len(query.schedule.network)
    return np.ones(n, np.bool_) if query.eligible is None else np.isin(np.arange(n), query.eligible)


def _among(
    query: PlanQuery, schedule: Schedule, horizon: int, allowed: NDArray[np.bool_], gradient: GradientModel
) -> SamplingProblem:
    """Choose among all that can be sampled, if only one."""
    deadline = Deadline.after(query.time_limit)
    return SamplingProblem.of(
        schedule,
        1,
        horizon=horizon,
        allowed=allowed,
        transfer=query.transfer,
        gradient=gradient,
        gradient_noise=query.gradient_noise,
        effort=effort_for(TOLERANCE, _SHARE * deadline.left, deadline.flag),
    )


def _healed(
    sampler: str,
    problem: SamplingProblem,
    members: NDArray[np.int64],
    generator: np.random.Generator,
    *,
    lost: NDArray[np.int64] = NOBODY,
    policy: Policy,
) -> Healed:
    resample = policy.resample
    try:
        return heal(
            problem,
            members,
            generator,
            lost=lost,
            objective=objective_of(sampler) or DEFAULT_OBJECTIVE,
            most=resample.max_swaps,
            swaps=resample.when == "always",
            quotas=policy.quotas,
        )
    except QuotaError:
        raise
    except SamplingError as error:
        raise InvalidRequestError.at("/resample", str(error)) from error


def _told(one: Replacement, reasons: dict[int, str]) -> Replaced:
    return Replaced(one.lost, one.by, VACANT if one.lost is None else reasons.get(one.lost, SWAPPED))


def _nobody(query: PlanQuery, carried: Carried, reasons: dict[int, str]) -> InfeasibleError:
    """Nobody can train: the reasons that are known, and those of all others that may be sampled."""
    first = carried.horizon.step + 1
    reasons = reasons | dict.fromkeys(carried.lost, LOST)
    others = np.setdiff1d(np.flatnonzero(_allowed(query)), list(reasons))
    reasons |= {one.device: one.reason for one in obstacles(query.schedule, query.horizon, others, first=first)}
    return _infeasible(query, _NOBODY, reasons, first)


def _unmet(
    query: PlanQuery, problem: SamplingProblem, groups: tuple[Group, ...], error: QuotaError, refused: dict[int, str]
) -> InfeasibleError:
    """Groups that cannot be met: their devices that cannot train, with the reason; if several, what the others do."""
    told = [groups[place] for place in error.places]
    members = np.unique(np.concatenate([group.quota.devices for group in told]))
    unable = np.setdiff1d(members, problem.candidates)
    found = {one.device: one.reason for one in obstacles(problem.schedule, problem.horizon, unable)}
    reasons = {device: refused.get(device, found.get(device, "is not in `eligible`")) for device in unable.tolist()}
    if len(told) == 1:
        detail = f"{told[0].quota.least} devices of the group {told[0].name} are to train, {error.able} can"
    else:
        asked = ", ".join(f"{group.quota.least} of {group.name}" for group in told)
        known = "no" if error.proven else "there was no time to find out which"
        detail = f"{known} {problem.sample_size} devices have the least share of all these groups: {asked}"
        counts: dict[int, list[str]] = {}
        for group in told:
            for device in np.intersect1d(group.quota.devices, problem.candidates).tolist():
                counts.setdefault(device, []).append(group.name)
        reasons |= {device: f"can train, and counts for {', '.join(names)}" for device, names in counts.items()}
    return _infeasible(query, detail, reasons, query.horizon - problem.horizon + 1)


def _infeasible(query: PlanQuery, detail: str, reasons: dict[int, str], step: int) -> InfeasibleError:
    plain = describe(query.ids)
    told = [Obstacle(device, step, reason) for device, reason in reasons.items()]
    return InfeasibleError(detail, told, lambda one: plain(one).model_copy(update={"reason": one.reason}))


def within_groups(query: PlanQuery, result: PlanResult, policy: Policy) -> PlanQuery | None:
    """The query with a set that has enough of each group, if the one that was sampled has not; else None.

    Raises:
        InfeasibleError: too few devices of a group can train; says which and why.
    """
    sampled = result.plan.sampled
    if not any(quota.missing(sampled) for quota in policy.quotas):
        return None
    first = Policy(groups=policy.groups)
    with sampling_memory(query):
        problem = _among(query, query.schedule, query.horizon, _allowed(query), query.gradient)
        problem = replace(problem, sample_size=query.sample_size)
        try:
            healed = _healed(query.sampler, problem, sampled, np.random.default_rng(query.seed), policy=first)
        except QuotaError as error:
            raise _unmet(query, problem, policy.groups, error, {}) from error
    return replace(query, sampled=healed.sampled)


def plan_next(
    query: PlanQuery, carried: Carried, chosen: NextSet, last: int, gone: NDArray[np.int64]
) -> tuple[PlanResult, Fresh | None]:
    """Plan the steps up to `last` for the devices chosen; if some came in, also for a choice of all devices afresh."""
    result = solve_period(query, chosen.state, carried.gradient, last)
    if chosen.problem is None:
        return result, None
    deadline = Deadline.after(query.time_limit)
    effort = effort_for(TOLERANCE, deadline.left, deadline.flag)
    before = exchange(query.schedule, carried.horizon, carried.horizon.sampled, lost=gone)
    ahead = query.schedule.after(before.step)
    size = chosen.state.sampled.size
    with sampling_memory(query):
        problem = replace(chosen.problem, sample_size=size, effort=effort)
        bound = set_bound(replace(problem, schedule=ahead), last - before.step, before)
        fresh = _afresh(query, problem)
    deadline.check()
    told = replace(result, choice=Choice(chosen.state.sampled, np.empty(0), complete=chosen.complete, set_bound=bound))
    if fresh is None:
        return told, None
    if set(fresh.tolist()) == set(chosen.state.sampled.tolist()):
        other = result
    else:
        # Nobody carries this plan out.
        without_orders = replace(query, orders=False)
        other = solve_period(without_orders, exchange(query.schedule, before, fresh), carried.gradient, last)
    objective, below = other.plan.objective, other.plan.horizon_bound
    return told, None if objective is None or below is None else Fresh(fresh, objective, below)


def _afresh(query: PlanQuery, problem: SamplingProblem) -> NDArray[np.int64] | None:
    """The run's sampler on the network as it stands; None if it cannot choose any more."""
    try:
        return find_sampler(query.sampler)(problem, np.random.default_rng(query.seed)).sampled
    except SamplingError:
        return None
