"""`python -m benchmarks.orders_check`: the orders of random plans, recomputed link by link from their definition.

Of every plan it checks that

- ranges are whole, begin at 0 for each pair and follow on, and end within the sender's data;
- the datapoints sent in each step keep every constraint of that step: the budget and the data of each sender, what each
  receiver can take, and the most that it may hold;
- no link is ahead of the plan, or behind it by a datapoint for each step in which the plan used it;
- at each step, each datapoint that waits does not fit: its sender or its receiver has less room left than it takes.

A third of the plans redraw, and a third are of whole horizons. Half are cut into two periods, as a run's are: the
second is planned from the state that the orders of the first leave. The last line is one JSON object with the worst of
each, and with the share of the plans' datapoints that no order sends, by budgets; the exit code is 1 if a check fails.
"""

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

import numpy as np

from solver import HorizonState, Network, Schedule, advance, start
from solver.arrays import FloatArray, IntArray
from solver.horizon.plan import StepPlan
from solver.horizon.transfer import Transfer
from solver.instances import BUDGETS, random_horizon, random_network
from solver.orders import Orders, make_orders
from solver.whole.reference_horizon import worst_breach

__all__ = ["Checked", "check"]

_FEASIBLE = 1e-9
_WHOLE = 1e-6  # relative: so far may an amount be from a whole number that it is meant to be

Pair = tuple[int, int]


@dataclass(frozen=True)
class Checked:
    """The orders of one plan.

    Attributes:
        budgets: of a network of forty devices, one of `BUDGETS`; else `any`.
        sends: how many.
        datapoints: how many all of them send.
        left: datapoints of the plan that none of them sends.
        in_order: whether the ranges of each pair begin at 0, follow on, and end within the sender's data.
        ahead: datapoints by which a link is ahead of the plan, at most, relative to what it has sent.
        behind: datapoints by which a link is behind the plan, at most.
        behind_a_step: the same, divided by the steps in which the plan used the link.
        breach: of the worst constraint of a step, relative.
        waits: whether a datapoint waited at a step that had room for it.
    """

    seed: int
    budgets: str
    sends: int
    datapoints: int
    left: float
    in_order: bool
    ahead: float
    behind: float
    behind_a_step: float
    breach: float
    waits: bool

    @property
    def passed(self) -> bool:
        """Whether all checks hold."""
        kept = self.ahead <= _WHOLE and self.behind_a_step < 1 and self.breach <= _FEASIBLE
        return self.in_order and kept and not self.waits


class _Period(NamedTuple):
    """Some steps of a plan, and their orders."""

    steps: Sequence[StepPlan]
    orders: Orders


class _Sent(NamedTuple):
    """What is sent in one step as shares of the senders' data, as `worst_breach` takes them."""

    step: int
    source: IntArray
    target: IntArray
    fraction: FloatArray


def check(seed: int) -> Checked:
    """Plan, make orders, and recompute them."""
    budgets, (schedule, sampled, norms, noise) = _instance(np.random.default_rng(seed))
    transfer, planning = [("send_once", "step"), ("redraw", "step"), ("send_once", "horizon")][seed % 3]
    begin = state = start(schedule, sampled)
    periods: list[_Period] = []
    cut = norms.size // 2 if seed % 2 else 0
    for own in (norms[:cut], norms[cut:]):
        if own.size:
            plan = advance(
                schedule, state, own, gradient_noise=noise, horizon=norms.size, transfer=transfer, planning=planning
            )
            orders = make_orders(schedule, state, plan.steps, transfer=transfer, horizon=norms.size)
            periods.append(_Period(plan.steps, orders))
            state = orders.state
    return _recomputed((seed, budgets), schedule, begin, periods, Transfer(transfer))


def _instance(generator: np.random.Generator) -> tuple[str, tuple[Schedule, IntArray, FloatArray, float]]:
    """A small horizon of any shape, or one of a larger network whose budgets give each link little."""
    if generator.random() < 0.5:
        return "any", random_horizon(generator)
    name, (receive, transmit) = list(BUDGETS.items())[generator.integers(3)]
    network = random_network(generator, 40, link_probability=0.3, receive=receive, transmit=transmit)
    return name, (Schedule(network), generator.permutation(40)[:5], np.ones(12), 1.0)


