"""Why devices were picked, over the wire."""

from pydantic import Field

from app.wire.base import AnswerModel, Optional
from sampler import Pick

__all__ = ["PickOut"]


class PickOut(AnswerModel):
    """One step of a sampler's search."""

    device: int = Field(description="Who was picked.")
    score: float
    rule: str = Field(description="Which rule named the candidates.")
    previous: Optional[int] = Field(None, description="The pick before it that the rule looks from.")
    percentile: Optional[float] = Field(None, description="What the candidates reached, after any widening.")
    threshold: Optional[float] = Field(None, description="The value at that percentile: datapoints, or dissimilarity.")
    n_candidates: int = Field(description="How many the rule left to choose from.")
    candidates: list[int] = Field(description="The best of them by score.")
    candidate_scores: list[float]
    tied: int = Field(description="How many had the highest score; chance decides among them.")

    @classmethod
    def from_domain(cls, pick: Pick) -> "PickOut":
        """The sampler's record; its numbers need no validation."""
        return cls.model_construct(**pick.to_dict())
