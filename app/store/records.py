"""Rows as frozen records."""

from dataclasses import dataclass

__all__ = ["KeyRecord", "PeriodRecord", "RunRecord"]


@dataclass(frozen=True)
class RunRecord:
    """A run as it was asked for; it never changes."""

    id: str
    owner: str
    created_at: float
    n_devices: int
    sample_size: int
    horizon: int
    aggregation_period: int


@dataclass(frozen=True)
class PeriodRecord:
    """An answered period; it never changes either.

    Attributes:
        aggregation: k; 0 is the first period.
        request_digest: of what was asked, to tell a replay from another body.
        request: the aggregation's body, empty for k = 0.
        state: where the horizon and the gradient stand after it, as JSON.
        answer: the answer, byte for byte.
    """

    run_id: str
    aggregation: int
    request_digest: str
    request: bytes
    state: str
    answer: bytes


@dataclass(frozen=True)
class KeyRecord:
    """An API key; only its digest is kept."""

    id: str
    name: str
    created_at: float
