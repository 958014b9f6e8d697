"""Why a device was picked: one record for each step of a search, in plain values for JSON."""

from dataclasses import dataclass, field, fields, replace
from typing import Any

__all__ = ["SHOWN_CANDIDATES", "Pick"]

# A network may have a million candidates. A reader needs the first few.
SHOWN_CANDIDATES = 16


@dataclass(frozen=True)
class Pick:
    """One step of a search.

    Attributes:
        device: the device picked.
        score: its score. A search gives its gain: the objective with it less the objective without it, so the first
            score of `greedy` is the objective of that device alone.
        rule: the rule that selected the candidates.
        previous: the pick before it, if the rule depends on it.
        percentile: the percentile that the candidates reach, after any widening; None if the rule has none.
        threshold: the value at that percentile: datapoints, or dissimilarity.
        n_candidates: how many candidates the rule selected.
        candidates: the best of them by score, at most `SHOWN_CANDIDATES`.
        candidate_scores: their scores.
        tied: how many had the highest score; one of them is picked at random.
        gains: what each of `SamplingProblem.explained` would have added in its place; a device that was picked before,
            or cannot be sampled, is left out.
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
    gains: dict[int, float] = field(default_factory=dict)

    def with_gains(self, gains: dict[int, float]) -> "Pick":
        """Return the same pick with the gains of the devices to explain."""
        return replace(self, gains=gains) if gains else self

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        values = ((one.name, getattr(self, one.name)) for one in fields(self))  # `asdict` copies each number
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values}

    def sentence(self) -> str:
        """Return a sentence for readers."""
        among = f"best score of {self.n_candidates}" if self.tied == 1 else f"one of {self.tied} best scores"
        reached = "" if self.percentile is None else f" at or above percentile {self.percentile:g}"
        seen = "" if self.previous is None else f" of device {self.previous}"
        return f"device {self.device}: {among} by rule “{self.rule}”{seen}{reached}"
