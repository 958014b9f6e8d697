"""What a run needs of its request from now on survives the store."""

from dataclasses import replace
from typing import Any

import numpy as np

from app.plans.request import NetworkRequest
from app.runs.conditions import Kept, conditions_of, packed, parameters_of, settled
from app.runs.policy import Group, Policy
from app.runs.request import ParticipationIn, ResampleIn
from app.settings import Settings
from sampler.healing import Quota
from solver.network import DEVICE_COLUMNS, LINK_COLUMNS, Network
from tests.support.requests import random_request


def assert_same(one: Network, other: Network) -> None:
    for name in DEVICE_COLUMNS:
        np.testing.assert_array_equal(getattr(one.devices, name), getattr(other.devices, name))
    for name in LINK_COLUMNS:
        np.testing.assert_array_equal(getattr(one.links, name), getattr(other.links, name))


def test_the_conditions_of_the_steps_to_come_are_kept() -> None:
    request: dict[str, Any] = random_request(3, 12, horizon=20, eligible=[1, 2, 3, 4], time_limit=3.0)
    link = {"source": [0, 4], "target": [1, 1], "similarity": [0.5, 0.5], "transmit_cost": [1.0, 1.0]}
    request["schedule"] = [
        {"step": 4, "devices": {"transmit_budget": [1.0] * 12}},
        {"step": 6, "patch": {"devices": [{"index": 2, "transmit_budget": 7.0}]}},
        {"step": 9, "topology": {"kind": "links", **link}},
    ]
    model = NetworkRequest.model_validate(request)
    query = model.to_domain(Settings())
    limits = ParticipationIn(max_periods=3, groups=[])
    policy = Policy(ResampleIn(when="always", max_swaps=2), limits, (Group("a", Quota(np.array([1, 2]), 1)),))
    kept = conditions_of(packed(Kept(settled(query, 5), parameters_of(model), policy)), Settings())
    for step in (6, 8, 9, 20):
        assert_same(kept.query.schedule.at(step), query.schedule.at(step))
    assert len(kept.query.schedule.changes) == 1
    assert kept.policy.to_json() == policy.to_json()
    same = ("sample_size", "horizon", "aggregation_period", "sampler", "transfer", "weights", "time_limit", "gradient")
    assert [getattr(kept.query, name) for name in same] == [getattr(query, name) for name in same]
    assert kept.query.eligible is not None
    assert kept.query.eligible.tolist() == [1, 2, 3, 4]
    again = conditions_of(packed(replace(kept, query=settled(kept.query, 10))), Settings())
    assert_same(again.query.schedule.at(11), query.schedule.at(11))


def test_ids_label_counts_and_energy_are_kept() -> None:
    devices = [
        {
            "id": f"cam-{i}",
            "datapoints": 100 + i,
            "samples_per_second": 40,
            "joules_per_sample": 0.1,
            "label_counts": {"car": 60.0 + i, "bus": 40.0},
            "may_train": i != 2,
        }
        for i in range(4)
    ]
    links = [{"from": "cam-0", "to": "cam-1", "mbps": 6.0, "joules_per_megabyte": 0.4}]
    noise = {"epsilon": 0.5}
    fleet = {"step_seconds": 60.0, "datapoint_bytes": 3136.0, "devices": devices, "links": links, "label_noise": noise}
    model = NetworkRequest.model_validate({"fleet": fleet, "sample_size": 2, "horizon": 6})
    query = model.to_domain(Settings())
    kept = conditions_of(packed(Kept(query, parameters_of(model), Policy())), Settings()).query
    assert_same(kept.schedule.network, query.schedule.network)
    np.testing.assert_array_equal(
        kept.schedule.network.devices.label_counts, query.schedule.network.devices.label_counts
    )
    assert kept.schedule.network.devices.label_epsilon == 0.5
    assert (kept.ids, kept.fleet) == (query.ids, query.fleet)
    assert kept.energy is not None
    assert query.energy is not None
    np.testing.assert_array_equal(kept.energy.transmit, query.energy.transmit)
