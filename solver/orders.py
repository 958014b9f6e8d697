"""From a plan to orders: whole datapoints, as ranges of each sender's own shuffled order.

A plan has real amounts. Let A_ki(t) be what k is to have sent to i by step t for the first time, D_k·(1 − u) with u the
share still unsent (`solver.transfer`). Orders have C_ki(t) = ⌊A_ki(t)⌋: the datapoints that are complete by step t. At
step t, k finishes the datapoints C(t − 1), …, C(t) − 1 of its order for i.

So ranges begin at 0 and follow on, no pair sends a datapoint twice, and orders are never ahead of the plan, nor behind
it by a whole datapoint: what is cut at a step is carried to the next. A datapoint that takes several steps is sent in
parts. With these parts a sender sends in each step what the plan says, so that every budget of every step holds.

A redrawing plan is carried out by sending once: the same useful data arrives, with less traffic. Two receivers may get
the same datapoint of a sender: offloading copies data, and the paper's model counts it at either of them.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from solver.arrays import FloatArray, IntArray
from solver.state import HorizonState
from solver.subgraph import pair_keys
from solver.transfer import DEFAULT_TRANSFER, transfer_named

__all__ = ["Orders", "PlannedTransfers", "make_orders"]

# A plan's amounts have rounding errors: an amount that is so little below a whole number is meant to be that number.
_ROUNDING = 1e-6


class PlannedTransfers(Protocol):
    """The transfers of one step, as `solver.plan.StepPlan` has them."""

    @property
    def step(self) -> int:
        """t, from 1."""

    @property
    def source(self) -> IntArray:
        """Who sends."""

    @property
    def target(self) -> IntArray:
        """Who receives."""

    @property
    def fraction(self) -> FloatArray:
        """Φ, the share of the source's data."""


@dataclass(frozen=True, eq=False)
class Orders:
    """Send j: at step[j], source[j] completes the range first[j] : first[j] + count[j] of its order at target[j].

    They are sorted by source, step and target.
    """

    step: IntArray
    source: IntArray
    target: IntArray
    first: IntArray
    count: IntArray

    def __len__(self) -> int:
        return self.step.size


def make_orders(
    data: FloatArray, state: HorizonState, steps: Iterable[PlannedTransfers], *, transfer: str = DEFAULT_TRANSFER
) -> Orders:
    """The orders of consecutive steps of a plan, for devices with D_k = `data`.

    `state` is that before the first of these steps. A pair continues where the state is, so the orders of a later
    period need nothing of those before it.
    """
    kind = transfer_named(transfer)
    planned = list(steps)
    n = data.size
    before = pair_keys(state.source, state.target, n)
    keys = np.unique(np.concatenate([before, *(pair_keys(one.source, one.target, n) for one in planned)]))
    unsent = np.ones(keys.size)
    unsent[np.searchsorted(keys, before)] = state.unsent
    sends = [np.empty((5, 0), np.int64)]
    for one in planned:
        used = np.searchsorted(keys, pair_keys(one.source, one.target, n))
        held = data[one.source]
        first = _whole(held, unsent[used])
        unsent[used] = kind.left(unsent[used], one.fraction)
        count = _whole(held, unsent[used]) - first
        whole = np.flatnonzero(count)
        rows = (np.full(count.size, one.step), one.source, one.target, first, count)
        sends.append(np.stack([row[whole] for row in rows]))
    columns = np.concatenate(sends, axis=1)
    return Orders(*columns[:, np.lexsort((columns[2], columns[0], columns[1]))])


def _whole(held: FloatArray, unsent: FloatArray) -> IntArray:
    """C, the datapoints that are complete; never more than the sender has."""
    complete: IntArray = np.floor(np.minimum(held * (1.0 - unsent) + _ROUNDING, held)).astype(np.int64)
    return complete
