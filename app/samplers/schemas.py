"""Samplers over the wire."""

from typing import Any

from pydantic import Field

from app.wire.base import AnswerModel, Optional
from sampler import DEFAULT_SAMPLER, SERVED_OBJECTIVES, find_sampler, served_samplers
from sampler.searches.base import ObjectiveSampler

__all__ = ["SamplerList", "SamplerOut"]


class SamplerOut(AnswerModel):
    """A way to choose devices."""

    name: str
    description: str
    objectives: Optional[list[str]] = Field(
        None, description="What it can search by, the default first: ask for NAME:OBJECTIVE."
    )
    weights: Optional[dict[str, str | float]] = Field(None, description="Provenance of trained weights, if any.")


class SamplerList(AnswerModel):
    """All samplers, by name."""

    default: str
    samplers: list[SamplerOut]

    @classmethod
    def from_registry(cls) -> "SamplerList":
        """Return the samplers that callers are offered; the first line of a sampler's documentation describes it."""
        return cls(default=DEFAULT_SAMPLER, samplers=[_described(name) for name in served_samplers()])


def _described(name: str) -> SamplerOut:
    sampler = find_sampler(name)
    text = (sampler.__doc__ or "").strip().splitlines()
    provenance = getattr(sampler, "provenance", None)
    given: dict[str, Any] = {} if provenance is None else {"weights": provenance}
    if isinstance(sampler, ObjectiveSampler):
        given["objectives"] = list(SERVED_OBJECTIVES)
    return SamplerOut(name=name, description=text[0] if text else "", **given)
