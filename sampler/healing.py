"""Who replaces the sampled devices that can train no longer, and which other swaps are worth it.

The problem is that of the network as it stands (`solver.horizon.membership.as_it_stands`), where sampled devices hold
what they have received: a device that leaves takes that out of the objective. So a swap pays for the data that has
moved.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from sampler.base import SamplingProblem
from sampler.errors import SamplingError
from sampler.objectives.registry import DEFAULT_OBJECTIVE, find_objective
from sampler.objectives.remembered import Remembered
from sampler.searches.greedy import grow
from sampler.searches.local_search import LEAST_GAIN, LocalSearch
from solver.step.fast import time_left

__all__ = ["Healed", "Quota", "QuotaError", "Replacement", "heal"]

# What SciPy's `milp` says of a problem without a solution, and the least time that it gets.
_INFEASIBLE = 2
_LEAST_SECONDS = 0.1


@dataclass(frozen=True, eq=False)
class Quota:
    """At least so many of the sampled devices are among these."""

    devices: NDArray[np.int64]
    least: int

    def missing(self, sampled: NDArray[np.int64]) -> int:
        """How many of them a set lacks."""
        return max(self.least - int(np.isin(sampled, self.devices).sum()), 0)


class QuotaError(SamplingError):
    """Quotas that no set meets: one with fewer candidates than it asks for, or several that S devices cannot meet.

    Attributes:
        places: the quotas by number. Without any one of several, the others could be met, if there was time to look.
        able: the candidates of the one quota.
        proven: no set meets them; otherwise none was found in time.
    """

    def __init__(self, places: Sequence[int], *, able: int = 0, proven: bool = True) -> None:
        super().__init__(f"quotas {', '.join(map(str, places))} cannot be met")
        self.places = tuple(places)
        self.able = able
        self.proven = proven


@dataclass(frozen=True)
class Replacement:
    """A device that left the sampled set, and the one that came in its place; one of the two may be None."""

    lost: int | None
    by: int | None


@dataclass(frozen=True, eq=False)
class Healed:
    """A sampled set after replacements.

    Attributes:
        sampled: those who stay in their old order, each who came in the place of the one who left.
        replaced: who left and who came.
        complete: whether there was time to look at every candidate.
    """

    sampled: NDArray[np.int64]
    replaced: tuple[Replacement, ...]
    complete: bool


def heal(
    problem: SamplingProblem,
    members: NDArray[np.int64],
    generator: np.random.Generator,
    *,
    lost: NDArray[np.int64] | None = None,
    objective: str = DEFAULT_OBJECTIVE,
    most: int | None = None,
    swaps: bool = False,
    quotas: Sequence[Quota] = (),
) -> Healed:
    """Fill the places of the members that are lost or no candidates, with those that raise the objective most.

    At most `most` devices come in (default: any number), so there may be fewer than S afterwards; later calls fill
    what is left. Quotas are filled first; if there are too few free places for that, members that no quota needs leave.
    With `swaps`, members are then swapped for others as long as that raises the objective and keeps the quotas.

    Raises:
        QuotaError: too few candidates are in a quota, or no S candidates meet all quotas (without `most`), or none that
            do were found in time.
    """
    gone = np.empty(0, np.int64) if lost is None else lost
    able = members[np.isin(members, problem.candidates) & ~np.isin(members, gone)]
    kept = _making_room(able, problem.sample_size, quotas)
    rest = generator.permutation(problem.candidates[~np.isin(problem.candidates, kept)])
    limit = len(problem.candidates) if most is None else most
    count = max(min(problem.sample_size - len(kept), limit, len(rest)), 0)
    lacking = most is None and any(quota.missing(kept) for quota in quotas)
    if count == 0 and not lacking and not (swaps and limit and len(rest)):
        return _healed(members, kept, np.empty(0, np.int64), complete=True)
    made = find_objective(objective)(problem)
    search = LocalSearch(made if made.cheap else Remembered(made), problem, problem.candidates)
    search.standing.move_to(kept)
    came, complete = _newcomers(search, rest, count, quotas)
    if most is None and any(quota.missing(search.standing.members) for quota in quotas):
        kept, needed = _meeting(problem, able, quotas)
        search.standing.move_to(np.append(kept, needed))
        others = problem.candidates[~np.isin(problem.candidates, search.standing.members)]
        more, complete = _newcomers(search, others, min(problem.sample_size - len(kept) - len(needed), len(others)), ())
        came = np.append(needed, more)
    # Who made room may have been the best to come: then it stays.
    kept = able[np.isin(able, np.append(kept, came))]
    healed = _healed(members, kept, came[~np.isin(came, able)], complete=complete)
    return _swapped(search, members, healed, limit, quotas) if swaps and complete else healed


def _making_room(kept: NDArray[np.int64], size: int, quotas: Sequence[Quota]) -> NDArray[np.int64]:
    """Those who stay, without the last ones that no quota needs if others need their places."""
    missing = sum(quota.missing(kept) for quota in quotas)
    for device in kept[::-1].tolist():
        if missing <= size - len(kept):
            break
        fewer = kept[kept != device]
        if sum(quota.missing(fewer) for quota in quotas) == missing:
            kept = fewer
    return kept


def _meeting(
    problem: SamplingProblem, kept: NDArray[np.int64], quotas: Sequence[Quota]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Who stays and who must come so that S devices meet all quotas, with as few newcomers as possible.

    Quotas that share devices may need those in several of them, which the search by objective does not look for.

    Raises:
        QuotaError: no S devices meet all quotas, or none were found in time.
    """
    found, proven = _fewest(problem, kept, quotas)
    if found is None:
        raise QuotaError(_conflict(problem, kept, quotas) if proven else range(len(quotas)), proven=proven)
    staying = kept[np.isin(kept, found)]
    room = problem.sample_size - len(found)
    others = kept[~np.isin(kept, found)][:room]
    return np.append(staying, others), found[~np.isin(found, kept)]


