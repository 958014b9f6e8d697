"""Why a device was picked: one record for each step of a search, fit for JSON."""

from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["SHOWN_CANDIDATES", "Pick"]

# A network may have a million candidates; a person reads the first few.
SHOWN_CANDIDATES = 16


@dataclass(frozen=True)
class Pick:
    """One step of a search.

    Attributes:
        device: who was picked.
        score: its score.
        rule: which rule named the candidates.
        previous: the pick before it that the rule looks from, if any.
        percentile: the percentile that the candidates reached, after any widening; None where the rule has none.
        threshold: the value at that percentile: datapoints, or dissimilarity.
        n_candidates: how many the rule left to choose from.
        candidates: the best of them by score, `SHOWN_CANDIDATES` at the most.
        candidate_scores: their scores.
        tied: how many had the highest score; chance decides among them.
    """

    device: int
    score: float
    rule: str
    previous: int | None
    percentile: float | None
    threshold: float | None
    n_candidates: int
    candidates: tuple[int, ...]
    candidate_scores: tuple[float, ...]
    tied: int = 1

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as JSON stores them."""
        values = asdict(self)
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}

    def sentence(self) -> str:
        """The same for people."""
        among = f"best score of {self.n_candidates}" if self.tied == 1 else f"one of {self.tied} best scores"
        reached = "" if self.percentile is None else f" at or above percentile {self.percentile:g}"
        seen = "" if self.previous is None else f" of device {self.previous}"
        return f"device {self.device}: {among} by rule “{self.rule}”{seen}{reached}"
