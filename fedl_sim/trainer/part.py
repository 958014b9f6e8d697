"""From a part of a validation, as the contract has it, to the loop that trains it."""

from functools import lru_cache
from pathlib import Path

from fedl_sim.cache import cached_data_set, cached_engine, cached_realisation
from fedl_sim.contract import (
    GIVEN_PLAN,
    GivenNetwork,
    LinkColumns,
    Part,
)
from fedl_sim.data.datasets import DataSet
from fedl_sim.engines.factory import default_model
from fedl_sim.loop.devices import TrainingSettings
from fedl_sim.loop.loop import RunSettings, SchemeLoop
from fedl_sim.loop.replay import ReplayLoop
from fedl_sim.loop.script import ScriptedPlanner
from fedl_sim.network.given import realise_given
from fedl_sim.network.realisation import Realisation, RealisationSettings
from fedl_sim.trainer.given_plan import replayed_periods, scripted_steps
from sampler.schemes import Scheme, find_scheme
from solver.network import Devices, Links, Network
from solver.network.schedule import Change

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
    scheme = Scheme(GIVEN_PLAN, "given", "fast")
    periods = replayed_periods(work.plan, realisation.partition, data.train, seed=part.seed)
    planner = ScriptedPlanner(
        scripted_steps(work.plan, realisation.conditions, periods, work.aggregation_period),
        work.aggregation_period,
        relative_gap=work.plan.relative_gap,
        transfer=work.plan.transfer,
    )
    return ReplayLoop(scheme, realisation, data, engine, settings, seed=part.seed, periods=periods, planner=planner)


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
