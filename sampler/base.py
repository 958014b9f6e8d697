"""The protocol of samplers: from a network, a sample size and a random generator to a selection with scores."""

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sampler.errors import TimeIsOverError, TooFewDevicesError
from sampler.trace import Pick
from solver.errors import InvalidInputError
from solver.horizon.gradient import GradientModel
from solver.horizon.transfer import DEFAULT_TRANSFER, Transfer, transfer_named
from solver.kernels.clock import is_over
from solver.kernels.layout import Effort
from solver.network import Network
from solver.network.eligibility import eligible_devices, obstacles
from solver.network.schedule import Schedule
from solver.step.fast import TOLERANCE, effort_for

__all__ = ["Sampler", "SamplingProblem", "Selection"]


@dataclass(frozen=True, eq=False)
class SamplingProblem:
    """Choose `sample_size` of the candidates of a network.

    A device is no candidate if it holds no data, or cannot process its data at some step of the horizon (eq. 10).

    Attributes:
        schedule: the network and how it changes.
        sample_size: S.
        horizon: T, the number of steps of training.
        candidates: devices that can be sampled, ascending.
        offloading: whether data will be offloaded. If not, devices train on their own data only.
        transfer: what senders send over a link that they have used before.
        gradient: ‖∇F̄(t)‖ in eq. (26).
        gradient_noise: γ in eq. (26).
        effort: until when to search, and the flag by which another thread ends the search.
        explained: devices whose gain is to be told at every pick (`Pick.gains`).
    """

    schedule: Schedule
    sample_size: int
    horizon: int
    candidates: NDArray[np.int64]
    offloading: bool = True
    transfer: Transfer = DEFAULT_TRANSFER
    gradient: GradientModel = field(default_factory=GradientModel)
    gradient_noise: float = 1.0
    effort: Effort = field(default_factory=lambda: effort_for(TOLERANCE))
    explained: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))

    @property
    def conditions(self) -> Network:
        """The network under the conditions of step 1: a schedule may change it at once."""
        return self.schedule.at(1)

    @property
    def out_of_time(self) -> bool:
        """Whether the search is to end now with the best set so far."""
        return bool(is_over(self.effort))

    def look(self) -> None:
        """Look at the clock, for work that has no set to return before it is done.

        Raises:
            TimeIsOverError: the search is to end now.
        """
        if self.out_of_time:
            raise TimeIsOverError("time is over")

    @classmethod
    def of(
        cls,
        schedule: Schedule,
        sample_size: int,
        *,
        horizon: int = 1,
        allowed: NDArray[np.bool_] | None = None,
        offloading: bool = True,
        transfer: str = DEFAULT_TRANSFER,
        gradient: GradientModel | None = None,
        gradient_noise: float = 1.0,
        effort: Effort | None = None,
        explained: NDArray[np.int64] | None = None,
    ) -> "SamplingProblem":
        """Return the problem with its candidates, among the `allowed` devices if given.

        Raises:
            InvalidInputError: `sample_size` or `horizon` is below 1, or there is no such `transfer`.
            TooFewDevicesError: fewer than `sample_size` devices can be sampled.
        """
        for name, value in (("sample_size", sample_size), ("horizon", horizon)):
            if value < 1:
                raise InvalidInputError(name, f"must be at least 1, is {value}")
        able = eligible_devices(schedule, horizon)
        candidates = np.flatnonzero(able if allowed is None else able & allowed)
        if len(candidates) < sample_size:
            raise TooFewDevicesError(sample_size, len(candidates), obstacles(schedule, horizon))
        model = GradientModel() if gradient is None else gradient
        until = effort_for(TOLERANCE) if effort is None else effort
        asked = np.empty(0, np.int64) if explained is None else np.asarray(explained, np.int64)
        kind = transfer_named(transfer)
        return cls(schedule, sample_size, horizon, candidates, offloading, kind, model, gradient_noise, until, asked)


@dataclass(frozen=True, eq=False)
class Selection:
    """The sampled devices.

    Attributes:
        sampled: 𝒮, in order of choice.
        scores: one for each sampled device, in the same order; each sampler documents its meaning.
        trace: why each device was picked, in the same order; empty if the sampler does not record it.
        value: the value of the sampler's objective, if it has one; larger is better.
        guarantee: the share of the optimal value that this set is proven to attain, if there is a proof.
        complete: whether the search came to its own end; if not, its time was over or it was cancelled.
    """

    sampled: NDArray[np.int64]
    scores: NDArray[np.float64]
    trace: tuple[Pick, ...] = ()
    value: float | None = None
    guarantee: float | None = None
    complete: bool = True

    def __post_init__(self) -> None:
        if self.sampled.ndim != 1 or self.scores.shape != self.sampled.shape:
            raise ValueError("a selection needs one score per device")
        if len(np.unique(self.sampled)) != len(self.sampled):
            raise ValueError("a device is sampled twice")
        if self.trace and [pick.device for pick in self.trace] != self.sampled.tolist():
            raise ValueError("a trace must have one pick for each sampled device, in order")


class Sampler(Protocol):
    """A way to choose devices."""

    def __call__(self, problem: SamplingProblem, generator: np.random.Generator) -> Selection:
        """Choose `problem.sample_size` of `problem.candidates`."""
