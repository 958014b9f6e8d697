"""What every sampler is: network, sample size and random generator in, selection with scores out."""

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sampler.errors import TooFewDevicesError
from sampler.trace import Pick
from solver.eligibility import eligible_devices, obstacles
from solver.errors import InvalidInputError
from solver.gradient import GradientModel
from solver.schedule import Schedule

__all__ = ["Sampler", "SamplingProblem", "Selection"]


@dataclass(frozen=True, eq=False)
class SamplingProblem:
    """Choose `sample_size` of the candidates of a network.

    A device that holds no data, or cannot process it at some step of the horizon (eq. 10), is no candidate.

    Attributes:
        schedule: the network and how it changes.
        sample_size: S.
        horizon: T, the steps that training will have.
        candidates: devices that can be sampled, ascending.
        offloading: whether data will be offloaded; without, devices train on their own data alone.
        gradient: ‖∇F̄(t)‖ that eq. (26) reckons with.
        gradient_noise: γ of eq. (26).
    """

    schedule: Schedule
    sample_size: int
    horizon: int
    candidates: NDArray[np.int64]
    offloading: bool = True
    gradient: GradientModel = field(default_factory=GradientModel)
    gradient_noise: float = 1.0

    @classmethod
    def of(
        cls,
        schedule: Schedule,
        sample_size: int,
        *,
        horizon: int = 1,
        allowed: NDArray[np.bool_] | None = None,
        offloading: bool = True,
        gradient: GradientModel | None = None,
        gradient_noise: float = 1.0,
    ) -> "SamplingProblem":
        """Find the candidates, among the `allowed` devices if given.

        Raises:
            InvalidInputError: `sample_size` or `horizon` is below 1.
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
        return cls(schedule, sample_size, horizon, candidates, offloading, model, gradient_noise)


@dataclass(frozen=True, eq=False)
class Selection:
    """The sampled devices.

    Attributes:
        sampled: 𝒮, in order of choice.
        scores: one per sampled device, in the same order; what it means is the sampler's to say.
        trace: why each was picked, in the same order; empty where a sampler does not tell.
        value: of the sampler's objective, if it states one; larger is better.
        guarantee: a share of the optimal value that this set is proven to attain, if there is such a proof.
    """

    sampled: NDArray[np.int64]
    scores: NDArray[np.float64]
    trace: tuple[Pick, ...] = ()
    value: float | None = None
    guarantee: float | None = None

    def __post_init__(self) -> None:
        if self.sampled.ndim != 1 or self.scores.shape != self.sampled.shape:
            raise ValueError("a selection needs one score per device")
        if len(np.unique(self.sampled)) != len(self.sampled):
            raise ValueError("a device is sampled twice")
        if self.trace and [pick.device for pick in self.trace] != self.sampled.tolist():
            raise ValueError("a trace must tell of each sampled device, in order")


class Sampler(Protocol):
    """A way to choose devices."""

    def __call__(self, problem: SamplingProblem, generator: np.random.Generator) -> Selection:
        """Choose `problem.sample_size` of `problem.candidates`."""
