"""Plans that send once are carried out by their orders, to the datapoint."""

from collections import defaultdict
from typing import Any

import numpy as np
import pytest

from fedl_sim.contract import GIVEN_PLAN, Part
from fedl_sim.loop.holdings import Holdings
from fedl_sim.loop.loop import SchemeLoop
from fedl_sim.loop.planner import PlannedStep
from fedl_sim.randomness import stream
from fedl_sim.trainer.part import open_part
from solver import plan_offloading, start
from solver.network import DEVICE_COLUMNS
from solver.orders import make_orders
from tests.support.networks import random_devices
from tests.support.parts import make_part

NETWORK = random_devices(12, 0.6, seed=1)
SAMPLED = [0, 1, 2]


def part(**changes: Any) -> Part:
    links = {
        name: getattr(NETWORK.links, name).tolist() for name in ("source", "target", "similarity", "transmit_cost")
    }
    devices = {name: getattr(NETWORK.devices, name).tolist() for name in DEVICE_COLUMNS}
    network = {"devices": devices, "links": links, "changes": []}
    return make_part(generator=None, network=network, transfer="send_once", aggregations=3, **changes)


def given() -> Part:
    plan = plan_offloading(NETWORK, SAMPLED, horizon=6)
    columns = ("source", "target", "fraction")
    steps = [
        {"step": one.step, **{name: getattr(one, name).tolist() for name in columns}, "useful": float(one.useful.sum())}
        for one in plan.steps
    ]
    made = {"sampled": SAMPLED, "relative_gap": 0.0, "steps": steps, "transfer": "send_once"}
    return part(scheme=GIVEN_PLAN, plan=made)


def carried_out(loop: SchemeLoop) -> list[PlannedStep]:
    """Run the loop to its end; the steps that it was told to carry out."""
    steps: list[PlannedStep] = []
    plan = loop.planner.next_period

    def recorded() -> list[PlannedStep]:
        steps.extend(plan())
        return steps[-2:]

    loop.planner.next_period = recorded  # type: ignore[method-assign]
    while not loop.finished:
        loop.advance()
    return steps


def counts_of(step: PlannedStep) -> list[int]:
    return [one.count or 0 for one in step.transfers]


@pytest.mark.parametrize("scheme", [GIVEN_PLAN, "heuristic-offload"])
def test_what_arrives_is_what_the_orders_name(scheme: str) -> None:
    work = given() if scheme == GIVEN_PLAN else part(scheme=scheme)
    loop = open_part(work)
    realisation = loop._realisation
    untouched = Holdings(loop.holdings._images, realisation.partition, loop.sampled.tolist(), realisation.radius)
    sizes = realisation.partition.sizes
    told: dict[tuple[int, int], int] = defaultdict(int)
    kept: dict[int, list[int]] = {i: [] for i in loop.sampled.tolist()}
    for step in carried_out(loop):
        for one in step.transfers:
            pair = one.source, one.target
            order = stream(work.seed, "order", "run", one.source).permutation(sizes[one.source])
            assert one.count is not None
            drawn = order[told[pair] : told[pair] + one.count]
            told[pair] += one.count
            kept[one.target] += realisation.partition.of(one.source)[drawn[~untouched.covered(*pair)[drawn]]].tolist()
        spent = np.bincount([one.source for one in step.transfers], np.multiply(step.costs, counts_of(step)), 12)
        assert np.all(spent <= NETWORK.devices.transmit_budget * (1 + 1e-9))
    assert loop.totals.moved == sum(told.values()) > 100
    for device, rows in kept.items():
        arrived = loop.holdings.data(device)[sizes[device] :]
        assert sorted(arrived.tolist()) == sorted(rows)


def test_a_given_plan_is_carried_out_by_the_orders_that_the_service_tells() -> None:
    plan = plan_offloading(NETWORK, SAMPLED, horizon=6)
    orders = make_orders(NETWORK, start(NETWORK, SAMPLED), plan.steps)
    loop = open_part(given())
    counts = {(s.step, t.source, t.target): t.count for s in carried_out(loop) for t in s.transfers if t.count}
    columns = (orders.step.tolist(), orders.source.tolist(), orders.target.tolist())
    assert counts == dict(zip(zip(*columns, strict=True), orders.count.tolist(), strict=True))
    assert loop.totals.predicted == pytest.approx(float(orders.useful.sum()))
