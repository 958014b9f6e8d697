"""Greedy sampling: add the device that raises the objective most, until S are chosen."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sampler.base import SamplingProblem, Selection
from sampler.objectives.base import Objective
from sampler.objectives.standing import Looked, Standing
from sampler.searches.picks import LARGEST_GAIN, gains_of, pick_of
from sampler.trace import Pick

__all__ = ["Grown", "best_of", "grow", "proven_share", "sample_greedily"]

# Values this close, relative to their size, are equal but for rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Grown:
    """A set that was grown device by device.

    Attributes:
        sampled: the devices in order of choice.
        gains: the gain of each; the gain of the first is its own value.
        trace: why each was picked.
        complete: whether there was time to find the best device in every round.
    """

    sampled: NDArray[np.int64]
    gains: NDArray[np.float64]
    trace: tuple[Pick, ...]
    complete: bool


def sample_greedily(objective: Objective, problem: SamplingProblem, generator: np.random.Generator) -> Selection:
    """Add the device of largest gain until S are chosen; a score is that gain. Ties are broken at random."""
    standing = objective.standing()
    grown = grow(standing, problem, generator.permutation(problem.candidates))
    guarantee = proven_share(standing, problem, grown.sampled) if objective.submodular and grown.complete else None
    value = float(grown.gains.sum()) if grown.complete else None
    return Selection(grown.sampled, grown.gains, grown.trace, value, guarantee, grown.complete)


def grow(standing: Standing, problem: SamplingProblem, candidates: NDArray[np.int64]) -> Grown:
    """Add the best of the candidates until the standing set, which may have some already, has S.

    If time is over, the devices that looked best when they were last looked at fill the set; if none was looked at,
    those that hold most data.
    """
    # Devices are looked at by number, which reads memory in turn; among equals the first of `candidates` is taken.
    turns = np.full(len(problem.schedule.network), -1)
    turns[candidates] = np.arange(len(candidates))
    rest, value = np.flatnonzero(turns >= 0), standing.value()
    promise = np.full(len(rest), -np.inf)
    picks: list[Pick] = []
    wanted = problem.sample_size - len(standing.members)
    while len(picks) < wanted and not problem.out_of_time:
        looked = standing.look(rest)
        place, found = best_of(looked, turns[rest[looked.places]])
        if not np.isfinite(found):
            # Time was over before anything was found.
            promise = looked.bounds
            break
        device = int(rest[place])
        known = (rest[looked.places], looked.values - value)
        told = gains_of(standing, value, problem.explained, rest)
        picks.append(pick_of(LARGEST_GAIN, device, found - value, known, len(rest), told))
        standing.add(device)
        value = found
        rest, promise = np.delete(rest, place), np.delete(looked.bounds, place)
    sampled = np.array([pick.device for pick in picks], np.int64)
    gains = np.array([pick.score for pick in picks])
    missing = wanted - len(picks)
    if missing == 0:
        return Grown(sampled, gains, tuple(picks), complete=True)
    order = np.lexsort((-problem.conditions.devices.data[rest], -promise))[:missing]
    # These gains were not computed one after another: a trace would tell reasons that do not hold.
    guessed = np.where(np.isfinite(promise[order]), promise[order] - value, 0.0)
    return Grown(np.append(sampled, rest[order]), np.append(gains, guessed), (), complete=False)


def best_of(looked: Looked, turns: NDArray[np.int64] | None = None) -> tuple[int, float]:
    """Return the place of the largest value but for rounding, of several that of the least turn, and its value."""
    top = looked.values.max()
    equal = np.flatnonzero(looked.values >= top - _ROUNDING * abs(top))
    first = int(equal[0] if turns is None else equal[np.argmin(turns[equal])])
    return int(looked.places[first]), float(looked.values[first])


def proven_share(standing: Standing, problem: SamplingProblem, sampled: NDArray[np.int64]) -> float:
    """Return a share of the optimum that a set is proven to attain under a monotone submodular objective.

    For any set 𝒮 the optimum is at most f(𝒮) plus the S largest gains over it (Nemhauser, Wolsey, Fisher 1978). The
    share that follows is usually far larger than 1 − 1/e, which greedy sets attain on every network.
    """
    value = standing.value()
    if value <= 0:
        return 1.0
    rest = np.setdiff1d(problem.candidates, sampled)
    gains = np.sort(standing.values(rest) - value)[::-1][: len(sampled)] if len(rest) else np.empty(0)
    return float(value / (value + np.maximum(gains, 0.0).sum()))
