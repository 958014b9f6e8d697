"""`python -m benchmarks.orders_check`: the orders of random plans, recomputed link by link from their definition.

Of every plan it checks that

- ranges are whole, begin at 0 for each pair and follow on, and end within the sender's data;
- at every step, no link is ahead of the plan, or behind it by a datapoint;
- sending can be spread so that all datapoints are complete in time and no budget of any step is passed: a link sends in
  each step what the plan says, in parts of datapoints, and in the end nothing that no order asks for.

A third of the plans redraw, and a third are of whole horizons. Half are cut into two periods, as a run's are. The last
line is one JSON object with the worst of each; the exit code is 1 if a check fails.
"""

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

import numpy as np

from solver import HorizonState, Schedule, advance, start
from solver.arrays import FloatArray, IntArray
from solver.instances import BUDGETS, random_horizon, random_network
from solver.orders import Orders, make_orders
from solver.plan import StepPlan
from solver.reference_horizon import worst_breach
from solver.transfer import Transfer

__all__ = ["Checked", "check"]

_FEASIBLE = 1e-8
_WHOLE = 1e-6  # so far may an amount be from a whole number that it is meant to be

Pair = tuple[int, int]


@dataclass(frozen=True)
class Checked:
    """The orders of one plan.

    Attributes:
        sends: how many.
        datapoints: how many all of them send.
        in_order: whether the ranges of each pair begin at 0, follow on, and end within the sender's data.
        ahead, behind: datapoints by which a link is ahead of the plan, and behind it, at most.
        breach: of the worst constraint, relative, if datapoints are sent in parts.
    """

    seed: int
    sends: int
    datapoints: int
    in_order: bool
    ahead: float
    behind: float
    breach: float

    @property
    def passed(self) -> bool:
        """Whether all checks hold."""
        return self.in_order and self.ahead <= _WHOLE and self.behind < 1 and self.breach <= _FEASIBLE


class _Plan(NamedTuple):
    schedule: Schedule
    begin: HorizonState
    steps: list[StepPlan]
    kind: Transfer


class _Parts(NamedTuple):
    """What is sent in one step as shares of the senders' data, as `worst_breach` takes them."""

    step: int
    source: IntArray
    target: IntArray
    fraction: FloatArray


def check(seed: int) -> Checked:
    """Plan, make orders, and recompute them."""
    schedule, sampled, norms, noise = _instance(np.random.default_rng(seed))
    transfer, planning = [("send_once", "step"), ("redraw", "step"), ("send_once", "horizon")][seed % 3]
    begin = state = start(schedule, sampled)
    steps: list[StepPlan] = []
    made: list[Orders] = []
    cut = norms.size // 2 if seed % 2 else 0
    for own in (norms[:cut], norms[cut:]):
        if own.size:
            period = advance(
                schedule, state, own, gradient_noise=noise, horizon=norms.size, transfer=transfer, planning=planning
            )
            made.append(make_orders(schedule.network.devices.data, state, period.steps, transfer=transfer))
            state = period.state
            steps += period.steps
    return _recomputed(seed, _Plan(schedule, begin, steps, Transfer(transfer)), made)


def _instance(generator: np.random.Generator) -> tuple[Schedule, IntArray, FloatArray, float]:
    """A small horizon of any shape, or one of a larger network whose budgets give each link little."""
    if generator.random() < 0.5:
        return random_horizon(generator)
    receive, transmit = list(BUDGETS.values())[generator.integers(3)]
    network = random_network(generator, 40, link_probability=0.3, receive=receive, transmit=transmit)
    return Schedule(network), generator.permutation(40)[:5], np.ones(12), 1.0


def _recomputed(seed: int, plan: _Plan, made: Sequence[Orders]) -> Checked:
    data = plan.schedule.network.devices.data.tolist()
    names = ("step", "source", "target", "first", "count")
    rows = [row for one in made for row in zip(*(getattr(one, name).tolist() for name in names), strict=True)]
    by_step: dict[int, list[tuple[Pair, int]]] = defaultdict(list)
    reached: dict[Pair, int] = defaultdict(int)
    in_order = True
    for step, source, target, first, count in sorted(rows):
        pair = source, target
        in_order &= first == reached[pair] and count > 0 and first + count <= data[source]
        reached[pair] = first + count
        by_step[step].append((pair, count))
    ahead, behind, parts = _followed(plan, by_step, reached)
    breach = worst_breach(plan.schedule, plan.begin, parts)  # type: ignore[arg-type]
    return Checked(seed, len(rows), sum(reached.values()), in_order, ahead, behind, breach)


def _followed(
    plan: _Plan, by_step: dict[int, list[tuple[Pair, int]]], reached: dict[Pair, int]
) -> tuple[float, float, list[_Parts]]:
    """How far links are ahead of the plan and behind it, and what they send in each step, in parts of datapoints."""
    data = plan.schedule.network.devices.data.tolist()
    unsent: dict[Pair, float] = defaultdict(lambda: 1.0)
    told: dict[Pair, int] = defaultdict(int)
    sent: dict[Pair, float] = defaultdict(float)
    ahead = behind = 0.0
    parts = []
    for step in plan.steps:
        rows: list[tuple[int, int, float]] = []
        for k, i, fraction in zip(step.source.tolist(), step.target.tolist(), step.fraction.tolist(), strict=True):
            unsent[k, i] -= fraction * unsent[k, i] if plan.kind is Transfer.REDRAW else fraction
            goal = min(data[k] * (1 - unsent[k, i]), reached[k, i])
            rows.append((k, i, max(goal - sent[k, i], 0.0) / data[k]))
            sent[k, i] = max(goal, sent[k, i])
        for pair, count in by_step[step.step]:
            told[pair] += count
        for pair, share in unsent.items():
            late = data[pair[0]] * (1 - share) - told[pair]
            ahead, behind = max(ahead, -late), max(behind, late)
        ends = np.array([row[:2] for row in rows], np.int64).reshape(-1, 2)
        parts.append(_Parts(step.step, ends[:, 0], ends[:, 1], np.array([row[2] for row in rows])))
    return ahead, behind, parts


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
    worst = {name: max(getattr(row, name) for row in rows) for name in ("ahead", "behind", "breach")}
    total = {name: sum(getattr(row, name) for row in rows) for name in ("sends", "datapoints")}
    print(json.dumps({"plans": len(rows), "failed": len(failed), **total, **worst}))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
