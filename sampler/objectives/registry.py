"""Objectives by name."""

from sampler.base import SamplingProblem
from sampler.errors import UnknownSamplerError
from sampler.objectives.base import Factory, Objective
from sampler.objectives.combination import Combination
from sampler.objectives.coverage import Coverage
from sampler.objectives.mixture import Mixture, MixtureDistance
from sampler.objectives.resemblance import Resemblance
from sampler.objectives.surrogate import Surrogate

__all__ = ["DEFAULT_OBJECTIVE", "find_objective", "objective_names"]

# What predicts the loss of FedL best from what is known (docs/sampling.md).
DEFAULT_OBJECTIVE = "balance"


def _balance(problem: SamplingProblem) -> Objective:
    """The mixture of classes where label counts are known, else the likeness of data by similarity."""
    counts = problem.schedule.network.devices.label_counts
    known = counts is not None and counts.size > 0 and bool(counts.any())
    return Mixture(problem) if known else Resemblance(problem)


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
    """Return the known names, sorted."""
    return tuple(sorted(_OBJECTIVES))


def find_objective(name: str) -> Factory:
    """Return what makes the objective of that name for a problem.

    Raises:
        UnknownSamplerError: there is none.
    """
    try:
        return _OBJECTIVES[name]
    except KeyError:
        raise UnknownSamplerError(f"unknown objective {name!r}; known: {', '.join(objective_names())}") from None
