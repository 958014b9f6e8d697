"""What can go wrong in sampling.

SamplingError
├── MissingLabelsError       the objective needs label counts, the network has none
├── TooMuchWorkError         a search would have to solve more offloading problems than it may
├── TooManySetsError         exhaustive search would have to look at more sets than it may
├── UnknownSamplerError      no sampler, or no objective, of that name is registered
├── WeightsError             trained weights are missing or damaged
└── TooFewDevicesError       fewer devices can be sampled than were asked for; says which cannot and why
"""

from solver.eligibility import Obstacle

__all__ = [
    "MissingLabelsError",
    "SamplingError",
    "TooFewDevicesError",
    "TooManySetsError",
    "TooMuchWorkError",
    "UnknownSamplerError",
    "WeightsError",
]


class SamplingError(Exception):
    """Any failure that sampling foresees; its text is meant for users."""


class MissingLabelsError(SamplingError):
    """The objective needs label counts, and the network has none."""


class TooManySetsError(SamplingError):
    """Exhaustive search would have to look at more sets than it may."""

    def __init__(self, candidates: int, sample_size: int, sets: int, limit: int) -> None:
        self.sets = sets
        self.limit = limit
        count = str(sets) if sets < 10**12 else f"about {sets:.0e}"
        super().__init__(
            f"{sample_size} of {candidates} devices are {count} sets; an exhaustive search takes at most {limit}, "
            "use local_search"
        )


class TooMuchWorkError(SamplingError):
    """A search would have to solve more offloading problems than it may."""


class UnknownSamplerError(SamplingError):
    """No sampler, or no objective, of that name is registered."""


class WeightsError(SamplingError):
    """Trained weights are missing or damaged."""


class TooFewDevicesError(SamplingError):
    """Fewer devices can be sampled than were asked for."""

    def __init__(self, asked: int, eligible: int, obstacles: tuple[Obstacle, ...]) -> None:
        self.asked = asked
        self.eligible = eligible
        self.obstacles = obstacles
        shown = "; ".join(f"device {o.device}: {o.reason}" for o in obstacles[:5])
        more = f" (and {len(obstacles) - 5} more)" if len(obstacles) > 5 else ""
        reasons = f" — {shown}{more}" if obstacles else ""
        super().__init__(f"{asked} devices are to be sampled, {eligible} can be{reasons}")
