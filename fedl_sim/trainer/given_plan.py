"""From a given plan, as the contract has it, to what a replay carries out: who trains, and what arrives in every step.

Orders are made as the service makes them, period by period: from what the devices of the period hold then.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from fedl_sim.contract import ContractError, Delivered, GivenPeriod, GivenPlan, GivenStep
from fedl_sim.data.images import Images
from fedl_sim.loop.holdings import Transfer
from fedl_sim.loop.planner import PlannedStep, carried_out
from fedl_sim.loop.replay import ReplayedPeriod
from fedl_sim.network.given import with_own_data
from fedl_sim.network.partition import Partition
from solver.arrays import FloatArray, IntArray
from solver.horizon.membership import exchange, with_changed_data, without_arrivals
from solver.horizon.state import HorizonState, start
from solver.network import Links
from solver.network.schedule import Schedule
from solver.orders import make_orders

__all__ = ["replayed_periods", "scripted_steps"]

Pair = tuple[int, int]


def replayed_periods(plan: GivenPlan, partition: Partition, images: Images, *, seed: int) -> list[ReplayedPeriod]:
    """The periods of a plan, with what devices have of their own in each."""
    found = []
    for number, period in enumerate(_periods(plan)):
        if period.own_data is not None:
            partition = with_own_data(partition, images, period.own_data, seed=seed, period=number)
        found.append(ReplayedPeriod(np.array(period.sampled, np.int64), frozenset(period.lost), partition))
    return found


def _periods(plan: GivenPlan) -> tuple[GivenPeriod, ...]:
    """A plan without periods is one long one."""
    return plan.periods or (GivenPeriod(plan.sampled),)


def scripted_steps(
    plan: GivenPlan, schedule: Schedule, replayed: Sequence[ReplayedPeriod], tau: int
) -> list[PlannedStep]:
    """The steps of a plan as they were carried out; `replayed` are its periods, of τ steps each.

    Raises:
        ContractError: a step sends where there is no link.
    """
    _check_links(plan, schedule)
    state, before = start(schedule, plan.sampled), schedule.network.devices.data
    lost = np.empty(0, np.int64)
    found: list[PlannedStep] = []
    for number, (period, one) in enumerate(zip(_periods(plan), replayed, strict=True)):
        data = one.partition.sizes.astype(np.float64)
        now = Schedule(schedule.network.with_columns({"data": data}), schedule.changes)
        steps = [step for step in plan.steps if not plan.periods or (step.step - 1) // tau == number]
        if plan.transfer == "send_once":
            state = exchange(now, with_changed_data(state, before, data), one.sampled, lost=lost)
            planned, state = _by_orders(now, state, steps, period.delivered)
        else:
            planned = _by_drawing(now, steps, period.delivered)
        found += planned
        before, lost = data, np.array(sorted(one.lost), np.int64)
    return found


def _check_links(plan: GivenPlan, schedule: Schedule) -> None:
    for place, step in enumerate(plan.steps):
        there = _costs(schedule.at(step.step).links)
        for source, target in zip(step.source, step.target, strict=True):
            if (source, target) not in there:
                why = f"sends from {source} to {target}, where there is no link"
                raise ContractError(f"plan.steps[{place}]", why)


@lru_cache(maxsize=4)
def _costs(links: Links) -> dict[Pair, float]:
    """ψ of every link."""
    ends = zip(links.source.tolist(), links.target.tolist(), strict=True)
    return dict(zip(ends, links.transmit_cost.tolist(), strict=True))


def _by_orders(
    schedule: Schedule, state: HorizonState, steps: Sequence[GivenStep], delivered: Delivered | None
) -> tuple[list[PlannedStep], HorizonState]:
    """The steps of a period by orders, and the state that what arrived of them leaves.

    Of a pair's datapoints the first arrive, and the last do not.
    """
    orders = make_orders(schedule, state, [_Columns.of(step) for step in steps])
    left = {} if delivered is None else delivered.by_pair()
    share = np.ones(len(orders))
    columns = (orders.source.tolist(), orders.target.tolist(), orders.count.tolist())
    for row, (source, target, count) in enumerate(zip(*columns, strict=True)):
        if (source, target) in left:
            arrives = min(count, round(left[source, target]))
            share[row] = arrives / count
            left[source, target] -= arrives
    planned = carried_out(orders, schedule.network.devices.data, [step.step for step in steps], share)
    place = orders.moved.places_of(orders.source, orders.target)
    missed = np.bincount(place, orders.count * (1.0 - share), orders.moved.source.size)
    missing = np.divide(missed, orders.moved.datapoints, out=np.zeros(missed.size), where=missed > 0)
    return planned, without_arrivals(orders.state, orders.moved, missing)


def _by_drawing(schedule: Schedule, steps: Sequence[GivenStep], delivered: Delivered | None) -> list[PlannedStep]:
    """The steps of a period whose senders draw anew in each; a share of each pair's datapoints arrives."""
    data = schedule.network.devices.data
    planned: dict[Pair, float] = defaultdict(float)
    for step in steps:
        for source, target, fraction in _rows(step):
            planned[source, target] += fraction * float(data[source])
    arrived = {} if delivered is None else delivered.by_pair()
    share = {pair: min(1.0, count / planned[pair]) for pair, count in arrived.items() if planned[pair] > 0}
    found = []
    for step in steps:
        costs = _costs(schedule.at(step.step).links)
        transfers = tuple(Transfer(a, b, fraction, share=share.get((a, b), 1.0)) for a, b, fraction in _rows(step))
        sent = sum(one.fraction * data[one.source] for one in transfers)
        arrives = sum(one.fraction * data[one.source] * one.share for one in transfers)
        useful = step.useful * float(arrives / sent) if sent > 0 else 0.0
        found.append(PlannedStep(step.step, transfers, tuple(costs[a, b] for a, b, _ in _rows(step)), useful))
    return found


def _rows(step: GivenStep) -> Iterator[tuple[int, int, float]]:
    return zip(step.source, step.target, step.fraction, strict=True)


class _Columns(NamedTuple):
    """The transfers of a step, for its orders."""

    step: int
    source: IntArray
    target: IntArray
    fraction: FloatArray

    @classmethod
    def of(cls, step: GivenStep) -> "_Columns":
        source, target = np.array(step.source, np.int64), np.array(step.target, np.int64)
        return cls(step.step, source, target, np.array(step.fraction, np.float64))
