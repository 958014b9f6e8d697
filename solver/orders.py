"""From a plan to orders: whole datapoints, as ranges of each sender's own shuffled order.

A plan has real amounts. Let x_ki(t) be what k sends to i for the first time at step t, and A_ki(t) what it has sent by
then, D_k·(1 − u) with u the share still unsent (`solver.horizon.transfer`). Orders have C_ki(t) ≤ ⌊A_ki(t)⌋ whole
datapoints. At step t, k sends the datapoints C(t − 1), …, C(t) − 1 of its order to i. So ranges begin at 0 and follow
on, and no pair sends a datapoint twice.

c(t) = C(t) − C(t − 1) keeps the constraints of step t: Σ_i ψ_ki·c_ki ≤ Ψ_k, Σ_i c_ki ≤ D_k, Σ_k (1 − λ_ki)·c_ki ≤ θ_i,
and the ceiling of what i holds. It has two parts (`solver.rounding`):

1. ⌊x(t)⌋. It fits, since x(t) does.
2. Of what was cut before and is complete by now, ⌊A(t)⌋ − C(t − 1) − ⌊x(t)⌋, as much as fits, one datapoint of a link
   after another, first those that are the farthest behind. So a datapoint waits only if its sender or its receiver has
   no room for it in this step.

By 1., A(t) − C(t) grows by less than a datapoint in a step in which the link is used, and not in others: after n such
steps a link is behind by less than n datapoints. No rule can promise one: a link with a budget of 10.5 in each step
sends 10 (ADR 0074). What is left after the last step is told, and not sent.

A redrawing plan is carried out by sending once: the same useful data arrives, with less traffic. Two receivers may get
the same datapoint of a sender: offloading copies data, and the paper's model counts it at either of them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from solver.arrays import BoolArray, FloatArray, IntArray
from solver.horizon.membership import Moved
from solver.horizon.state import HorizonState
from solver.horizon.transfer import DEFAULT_TRANSFER, transfer_named
from solver.network import Network
from solver.network.eligibility import data_ceiling
from solver.network.schedule import Schedule
from solver.network.subgraph import pair_keys
from solver.rounding import Room, Waiting, whole_sends
from solver.step.problem import room_for

__all__ = ["Orders", "PlannedTransfers", "make_orders"]

# A plan's amounts have rounding errors: an amount that is so little below a whole number, relative to it, is meant to
# be that number.
_WHOLE = 1e-6
# The budgets that the solver keeps to have rounding errors too.
_FEASIBLE = 1 + 5e-10


class PlannedTransfers(Protocol):
    """The transfers of one step, as `solver.horizon.plan.StepPlan` has them."""

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
    """Send j: at step[j], source[j] sends the range first[j] : first[j] + count[j] of its order to target[j].

    They are sorted by source, step and target.

    Attributes:
        useful: how many of these datapoints the target is expected to keep.
        cost: ψ of one of them.
        state: the state once they are carried out. It has what was sent, not what was planned.
        moved: what they send, by pair.
        left: datapoints of the plan that no send has.
    """

    step: IntArray
    source: IntArray
    target: IntArray
    first: IntArray
    count: IntArray
    useful: FloatArray
    cost: FloatArray
    state: HorizonState
    moved: Moved
    left: float

    def __len__(self) -> int:
        return self.step.size


def make_orders(
    network: Network | Schedule,
    state: HorizonState,
    steps: Iterable[PlannedTransfers],
    *,
    transfer: str = DEFAULT_TRANSFER,
    horizon: int | None = None,
) -> Orders:
    """The orders of consecutive steps of a plan.

    `state` is that before the first of these steps. A pair continues where the state is, so the orders of a later
    period need nothing of those before it but the state that they left. `horizon` is the last step that the ceilings
    look ahead to, as in `solver.horizon.sequence.advance` (default: the last of these steps).
    """
    schedule, planned = Schedule.of(network), list(steps)
    kind = transfer_named(transfer)
    pairs = _Pairs.of(planned, schedule.network.devices.data, state)
    last = max([state.step, *(one.step for one in planned)])
    unsent, told, held = pairs.unsent.copy(), pairs.first.copy(), state.data
    rows, worth = [np.empty((5, 0), np.int64)], [np.empty((2, 0))]
    conditions: dict[int, _Conditions] = {}
    for one in planned:
        segment = schedule.segment_at(one.step)
        if segment.first not in conditions:
            conditions[segment.first] = _Conditions.of(segment.network, pairs, state.sampled)
        now = conditions[segment.first]
        used = pairs.places_of(one)
        before = unsent.copy()
        unsent[used] = kind.left(before[used], one.fraction)
        ceiling = data_ceiling(schedule, state.sampled, one.step, max(horizon or 0, last)) * _FEASIBLE
        link, count = _sends(pairs, now, told, before, unsent, room_for(now.receive, ceiling, held))
        whom = (pairs.source[link], pairs.target[link])
        rows.append(np.stack([np.full(link.size, one.step), *whom, told[link], count]))
        worth.append(np.stack([now.fresh[link] * count, now.cost[link]]))
        told[link] += count
        arrived = np.bincount(pairs.receiver[link], worth[-1][0], held.size)
        held = np.maximum(np.minimum(held + arrived, ceiling), held)
    columns, useful_and_cost = np.concatenate(rows, axis=1), np.concatenate(worth, axis=1)
    order = np.lexsort((columns[2], columns[0], columns[1]))
    left = float(np.maximum(pairs.held * (1.0 - unsent) - told, 0.0).sum())
    rest = np.maximum(pairs.unsent - (told - pairs.first) / pairs.held, 0.0)
    after = state.moved_on(last, held, pairs.source, pairs.target, rest, pairs.n_devices)
    moved = _moved(pairs, columns, useful_and_cost[0])
    step, source, target, first, count = columns[:, order]
    useful, cost = useful_and_cost[:, order]
    return Orders(step, source, target, first, count, useful, cost, after, moved, left)


class _Pairs(NamedTuple):
    """The pairs of a plan, sorted by target and source: who they are, and what they have sent before it.

    `sender` and `receiver` are positions in `senders`, which have `own` datapoints, and in the sampled devices; `held`
    is D_k of each pair, and `first` C before the plan.
    """

    n_devices: int
    keys: IntArray
    source: IntArray
    target: IntArray
    senders: IntArray
    own: FloatArray
    sender: IntArray
    receiver: IntArray
    held: FloatArray
    unsent: FloatArray
    first: IntArray

    @classmethod
    def of(cls, steps: Sequence[PlannedTransfers], data: FloatArray, state: HorizonState) -> "_Pairs":
        n = data.size
        # Sorting takes a quarter of the time that `np.unique` takes to hash.
        named = np.sort(np.concatenate([np.empty(0, np.int64), *(pair_keys(s.source, s.target, n) for s in steps)]))
        keys = named[np.flatnonzero(np.diff(named, prepend=-1))]
        target, source = np.divmod(keys, np.int64(n))
        senders, sender = np.unique(source, return_inverse=True)
        by_number = np.argsort(state.sampled)
        receiver = by_number[np.searchsorted(state.sampled, target, sorter=by_number)]
        held, unsent = data[source], state.unsent_of(source, target)
        first = _whole(held, unsent)
        place = sender.reshape(-1)
        return cls(n, keys, source, target, senders, data[senders], place, receiver, held, unsent, first)

    def places_of(self, step: PlannedTransfers) -> IntArray:
        """The pairs of a step's transfers."""
        wanted = pair_keys(step.source, step.target, self.n_devices)
        order = np.argsort(wanted)  # so the search looks at neighbours, one after the other
        places = np.empty(wanted.size, np.int64)
        places[order] = np.searchsorted(self.keys, wanted[order])
        return places


