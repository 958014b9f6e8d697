"""The errors of sampling. Their texts are meant for users.

FedsiftError                     the root, in solver.errors
└── SamplingError
    ├── DuplicateSamplerError    a sampler of that name is registered already
    ├── MissingLabelsError       the objective needs label counts, the network has none
    ├── TimeIsOverError          time is over, or the search is cancelled; samplers catch it and return a set
    ├── TooFewDevicesError       fewer devices can be sampled than were asked for; says which cannot and why
    ├── TooManySetsError         an exhaustive search would exceed its limit of sets
    ├── TooMuchWorkError         a search would exceed its limit of offloading problems
    ├── UnknownSamplerError      no sampler, or no objective, of that name is registered or served
    ├── UnknownSchemeError       no scheme has that name
    └── WeightsError             trained weights are missing or damaged
"""

from solver.errors import FedsiftError
from solver.network.eligibility import Obstacle

__all__ = [
    "DuplicateSamplerError",
    "MissingLabelsError",
    "SamplingError",
    "TimeIsOverError",
    "TooFewDevicesError",
    "TooManySetsError",
    "TooMuchWorkError",
    "UnknownSamplerError",
    "UnknownSchemeError",
    "WeightsError",
]


class SamplingError(FedsiftError):
    """Any error that sampling raises on purpose."""


class DuplicateSamplerError(SamplingError):
    """A sampler of that name is registered already."""


class MissingLabelsError(SamplingError):
    """The objective needs label counts, and the network has none."""


class TimeIsOverError(SamplingError):
    """Time is over, or the search is cancelled; samplers catch it and return a set."""


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


class TooManySetsError(SamplingError):
    """An exhaustive search would exceed its limit of sets."""

    def __init__(self, candidates: int, sample_size: int, sets: int, limit: int) -> None:
        self.sets = sets
        self.limit = limit
        count = str(sets) if sets < 10**12 else f"about {sets:.0e}"
        super().__init__(
            f"{sample_size} of {candidates} devices are {count} sets; an exhaustive search takes at most {limit}, "
            "use local_search"
        )


class TooMuchWorkError(SamplingError):
    """A search would exceed its limit of offloading problems."""


class UnknownSamplerError(SamplingError):
    """No sampler, or no objective, of that name is registered or served."""


class UnknownSchemeError(SamplingError):
    """No scheme has that name; `known` lists the names that exist."""

    def __init__(self, name: str, reason: str, known: str) -> None:
        self.known = known
        super().__init__(f"unknown scheme {name!r} ({reason}); known: {known}")


class WeightsError(SamplingError):
    """Trained weights are missing or damaged."""
