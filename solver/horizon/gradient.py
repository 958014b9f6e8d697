"""The gradient norm that a plan assumes, Sec. III-C: ‖∇F̄(t)‖ ≈ ‖∇F̄(kτ)‖ / α^(t − kτ)."""

from dataclasses import dataclass

import numpy as np

from solver.arrays import FloatArray
from solver.validation import as_count, as_number

__all__ = ["GradientModel", "observed_decay"]


@dataclass(frozen=True)
class GradientModel:
    """A norm known at step `since`, falling by the factor `decay` (α ≥ 1) at every step after it.

    If nobody knows the norm (None), 1 is assumed. A closed loop calls `observe` after each aggregation and goes on with
    the model that it returns.
    """

    norm: float | None = None
    decay: float = 1.0
    since: int = 0

    def __post_init__(self) -> None:
        if self.norm is not None:
            object.__setattr__(self, "norm", as_number(self.norm, "gradient.norm"))
        object.__setattr__(self, "decay", as_number(self.decay, "gradient.decay", low=1.0))
        object.__setattr__(self, "since", as_count(self.since, "gradient.since", low=0))

    def norms(self, first: int, last: int) -> FloatArray:
        """‖∇F̄(t)‖ for the steps t = first..last, all after `since`."""
        as_count(first, "first", low=self.since + 1)
        steps = np.arange(first, last + 1, dtype=np.float64) - self.since
        # In logarithms, because α^t would overflow long before norm/α^t underflows to zero.
        norm = 1.0 if self.norm is None else self.norm
        norms: FloatArray = norm * np.exp(-steps * np.log(self.decay))
        return norms

    def observe(self, norm: float, period: int) -> "GradientModel":
        """The model after the next aggregation, `period` = τ steps later, observed this norm; its α is α_{k+1}.

        α takes two norms. So after the first one, if no norm was given before, the decay stays as it was.
        """
        period = as_count(period, "aggregation_period")
        norm = as_number(norm, "gradient_norm")
        decay = self.decay if self.norm is None else observed_decay(self.norm, norm, period)
        return GradientModel(norm, decay, self.since + period)


def observed_decay(previous: float, current: float, period: int) -> float:
    """α_{k+1} = (‖∇F̄((k−1)τ)‖ / ‖∇F̄(kτ)‖)^(1/τ); 1 if the gradient grew.

    A gradient of zero gives 1 as well, since 0/α = 0 for every α.
    """
    previous = as_number(previous, "previous")
    current = as_number(current, "gradient_norm")
    if current == 0 or previous <= current:
        return 1.0
    return float(np.exp((np.log(previous) - np.log(current)) / as_count(period, "aggregation_period")))