class _Conditions(NamedTuple):
    """What holds at some steps: ψ and 1 − λ of each pair (`there`: if it has a link), Ψ of senders, θ of receivers."""

    there: BoolArray
    cost: FloatArray
    fresh: FloatArray
    budget: FloatArray
    receive: FloatArray

    @classmethod
    def of(cls, network: Network, pairs: _Pairs, sampled: IntArray) -> "_Conditions":
        links, devices, incoming = network.links, network.devices, network.incoming
        # Links are sorted by target and source, as pairs are.
        link = np.concatenate([np.arange(incoming[i], incoming[i + 1]) for i in np.sort(sampled).tolist()])
        keys = np.append(pair_keys(links.source[link], links.target[link], pairs.n_devices), -1)
        place = np.searchsorted(keys[:-1], pairs.keys)
        return cls(
            keys[place] == pairs.keys,
            np.append(links.transmit_cost[link], 0.0)[place],
            np.append(1.0 - links.similarity[link], 0.0)[place],
            devices.transmit_budget[pairs.senders] * _FEASIBLE,
            devices.receive_capacity[sampled] * _FEASIBLE,
        )


def _sends(
    pairs: _Pairs, now: _Conditions, told: IntArray, before: FloatArray, unsent: FloatArray, receive: FloatArray
) -> tuple[IntArray, IntArray]:
    """The pairs that send in a step, and how many datapoints; `before` and `unsent` are the plan's, around the step."""
    due = np.where(now.there, _whole(pairs.held, unsent) - told, 0)
    link = np.flatnonzero(due > 0)
    held = pairs.held[link]
    waiting = Waiting(
        sender=pairs.sender[link],
        receiver=pairs.receiver[link],
        cost=now.cost[link],
        fresh=now.fresh[link],
        sure=np.floor(held * (before - unsent)[link]).astype(np.int64),
        due=due[link],
        behind=held * (1.0 - unsent[link]) - told[link],
    )
    count = whole_sends(waiting, Room(now.budget, pairs.own, receive))
    sending = np.flatnonzero(count)
    return link[sending], count[sending]


def _moved(pairs: _Pairs, columns: IntArray, kept: FloatArray) -> Moved:
    """What some sends move, by pair."""
    place = np.searchsorted(pairs.keys, pair_keys(columns[1], columns[2], pairs.n_devices))
    count = np.bincount(place, columns[4], pairs.keys.size).astype(np.float64)
    used = np.flatnonzero(count)
    useful = np.bincount(place, kept, pairs.keys.size).astype(np.float64)
    return Moved(pairs.source[used], pairs.target[used], count[used], (count / pairs.held)[used], useful[used])


def _whole(held: FloatArray, unsent: FloatArray) -> IntArray:
    """⌊A⌋, the datapoints that are complete; never more than the sender has."""
    amount = held * (1.0 - unsent)
    nearest = np.rint(amount)
    meant = (nearest - amount <= _WHOLE * np.maximum(nearest, 1.0)) & (nearest <= held)
    complete: IntArray = np.where(meant, nearest, np.floor(amount)).astype(np.int64)
    return complete
