"""Evaluating samplers: the percentile of a sampler's set among all candidate sets of held-out realisations."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fedl_sim.labels.record import LabelledRealisation
from fedl_sim.randomness import stream
from sampler.base import Sampler, SamplingProblem
from solver.network import Devices, Network
from solver.network.schedule import Schedule

__all__ = ["HELD_OUT_SEED", "TUNING_SEED", "Score", "by_network", "judge", "percentiles", "problem_of"]

# Seeds below TUNING_SEED are for training; training refuses others. Seeds from TUNING_SEED on are for choosing between
# ways to train, and seeds from HELD_OUT_SEED on for evaluating the choice.
TUNING_SEED = 1_000_000
HELD_OUT_SEED = 2_000_000


@dataclass(frozen=True)
class Score:
    """A sampler's mean percentile and its standard error: 0 is the best set, ½ the mean of random sets."""

    mean: float
    error: float
    networks: int


def problem_of(record: LabelledRealisation, *, reveal_labels: bool = True) -> SamplingProblem:
    """Return the sampling problem of a realisation, with or without the label counts of its devices."""
    network = record.network
    if not reveal_labels:
        network = Network(_without_labels(network), network.links)
    return SamplingProblem.of(
        Schedule.of(network),
        record.sample_size,
        horizon=record.family.horizon,
        offloading=record.kind.offloading,
        # As in the plans of `fedl_sim.labels.label`.
        transfer="redraw",
    )


def percentiles(
    sampler: Sampler,
    records: Sequence[LabelledRealisation],
    label: str,
    *,
    draws: int = 1,
    reveal_labels: bool = True,
) -> NDArray[np.float64]:
    """Return each realisation's percentile of the sampler's set; the mean over `draws` for random samplers."""
    values = np.zeros(len(records))
    for row, record in enumerate(records):
        problem = problem_of(record, reveal_labels=reveal_labels)
        for draw in range(draws):
            chosen = sampler(problem, stream(record.seed, "judge", record.sample_size, draw))
            values[row] += record.percentile(chosen.sampled, label) / draws
    return values


def by_network(values: NDArray[np.float64], records: Sequence[LabelledRealisation]) -> NDArray[np.float64]:
    """Return the mean for each network: its values at several sample sizes are not independent of each other."""
    _, network = np.unique([record.seed for record in records], return_inverse=True)
    means: NDArray[np.float64] = np.bincount(network, values) / np.bincount(network)
    return means


def judge(values: NDArray[np.float64]) -> Score:
    """Summarise percentiles, or differences of percentiles, over networks."""
    error = float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")
    return Score(float(values.mean()), error, len(values))


def _without_labels(network: Network) -> Devices:
    return replace(network.devices, label_counts=None, label_epsilon=None)
