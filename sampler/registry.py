"""Samplers by name; those that search take an objective too, as in `local_search:surrogate`."""

from sampler.base import Sampler
from sampler.baselines import sample_heuristically, sample_randomly
from sampler.branch.random_scores import sample_by_random_branch
from sampler.errors import UnknownSamplerError
from sampler.gcn.rank import GcnRank
from sampler.gcn.sampler import GcnBranch, GcnBranchFedl
from sampler.searches.base import ObjectiveSampler
from sampler.searches.exhaustive import sample_exhaustively
from sampler.searches.greedy import sample_greedily
from sampler.searches.local_search import sample_by_local_search

__all__ = ["DEFAULT_SAMPLER", "find_sampler", "register_sampler", "sampler_names"]

# What "smart" means wherever nothing else is said.
DEFAULT_SAMPLER = "greedy"

_SAMPLERS: dict[str, Sampler] = {
    "exhaustive": ObjectiveSampler(sample_exhaustively),
    "gcn_branch": GcnBranch(),
    "gcn_branch_fedl": GcnBranchFedl(),
    "gcn_rank": GcnRank(),
    "greedy": ObjectiveSampler(sample_greedily),
    "heuristic": sample_heuristically,
    "local_search": ObjectiveSampler(sample_by_local_search),
    "random": sample_randomly,
    "random_branch": sample_by_random_branch,
}


def sampler_names() -> tuple[str, ...]:
    """Return the registered names, sorted."""
    return tuple(sorted(_SAMPLERS))


def find_sampler(name: str) -> Sampler:
    """Return the sampler of that name, or for NAME:OBJECTIVE a search under that objective.

    Raises:
        UnknownSamplerError: nothing is registered under it, or it takes no objective.
    """
    base, colon, objective = name.partition(":")
    try:
        sampler = _SAMPLERS[base]
    except KeyError:
        raise UnknownSamplerError(f"unknown sampler {base!r}; known: {', '.join(sampler_names())}") from None
    if not colon:
        return sampler
    if not isinstance(sampler, ObjectiveSampler):
        raise UnknownSamplerError(f"the sampler {base!r} takes no objective")
    return sampler.with_objective(objective)


def register_sampler(name: str, sampler: Sampler) -> None:
    """Add a sampler under a new name.

    Raises:
        ValueError: the name is taken.
    """
    if name in _SAMPLERS:
        raise ValueError(f"a sampler named {name!r} is registered already")
    _SAMPLERS[name] = sampler