def _recomputed(
    name: tuple[int, str], schedule: Schedule, begin: HorizonState, periods: Sequence[_Period], kind: Transfer
) -> Checked:
    data = schedule.network.devices.data.tolist()
    reached: dict[Pair, int] = defaultdict(int)
    in_order, waits, sends = True, False, 0
    ahead = behind = behind_a_step = left = 0.0
    sent: list[_Sent] = []
    unsent: dict[Pair, float] = defaultdict(lambda: 1.0)
    for period in periods:
        rows = _rows(period.orders)
        sends += len(rows)
        used: dict[Pair, int] = defaultdict(int)
        for step in period.steps:
            for k, i, fraction in zip(step.source.tolist(), step.target.tolist(), step.fraction.tolist(), strict=True):
                unsent[k, i] -= fraction * unsent[k, i] if kind is Transfer.REDRAW else fraction
                used[k, i] += 1
            now = [row for row in rows if row[0] == step.step]
            for _, k, i, first, count in now:
                in_order &= first == reached[k, i] and count > 0 and first + count <= data[k]
                reached[k, i] = first + count
            sent.append(_sent(step.step, now, data))
            late = {pair: data[pair[0]] * (1 - unsent[pair]) - reached[pair] for pair in used}
            for pair, by in late.items():
                ahead = max(ahead, -by / max(reached[pair], 1))
                behind, behind_a_step = max(behind, by), max(behind_a_step, by / used[pair])
            waits |= _had_room(schedule.at(step.step), now, late)
        left += sum(max(by, 0.0) for by in late.values())
        # The next period is planned from what was sent, not from what was planned.
        unsent.update({pair: 1 - reached[pair] / data[pair[0]] for pair in used})
    breach = worst_breach(schedule, begin, sent)  # type: ignore[arg-type]
    total = sum(reached.values())
    return Checked(*name, sends, total, left, in_order, ahead, behind, behind_a_step, breach, waits)


Row = tuple[int, int, int, int, int]


def _rows(orders: Orders) -> list[Row]:
    columns = (orders.step, orders.source, orders.target, orders.first, orders.count)
    return sorted(zip(*(column.tolist() for column in columns), strict=True))


def _sent(step: int, rows: Sequence[Row], data: list[float]) -> _Sent:
    ends = np.array([row[1:3] for row in rows], np.int64).reshape(-1, 2)
    return _Sent(step, ends[:, 0], ends[:, 1], np.array([count / data[k] for _, k, _, _, count in rows]))


def _had_room(now: Network, rows: Sequence[Row], late: dict[Pair, float]) -> bool:
    """Whether a whole datapoint that is late fits beside those that are sent."""
    links, devices = now.links, now.devices
    pairs = zip(links.source.tolist(), links.target.tolist(), strict=True)
    known = dict(zip(pairs, zip(links.similarity.tolist(), links.transmit_cost.tolist(), strict=True), strict=True))
    budget, room, own = (
        column.tolist() for column in (devices.transmit_budget, devices.receive_capacity, devices.data)
    )
    for _, k, i, _, count in rows:
        similarity, cost = known[k, i]
        budget[k] -= cost * count
        room[i] -= (1 - similarity) * count
        own[k] -= count
    for (k, i), by in late.items():
        similarity, cost = known.get((k, i), (0.0, np.inf))
        if by >= 1 and cost <= budget[k] and 1 - similarity <= room[i] and own[k] >= 1:
            return True
    return False


def _left(rows: Sequence[Checked]) -> float:
    """The share of the plans' datapoints that no order sends."""
    left, sent = sum(row.left for row in rows), sum(row.datapoints for row in rows)
    return round(left / max(left + sent, 1), 3)


def main() -> int:
    """Check, print, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plans", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    given = parser.parse_args()
    rows = [check(seed) for seed in range(given.first, given.first + given.plans)]
    failed = [row for row in rows if not row.passed]
    for row in failed:
        print(json.dumps(asdict(row)))
    worst = {name: max(getattr(row, name) for row in rows) for name in ("ahead", "behind", "behind_a_step", "breach")}
    total = {name: sum(getattr(row, name) for row in rows) for name in ("sends", "datapoints")}
    left = {name: _left([row for row in rows if row.budgets == name]) for name in ("any", *BUDGETS)}
    print(json.dumps({"plans": len(rows), "failed": len(failed), **total, **worst, "left": left}))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
