"""Samplers that search for the set that maximises an objective."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sampler.base import SamplingProblem, Selection
from sampler.objectives.base import Objective
from sampler.objectives.registry import DEFAULT_OBJECTIVE, find_objective

__all__ = ["ObjectiveSampler", "Search"]

Search = Callable[[Objective, SamplingProblem, np.random.Generator], Selection]


@dataclass(frozen=True)
class ObjectiveSampler:
    """A search with the name of its objective. Its documentation is that of the search, for `GET /v1/samplers`."""

    search: Search
    objective: str = DEFAULT_OBJECTIVE

    def __post_init__(self) -> None:
        find_objective(self.objective)
        object.__setattr__(self, "__doc__", self.search.__doc__)

    def __call__(self, problem: SamplingProblem, generator: np.random.Generator) -> Selection:
        """Choose `problem.sample_size` of `problem.candidates`."""
        return self.search(find_objective(self.objective)(problem), problem, generator)

    def with_objective(self, name: str) -> "ObjectiveSampler":
        """Return the same search under another objective.

        Raises:
            UnknownSamplerError: there is no objective of that name.
        """
        return ObjectiveSampler(self.search, name)