def _conflict(problem: SamplingProblem, kept: NDArray[np.int64], quotas: Sequence[Quota]) -> list[int]:
    """Of quotas that no S devices meet, some that none meet either, and that could be met without any one of them."""
    places = list(range(len(quotas)))
    for place in range(len(quotas)):
        if problem.out_of_time:
            break
        others = [one for one in places if one != place]
        found, proven = _fewest(problem, kept, [quotas[one] for one in others])
        if found is None and proven:
            places = others
    return places


def _fewest(
    problem: SamplingProblem, kept: NDArray[np.int64], quotas: Sequence[Quota]
) -> tuple[NDArray[np.int64] | None, bool]:
    """At most S candidates that meet all quotas, with as few newcomers as possible; else None.

    Also returns whether the answer is certain: the problem is NP-hard, so that it may end with the time.
    """
    # A server should not load SciPy's optimisers when it starts: few runs have quotas that share devices.
    from scipy.optimize import Bounds, LinearConstraint, milp  # noqa: PLC0415
    from scipy.sparse import csr_array  # noqa: PLC0415

    if not quotas:
        return np.empty(0, np.int64), True
    left = time_left(problem.effort)
    candidates = np.intersect1d(problem.candidates, np.concatenate([quota.devices for quota in quotas]))
    within = csr_array(np.array([np.isin(candidates, quota.devices) for quota in quotas], np.float64))
    chosen = milp(
        np.where(np.isin(candidates, kept), 0.0, 1.0),
        integrality=np.ones(candidates.size, np.int64),
        bounds=Bounds(0, 1),
        constraints=[
            LinearConstraint(within, lb=np.array([quota.least for quota in quotas])),
            LinearConstraint(np.ones((1, candidates.size)), ub=problem.sample_size),
        ],
        options={} if left is None else {"time_limit": max(left, _LEAST_SECONDS)},
    )
    if chosen.x is None:
        return None, chosen.status == _INFEASIBLE
    return candidates[chosen.x > 0.5], chosen.status == 0


def _newcomers(
    search: LocalSearch, rest: NDArray[np.int64], count: int, quotas: Sequence[Quota]
) -> tuple[NDArray[np.int64], bool]:
    """The best `count` of the rest, of each quota first what it lacks; and whether there was time to look at all."""
    came, complete = np.empty(0, np.int64), True
    everyone = Quota(rest, 0)
    for place, quota in enumerate((*quotas, everyone)):
        here = search.standing.members
        wanted = count - len(came) if quota is everyone else quota.missing(here)
        among = rest[np.isin(rest, quota.devices) & ~np.isin(rest, came)]
        if wanted > len(among):
            able = int(np.isin(here, quota.devices).sum()) + len(among)
            raise QuotaError([place], able=able)
        wanted = min(wanted, count - len(came))
        if wanted:
            grown = grow(search.standing, replace(search.problem, sample_size=len(here) + wanted), among)
            search.standing.move_to(np.concatenate((here, grown.sampled)))
            came, complete = np.append(came, grown.sampled), complete and grown.complete
    return came, complete


def _healed(members: NDArray[np.int64], kept: NDArray[np.int64], came: NDArray[np.int64], *, complete: bool) -> Healed:
    staying, coming = set(kept.tolist()), came.tolist()
    sampled: list[int] = []
    replaced: list[Replacement] = []
    for device in members.tolist():
        if device in staying:
            sampled.append(device)
            continue
        by = coming.pop(0) if coming else None
        replaced.append(Replacement(device, by))
        sampled += [] if by is None else [by]
    replaced += [Replacement(None, by) for by in coming]
    return Healed(np.array([*sampled, *coming], np.int64), tuple(replaced), complete)


def _keeping(
    quotas: Sequence[Quota], sampled: NDArray[np.int64], device: int, others: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Which of the others may take the place of a sampled device: no quota lacks more then."""
    may = np.ones(others.size, np.bool_)
    for quota in quotas:
        if quota.missing(sampled[sampled != device]) > quota.missing(sampled):
            may &= np.isin(others, quota.devices)
    return may


def _swapped(
    search: LocalSearch, members: NDArray[np.int64], healed: Healed, limit: int, quotas: Sequence[Quota]
) -> Healed:
    """The set after the best swap, again and again, while there are fewer than `limit` newcomers."""
    sampled, came = healed.sampled, {one.by for one in healed.replaced}
    replaced = list(healed.replaced)
    search.standing.move_to(sampled)
    value = search.objective.value(sampled) if len(sampled) else np.inf
    while len([one for one in replaced if one.by is not None]) < limit and not search.problem.out_of_time:
        rest = search.candidates[~np.isin(search.candidates, np.append(sampled, members))]
        other, found = search.best_swap(sampled, rest, partial(_keeping, quotas, sampled) if quotas else None)
        if not found > value + LEAST_GAIN * max(abs(value), 1.0):
            break
        (place,) = np.flatnonzero(other != sampled)
        out, by = int(sampled[place]), int(other[place])
        if out in came:  # a newcomer gives way to a better one
            replaced = [Replacement(one.lost, by) if one.by == out else one for one in replaced]
        else:
            replaced.append(Replacement(out, by))
        came.add(by)
        search.standing.move_to(other)
        sampled, value = other, found
    return Healed(sampled, tuple(replaced), complete=not search.problem.out_of_time)
