"""Samplers by name, in two tiers: those that callers of the service are offered, and those for studies only.

A sampler that searches also takes an objective, as in `local_search:surrogate`. Callers are offered three objectives.
"""

from sampler.base import Sampler
from sampler.baselines import sample_heuristically, sample_randomly
from sampler.branch.random_scores import sample_by_random_branch
from sampler.errors import DuplicateSamplerError, UnknownSamplerError
from sampler.gcn.rank import GcnRank
from sampler.gcn.sampler import GcnBranch, GcnBranchFedl
from sampler.objectives.registry import SERVED_OBJECTIVES
from sampler.searches.base import ObjectiveSampler
from sampler.searches.exhaustive import sample_exhaustively
from sampler.searches.greedy import sample_greedily
from sampler.searches.local_search import sample_by_local_search

__all__ = ["DEFAULT_SAMPLER", "find_sampler", "objective_of", "register_sampler", "sampler_names", "served_samplers"]

# Our method: it chooses wherever no sampler is named.
DEFAULT_SAMPLER = "greedy"

_SERVED: dict[str, Sampler] = {
    "exhaustive": ObjectiveSampler(sample_exhaustively),
    "gcn_branch": GcnBranch(),
    "gcn_rank": GcnRank(),
    "greedy": ObjectiveSampler(sample_greedily),
    "heuristic": sample_heuristically,
    "local_search": ObjectiveSampler(sample_by_local_search),
    "random": sample_randomly,
}
_FOR_STUDIES: dict[str, Sampler] = {
    "gcn_branch_fedl": GcnBranchFedl(),
    "random_branch": sample_by_random_branch,
}


def served_samplers() -> tuple[str, ...]:
    """Return the names that callers of the service are offered, sorted."""
    return tuple(sorted(_SERVED))


def sampler_names() -> tuple[str, ...]:
    """Return all registered names, sorted."""
    return tuple(sorted({**_SERVED, **_FOR_STUDIES}))


def find_sampler(name: str, *, served: bool = False) -> Sampler:
    """Return the sampler of that name, or for NAME:OBJECTIVE a search under that objective.

    Args:
        name: NAME or NAME:OBJECTIVE.
        served: accept only what callers of the service are offered.

    Raises:
        UnknownSamplerError: there is no such sampler or objective, or the sampler takes no objective.
    """
    base, colon, objective = name.partition(":")
    sampler = _SERVED.get(base) or (None if served else _FOR_STUDIES.get(base))
    if sampler is None:
        known = served_samplers() if served else sampler_names()
        raise UnknownSamplerError(f"unknown sampler {base!r}; known: {', '.join(known)}")
    if not colon:
        return sampler
    if not isinstance(sampler, ObjectiveSampler):
        raise UnknownSamplerError(f"the sampler {base!r} takes no objective")
    if served and objective not in SERVED_OBJECTIVES:
        raise UnknownSamplerError(f"unknown objective {objective!r}; known: {', '.join(SERVED_OBJECTIVES)}")
    return sampler.with_objective(objective)


def objective_of(name: str) -> str | None:
    """Return the name of the objective that this sampler searches under; None if it does not search.

    Raises:
        UnknownSamplerError: there is no such sampler or objective.
    """
    sampler = find_sampler(name)
    return sampler.objective if isinstance(sampler, ObjectiveSampler) else None


def register_sampler(name: str, sampler: Sampler, *, served: bool = False) -> None:
    """Add a sampler under a new name, for studies or also for callers of the service.

    Raises:
        DuplicateSamplerError: the name is taken.
    """
    if name in _SERVED or name in _FOR_STUDIES:
        raise DuplicateSamplerError(f"a sampler named {name!r} is registered already")
    (_SERVED if served else _FOR_STUDIES)[name] = sampler
