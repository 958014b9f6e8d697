"""Rival samplers that choose by what devices report about a model: their losses and gradients.

None of them looks at links or budgets. They are not in the registry, because the service has no model. The simulator
has one and measures what they need.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sampler.base import SamplingProblem, Selection
from sampler.objectives.coverage import Coverage
from sampler.searches.greedy import sample_greedily

__all__ = ["RIVALS", "Observations", "sample_by_gradient_coverage", "sample_by_power_of_choice", "sample_by_utility"]

# Power-of-choice asks this many devices for their loss, for each device to be sampled.
_ASKED = 2
# The exponent of Oort's penalty for slow devices.
_STRAGGLER_PENALTY = 2.0


@dataclass(frozen=True, eq=False)
class Observations:
    """What each of N devices reports about one model, on its own data.

    Attributes:
        loss: F(w|D_i); shape (N,).
        square: mean over its datapoints of ‖∇f(w)‖²; shape (N,).
        gradient: ∇F(w|D_i); shape (N, p).
    """

    loss: NDArray[np.float64]
    square: NDArray[np.float64]
    gradient: NDArray[np.float64]

    def __post_init__(self) -> None:
        n = len(self.loss)
        if self.loss.shape != (n,) or self.square.shape != (n,) or self.gradient.ndim != 2 or len(self.gradient) != n:
            raise ValueError("observations need a loss, a square and a gradient of each device")


def sample_by_utility(problem: SamplingProblem, seen: Observations, generator: np.random.Generator) -> Selection:
    """Take the devices of highest utility, which is their score, after Oort (Lai et al., OSDI 2021).

    The statistical utility is D_i·√(mean ‖∇f‖²), which Oort approximates by losses. Let t_i = p_i·D_i/P_i be the share
    of its capacity that a device needs. The utility of devices above the median is divided by (t_i/median)².
    """
    devices = problem.schedule.network.devices
    chosen = problem.candidates
    data = devices.data[chosen]
    needed = devices.processing_cost[chosen] * data
    time = np.divide(needed, devices.processing_capacity[chosen], out=np.zeros(len(chosen)), where=needed > 0)
    median = float(np.median(time))
    slower = np.divide(median, time, out=np.ones(len(chosen)), where=time > median)
    utility = data * np.sqrt(seen.square[chosen]) * slower**_STRAGGLER_PENALTY
    return _highest(utility, chosen, problem.sample_size, generator)


def sample_by_power_of_choice(
    problem: SamplingProblem, seen: Observations, generator: np.random.Generator
) -> Selection:
    """Draw twice as many devices as needed, by their data; take those of highest loss, which is their score.

    After power-of-choice (Cho, Wang, Joshi, AISTATS 2022).
    """
    chosen = problem.candidates
    data = problem.schedule.network.devices.data[chosen]
    count = min(_ASKED * problem.sample_size, len(chosen))
    asked = generator.choice(chosen, count, replace=False, p=data / data.sum())
    return _highest(seen.loss[asked], asked, problem.sample_size, generator)


def sample_by_gradient_coverage(
    problem: SamplingProblem, seen: Observations, generator: np.random.Generator
) -> Selection:
    """Choose devices whose gradients represent those of all devices, after DivFL (Balakrishnan et al., ICLR 2022).

    Greedy on facility location, Σ_k D_k max_{i∈𝒮} (1 − ‖∇F_k − ∇F_i‖/largest), which attains at least 1 − 1/e of the
    optimum; a score is the gain. It compares all pairs of gradients, so the N×N matrix must fit into memory.
    """
    from scipy import sparse  # noqa: PLC0415 — see `solver.network`

    g = seen.gradient
    square = np.einsum("ij,ij->i", g, g)
    apart = np.sqrt(np.maximum(square[:, None] + square - 2 * (g @ g.T), 0.0))
    np.fill_diagonal(apart, 0.0)
    farthest = float(apart.max())
    like = 1.0 - apart / farthest if farthest > 0 else np.ones(apart.shape)
    return sample_greedily(Coverage(problem, sparse.csc_array(like)), problem, generator)


def _highest(
    score: NDArray[np.float64], devices: NDArray[np.int64], size: int, generator: np.random.Generator
) -> Selection:
    """Return the devices of highest score; ties are broken at random."""
    order = np.lexsort((generator.random(len(score)), -score))[:size]
    return Selection(devices[order], score[order])


RIVALS: Mapping[str, Callable[[SamplingProblem, Observations, np.random.Generator], Selection]] = {
    "divfl": sample_by_gradient_coverage,
    "oort": sample_by_utility,
    "power_of_choice": sample_by_power_of_choice,
}
