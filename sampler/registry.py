"""Samplers by name."""

from sampler.base import Sampler
from sampler.baselines import sample_heuristically, sample_randomly
from sampler.errors import UnknownSamplerError
from sampler.gcn.rank import GcnRank
from sampler.gcn.sampler import GcnBranch, GcnBranchFedl, sample_by_random_branch
from sampler.greedy import sample_greedily

__all__ = ["DEFAULT_SAMPLER", "find_sampler", "register_sampler", "sampler_names"]

# What "smart" means wherever nothing else is said.
DEFAULT_SAMPLER = "greedy"

_SAMPLERS: dict[str, Sampler] = {
    "gcn_branch": GcnBranch(),
    "gcn_branch_fedl": GcnBranchFedl(),
    "gcn_rank": GcnRank(),
    "greedy": sample_greedily,
    "heuristic": sample_heuristically,
    "random": sample_randomly,
    "random_branch": sample_by_random_branch,
}


def sampler_names() -> tuple[str, ...]:
    """Return the registered names, sorted."""
    return tuple(sorted(_SAMPLERS))


def find_sampler(name: str) -> Sampler:
    """Return the sampler of that name.

    Raises:
        UnknownSamplerError: nothing is registered under it.
    """
    try:
        return _SAMPLERS[name]
    except KeyError:
        raise UnknownSamplerError(f"unknown sampler {name!r}; known: {', '.join(sampler_names())}") from None


def register_sampler(name: str, sampler: Sampler) -> None:
    """Add a sampler under a new name.

    Raises:
        ValueError: the name is taken.
    """
    if name in _SAMPLERS:
        raise ValueError(f"a sampler named {name!r} is registered already")
    _SAMPLERS[name] = sampler
