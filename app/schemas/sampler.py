"""Samplers over the wire."""

from pydantic import Field

from app.schemas.base import AnswerModel, Optional
from sampler import DEFAULT_SAMPLER, find_sampler, sampler_names

__all__ = ["SamplerList", "SamplerOut"]


class SamplerOut(AnswerModel):
    """A way to choose devices."""

    name: str
    description: str
    weights: Optional[dict[str, str | float]] = Field(None, description="Provenance of trained weights, if any.")


class SamplerList(AnswerModel):
    """All samplers, by name."""

    default: str
    samplers: list[SamplerOut]

    @classmethod
    def from_registry(cls) -> "SamplerList":
        """What is registered; the first line of a sampler's documentation describes it."""
        return cls(default=DEFAULT_SAMPLER, samplers=[_described(name) for name in sampler_names()])


def _described(name: str) -> SamplerOut:
    sampler = find_sampler(name)
    text = (sampler.__doc__ or "").strip().splitlines()
    provenance = getattr(sampler, "provenance", None)
    given = {} if provenance is None else {"weights": provenance}
    return SamplerOut(name=name, description=text[0] if text else "", **given)
