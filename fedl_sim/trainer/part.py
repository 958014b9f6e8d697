"""One part of a validation as a JSON object: one scheme, one seed, one draw, and everything that decides them.

    {"data_set": "digits", "model": null, "network": {…} or "generator": {…}, "sample_size": 3, "aggregations": 5,
     "aggregation_period": 5, "learning_rate": 0.01, "batch_size": 10, "labels_per_device": 3,
     "scheme": "ours-offload", "seed": 0, "draw": 0, "plan": {"sampled": […], "steps": […]}}

`network` has the columns of `devices` and `links`, and `changes` in time. `plan` belongs to the scheme of that
name: a plan made elsewhere, carried out as it stands.
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from fedl_sim.data.datasets import DataSet, load_data_set
from fedl_sim.engines.base import Engine
from fedl_sim.engines.factory import make_engine
from fedl_sim.loop.devices import TrainingSettings
from fedl_sim.loop.holdings import Transfer
from fedl_sim.loop.loop import RunSettings, SchemeLoop
from fedl_sim.loop.planner import PlannedStep
from fedl_sim.loop.script import ScriptedPlanner
from fedl_sim.network.given import realise_given
from fedl_sim.network.realisation import Realisation, RealisationSettings, realise
from sampler.schemes import Scheme, find_scheme
from solver.network import Devices, Links, Network
from solver.schedule import Change, Schedule

__all__ = ["GIVEN_PLAN", "open_part"]

# The scheme that carries out a plan made elsewhere.
GIVEN_PLAN = "plan"


def open_part(part: Mapping[str, Any], *, threads: int = 1) -> SchemeLoop:
    """The loop of a part, before its first aggregation."""
    data = _data_set(part["data_set"])
    model = part.get("model") or ("softmax" if part["data_set"] == "digits" else "cnn")
    period = part["aggregation_period"]
    settings = RunSettings(
        sample_size=part["sample_size"],
        aggregations=part["aggregations"],
        training=TrainingSettings(part["learning_rate"], part["batch_size"], period),
        threads=threads,
    )
    source = {name: part[name] for name in ("network", "generator", "labels_per_device") if part.get(name) is not None}
    realisation = _realisation(json.dumps(source, sort_keys=True), part["data_set"], part["seed"])
    engine = _engine(model, part["data_set"])
    if part["scheme"] != GIVEN_PLAN:
        scheme = find_scheme(part["scheme"])
        return SchemeLoop(scheme, realisation, data, engine, settings, seed=part["seed"], draw=part["draw"])
    plan = part["plan"]
    return SchemeLoop(
        Scheme(GIVEN_PLAN, "given", "fast"),
        realisation,
        data,
        engine,
        settings,
        seed=part["seed"],
        draw=part["draw"],
        sampled=np.array(plan["sampled"], np.int64),
        planner=ScriptedPlanner(
            _steps(plan["steps"], realisation.conditions), period, relative_gap=plan["relative_gap"]
        ),
    )


def _steps(steps: list[dict[str, Any]], schedule: Schedule) -> list[PlannedStep]:
    planned = []
    for step in steps:
        links = schedule.at(step["step"]).links
        ends = zip(links.source.tolist(), links.target.tolist(), strict=True)
        cost = dict(zip(ends, links.transmit_cost.tolist(), strict=True))
        rows = zip(step["source"], step["target"], step["fraction"], strict=True)
        transfers = tuple(Transfer(source, target, fraction) for source, target, fraction in rows)
        costs = tuple(cost[transfer.source, transfer.target] for transfer in transfers)
        planned.append(PlannedStep(step["step"], transfers, costs, step["useful"]))
    return planned


def _refuse_download(address: str, _: Path) -> bytes:
    raise OSError(f"a worker fetches nothing from {address.split('/')[2]}")


# A process trains many parts on few data sets and networks; these keep the last ones at hand.
@lru_cache(maxsize=2)
def _data_set(name: str) -> DataSet:
    return load_data_set(name, fetch=_refuse_download)


@lru_cache(maxsize=2)
def _engine(model: str, data_set: str) -> Engine:
    return make_engine("compiled", model, _data_set(data_set))


@lru_cache(maxsize=4)
def _realisation(source: str, data_set: str, seed: int) -> Realisation:
    given = json.loads(source)
    data = _data_set(data_set)
    labels = given["labels_per_device"]
    if "generator" in given:
        return realise(RealisationSettings(**given["generator"], labels_per_device=labels), data, seed)
    columns = given["network"]
    network = Network(Devices(**columns["devices"]), Links(**columns["links"]))
    changes = tuple(
        Change(change["step"], change["devices"], None if change.get("links") is None else Links(**change["links"]))
        for change in columns["changes"]
    )
    return realise_given(network, changes, data, seed, labels_per_device=labels)
