"""From a part of a validation, as the contract has it, to the loop that trains it."""

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fedl_sim.cache import cached_data_set, cached_engine, cached_realisation
from fedl_sim.contract import (
    GIVEN_PLAN,
    ContractError,
    GivenNetwork,
    GivenPlan,
    GivenStep,
    LinkColumns,
    Part,
)
from fedl_sim.data.datasets import DataSet
from fedl_sim.engines.factory import default_model
from fedl_sim.loop.devices import TrainingSettings
from fedl_sim.loop.holdings import Transfer
from fedl_sim.loop.loop import RunSettings, SchemeLoop
from fedl_sim.loop.planner import PlannedStep, carried_out
from fedl_sim.loop.script import ScriptedPlanner
from fedl_sim.network.given import realise_given
from fedl_sim.network.realisation import Realisation, RealisationSettings
from sampler.schemes import Scheme, find_scheme
from solver.arrays import FloatArray, IntArray
from solver.horizon.state import start
from solver.network import Devices, Links, Network
from solver.network.schedule import Change, Schedule
from solver.orders import make_orders

__all__ = ["open_part"]


def open_part(part: Part, *, threads: int = 1) -> SchemeLoop:
    """The loop of a part, before its first aggregation."""
    work = part.work
    data = cached_data_set(work.data_set, _refuse_download)
    engine = cached_engine("compiled", work.model or default_model(work.data_set), data)
    realisation = _realisation(part, data)
    settings = RunSettings(
        sample_size=work.sample_size,
        aggregations=work.aggregations,
        training=TrainingSettings(work.learning_rate, work.batch_size, work.aggregation_period),
        threads=threads,
        transfer=work.transfer,
    )
    if part.scheme != GIVEN_PLAN or work.plan is None:
        scheme = find_scheme(part.scheme)
        return SchemeLoop(scheme, realisation, data, engine, settings, seed=part.seed, draw=part.draw)
    return SchemeLoop(
        Scheme(GIVEN_PLAN, "given", "fast"),
        realisation,
        data,
        engine,
        settings,
        seed=part.seed,
        draw=part.draw,
        sampled=np.array(work.plan.sampled, np.int64),
        planner=_planner(work.plan, realisation.conditions, work.aggregation_period),
    )


def _planner(plan: GivenPlan, schedule: Schedule, period: int) -> ScriptedPlanner:
    steps = [_planned(step, schedule, f"plan.steps[{i}]") for i, step in enumerate(plan.steps)]
    if plan.transfer == "send_once":
        given = [_Columns.of(step) for step in plan.steps]
        orders = make_orders(schedule, start(schedule, plan.sampled), given)
        steps = carried_out(orders, schedule.network.devices.data, [step.step for step in steps])
    return ScriptedPlanner(steps, period, relative_gap=plan.relative_gap, transfer=plan.transfer)


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


def _planned(step: GivenStep, schedule: Schedule, place: str) -> PlannedStep:
    links = schedule.at(step.step).links
    ends = zip(links.source.tolist(), links.target.tolist(), strict=True)
    cost = dict(zip(ends, links.transmit_cost.tolist(), strict=True))
    rows = zip(step.source, step.target, step.fraction, strict=True)
    transfers = tuple(Transfer(source, target, fraction) for source, target, fraction in rows)
    for one in transfers:
        if (one.source, one.target) not in cost:
            raise ContractError(place, f"sends from {one.source} to {one.target}, where there is no link")
    costs = tuple(cost[one.source, one.target] for one in transfers)
    return PlannedStep(step.step, transfers, costs, step.useful)


def _refuse_download(address: str, _: Path) -> bytes:
    raise OSError(f"a worker fetches nothing from {address.split('/')[2]}")


def _realisation(part: Part, data: DataSet) -> Realisation:
    work = part.work
    if isinstance(work.source, GivenNetwork):
        return _given_realisation(work.source, data, part.seed, work.labels_per_device)
    settings = RealisationSettings(**vars(work.source), labels_per_device=work.labels_per_device)
    return cached_realisation(settings, data, part.seed)


@lru_cache(maxsize=4)
def _given_realisation(given: GivenNetwork, data: DataSet, seed: int, labels_per_device: int) -> Realisation:
    network = Network(Devices(**vars(given.devices)), _links(given.links))
    changes = tuple(
        Change(change.step, dict(change.devices), None if change.links is None else _links(change.links))
        for change in given.changes
    )
    return realise_given(network, changes, data, seed, labels_per_device=labels_per_device)


def _links(columns: LinkColumns) -> Links:
    return Links(**vars(columns))
