"""The records of a run: one row for each aggregation, and one for each device that trained."""

from dataclasses import dataclass

from fedl_sim.contract import AggregationRecord

__all__ = ["AggregationRecord", "DeviceRecord", "PeriodRecord", "SchemeRun"]


@dataclass(frozen=True)
class DeviceRecord:
    """A device that trained: D_i(0), the datapoints it received and kept, and those it processed in total."""

    device: int
    data: int
    received: int
    processed: int


@dataclass(frozen=True)
class PeriodRecord:
    """A period under churn, all as devices.

    Attributes:
        chosen: who was to train.
        joined: of these, who was not chosen in the period before.
        lost: of those chosen and there, who went down before the period was over.
        arrived: whose update the server got.
    """

    chosen: tuple[int, ...]
    joined: tuple[int, ...]
    lost: tuple[int, ...]
    arrived: tuple[int, ...]


@dataclass(frozen=True)
class SchemeRun:
    """One scheme on one realisation.

    `draw` numbers the repetitions of schemes that sample at random; `periods` has a record of each period under churn.
    """

    scheme: str
    seed: int
    draw: int
    sampled: tuple[int, ...]
    devices: tuple[DeviceRecord, ...]
    aggregations: tuple[AggregationRecord, ...]
    worst_relative_gap: float
    periods: tuple[PeriodRecord, ...] = ()
