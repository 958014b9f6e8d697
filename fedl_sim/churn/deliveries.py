"""What arrived of a period's plan, as devices report it, and the planner's state after the report."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from fedl_sim.loop.holdings import Transfer
from solver.horizon.membership import Moved, without_arrivals
from solver.horizon.state import HorizonState

__all__ = ["Delivery", "delivered_state"]


@dataclass(frozen=True)
class Delivery:
    """A transfer of a plan, and the share of it that arrived: 0 if an end was down."""

    transfer: Transfer
    share: float


def delivered_state(planned: HorizonState, moved: Moved | None, deliveries: Iterable[Delivery]) -> HorizonState:
    """Return the state after a period, as planned but for what did not arrive."""
    wanted: dict[tuple[int, int], float] = defaultdict(float)
    missed: dict[tuple[int, int], float] = defaultdict(float)
    for delivery in deliveries:
        pair = delivery.transfer.source, delivery.transfer.target
        wanted[pair] += delivery.transfer.fraction
        missed[pair] += delivery.transfer.fraction * (1.0 - delivery.share)
    if moved is None or not any(missed.values()):
        return planned
    pairs = zip(moved.source.tolist(), moved.target.tolist(), strict=True)
    missing = np.array([missed[pair] / wanted[pair] if wanted[pair] > 0 else 0.0 for pair in pairs])
    return without_arrivals(planned, moved, missing)
