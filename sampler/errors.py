"""What can go wrong in sampling.

SamplingError
├── UnknownSamplerError      no sampler of that name is registered
├── WeightsError             trained weights are missing or damaged
└── TooFewDevicesError       fewer devices can be sampled than were asked for; says which cannot and why
"""

from solver.eligibility import Obstacle

__all__ = ["SamplingError", "TooFewDevicesError", "UnknownSamplerError", "WeightsError"]


class SamplingError(Exception):
    """Any failure that sampling foresees; its text is meant for users."""


class UnknownSamplerError(SamplingError):
    """No sampler of that name is registered."""


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
