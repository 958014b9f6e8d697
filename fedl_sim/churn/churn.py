"""`Churn`: how much goes wrong in a period, as settings."""

import math
from dataclasses import dataclass

from fedl_sim.errors import InvalidSettingError

__all__ = ["Churn"]

_SHARES = ("loss", "straggling", "lost_transfers", "drift")


@dataclass(frozen=True)
class Churn:
    """What goes wrong. A period is the time from one aggregation to the next. With the defaults nothing does.

    Attributes:
        loss: the chance that a device that is up when a period begins goes down before it ends. Times until then are
            exponential, with the mean −1/log(1 − loss) periods.
        absence: how many periods a device stays down, on average; exponential too. Infinity: it never comes back.
        trace: a CSV file with the times at which devices go up and down (`fedl_sim.churn.lives`), in place of `loss`.
        straggling: the chance that a device is slow in a period. It then completes 0 to τ − 1 of its τ local steps,
            each number as likely; with 0 it misses the aggregation.
        lost_transfers: the chance that a datapoint that is sent does not arrive.
        drift: the chance that a device replaces a datapoint of its own in a period, by one of its new labels.
    """

    loss: float = 0.0
    absence: float = 2.0
    trace: str | None = None
    straggling: float = 0.0
    lost_transfers: float = 0.0
    drift: float = 0.0

    def __post_init__(self) -> None:
        for name in _SHARES:
            if not 0 <= getattr(self, name) < 1:
                raise InvalidSettingError(f"{name} must lie in [0, 1), not {getattr(self, name)}")
        if not self.absence > 0:
            raise InvalidSettingError(f"absence must be positive, not {self.absence}")
        if self.trace is not None and self.loss > 0:
            raise InvalidSettingError("give either a trace or a loss: a trace says who goes down")

    @property
    def mean_life(self) -> float:
        """How many periods a device stays up, on average."""
        return math.inf if self.loss == 0 else -1.0 / math.log1p(-self.loss)
