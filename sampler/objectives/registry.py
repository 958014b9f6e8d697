"""Objectives by name. Callers of the service are offered three of them, studies compare all."""

from sampler.base import SamplingProblem
from sampler.errors import UnknownSamplerError
from sampler.label_counts.histograms import tell_enough
from sampler.objectives.base import Factory, Objective
from sampler.objectives.combination import Combination
from sampler.objectives.coverage import Coverage
from sampler.objectives.mixture import Mixture, MixtureDistance
from sampler.objectives.resemblance import Resemblance
from sampler.objectives.surrogate import Surrogate

__all__ = ["DEFAULT_OBJECTIVE", "SERVED_OBJECTIVES", "find_objective", "objective_names"]

# It predicts the loss of FedL best (docs/sampling.md).
DEFAULT_OBJECTIVE = "balance"
# What callers of the service are offered, the default first.
SERVED_OBJECTIVES = (DEFAULT_OBJECTIVE, "coverage", "surrogate")


def _balance(problem: SamplingProblem) -> Objective:
    """Return the mixture of classes if the network's label counts tell enough, else the resemblance by similarity."""
    return Mixture(problem) if tell_enough(problem.conditions.devices) else Resemblance(problem)


def _surrogate_and_coverage(problem: SamplingProblem) -> Objective:
    return Combination(problem, ((1.0, Surrogate), (1.0, Coverage.along_paths)))


_OBJECTIVES: dict[str, Factory] = {
    "balance": _balance,
    "coverage": Coverage.along_links,
    "coverage_low_rank": Coverage.by_low_rank,
    "coverage_paths": Coverage.along_paths,
    "distance": MixtureDistance,
    "mixture": Mixture,
    "resemblance": Resemblance,
    "surrogate": Surrogate,
    "surrogate_coverage": _surrogate_and_coverage,
}


def objective_names() -> tuple[str, ...]:
    """Return all names, sorted."""
    return tuple(sorted(_OBJECTIVES))


def find_objective(name: str) -> Factory:
    """Return the function that makes the objective of that name for a problem.

    Raises:
        UnknownSamplerError: there is no such objective.
    """
    try:
        return _OBJECTIVES[name]
    except KeyError:
        raise UnknownSamplerError(f"unknown objective {name!r}; known: {', '.join(objective_names())}") from None
