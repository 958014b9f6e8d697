"""Who replaces the sampled devices that can train no longer, and which other swaps are worth it.

The problem is that of the network as it stands (`solver.membership.as_it_stands`), where sampled devices hold what they
have received: a device that leaves takes that out of the objective. So a swap pays for the data that has moved.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sampler.base import SamplingProblem
from sampler.objectives.registry import DEFAULT_OBJECTIVE, find_objective
from sampler.objectives.remembered import Remembered
from sampler.searches.greedy import grow
from sampler.searches.local_search import LEAST_GAIN, LocalSearch

__all__ = ["Healed", "Replacement", "heal"]


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
) -> Healed:
    """Fill the places of the members that are lost or no candidates, with those that raise the objective most.

    At most `most` devices come in (default: any number), so there may be fewer than S afterwards; later calls fill
    what is left. With `swaps`, members are then swapped for others as long as that raises the objective.
    """
    gone = np.empty(0, np.int64) if lost is None else lost
    kept = members[np.isin(members, problem.candidates) & ~np.isin(members, gone)]
    rest = generator.permutation(problem.candidates[~np.isin(problem.candidates, kept)])
    limit = len(problem.candidates) if most is None else most
    count = max(min(problem.sample_size - len(kept), limit, len(rest)), 0)
    if count == 0 and not (swaps and limit and len(rest)):
        return _healed(members, kept, np.empty(0, np.int64), complete=True)
    made = find_objective(objective)(problem)
    search = LocalSearch(made if made.cheap else Remembered(made), problem, problem.candidates)
    search.standing.move_to(kept)
    grown = grow(search.standing, replace(problem, sample_size=len(kept) + count), rest)
    healed = _healed(members, kept, grown.sampled, complete=grown.complete)
    return _swapped(search, members, healed, limit) if swaps and grown.complete else healed


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


def _swapped(search: LocalSearch, members: NDArray[np.int64], healed: Healed, limit: int) -> Healed:
    """The set after the best swap, again and again, while there are fewer than `limit` newcomers."""
    sampled, came = healed.sampled, {one.by for one in healed.replaced}
    replaced = list(healed.replaced)
    search.standing.move_to(sampled)
    value = search.objective.value(sampled) if len(sampled) else np.inf
    while len([one for one in replaced if one.by is not None]) < limit and not search.problem.out_of_time:
        rest = search.candidates[~np.isin(search.candidates, np.append(sampled, members))]
        other, found = search.best_swap(sampled, rest)
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
