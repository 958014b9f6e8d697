"""Several objectives as one: a weighted sum of terms on a common scale."""

import numpy as np
from numpy.typing import NDArray

from sampler.base import SamplingProblem
from sampler.objectives.base import Factory, Objective

__all__ = ["Combination"]

_REFERENCE_SETS = 64


class Combination(Objective):
    """Σ_j w_j (f_j − mean_j)/deviation_j, with mean and deviation over 64 sets drawn at random.

    The random sets are the same for every objective of a problem, so the value of a set does not depend on the other
    sets compared.
    """

    def __init__(self, problem: SamplingProblem, terms: tuple[tuple[float, Factory], ...]) -> None:
        candidates, size = problem.candidates, problem.sample_size
        # A fixed seed: an objective is a function of the problem alone.
        generator = np.random.default_rng(0)
        sets = np.array([generator.choice(candidates, size, replace=False) for _ in range(_REFERENCE_SETS)])
        self._terms: list[tuple[float, float, Objective]] = []
        for weight, factory in terms:
            objective = factory(problem)
            values = objective.values(sets)
            deviation = float(values.std())
            # A term that is the same for all sets is left out.
            if deviation > 1e-12 * float(np.abs(values).max()):
                self._terms.append((weight / deviation, float(values.mean()), objective))

    def values(self, sets: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the weighted sum for each set."""
        total = np.zeros(len(sets))
        for scale, middle, objective in self._terms:
            total += scale * (objective.values(sets) - middle)
        return total
