"""Patches in the fields of a fleet in the course of a plan: they hold from a step on, as a fleet that is sent anew."""

import copy
import json
from typing import Any

import httpx
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from app.http.problems import InvalidRequestError
from app.networks.course import Announced, fleet_changes
from app.networks.patch import PatchIn
from app.networks.schemas import NetworkRequest
from app.networks.stored import StoredFleet
from app.wire.arrays import read_model
from solver import Schedule
from solver.network import DEVICE_COLUMNS, LINK_COLUMNS
from tests.support.fleets import FLEET, random_fleet


def fleet_of(content: dict[str, Any]) -> StoredFleet:
    found = read_model(NetworkRequest, json.dumps({"fleet": content}).encode()).to_domain()
    assert isinstance(found, StoredFleet)
    return found


def announced(step: int, patch: dict[str, Any], place: int = 0) -> Announced:
    return Announced(step, PatchIn.model_validate(patch), f"/schedule/{place}/patch")


@pytest.mark.parametrize("seed", range(5))
def test_each_patch_holds_from_its_step_on_as_if_the_fleet_were_sent_anew(seed: int) -> None:
    content = random_fleet(seed, 12)
    link = content["links"][3]
    first = {
        "devices": [{"id": "device 2", "load": 0.95, "airtime_seconds": 0.05}, {"index": 4, "unset": ["load"]}],
        "links": [{"from": link["from"], "to": link["to"], "mbps": 0.5, "unset": ["loss"]}],
    }
    second = {
        "devices": [{"id": "device 3", "may_send": False}],
        "remove_links": [{"from": link["from"], "to": link["to"]}],
    }
    before = fleet_of(content)
    changes = fleet_changes(before.fleet, before.given.network, [announced(7, second, 1), announced(3, first)])
    schedule = Schedule(before.given.network, tuple(changes))

    then = copy.deepcopy(content)
    then["devices"][2] |= {"load": 0.95, "airtime_seconds": 0.05}
    then["devices"][4].pop("load", None)
    then["links"][3]["mbps"] = 0.5
    then["links"][3].pop("loss", None)
    last = copy.deepcopy(then)
    last["devices"][3]["may_send"] = False
    del last["links"][3]
    for step, expected in ((2, content), (3, then), (6, then), (7, last)):
        found, anew = schedule.at(step), fleet_of(expected).given.network
        for name in DEVICE_COLUMNS:
            assert_array_equal(getattr(found.devices, name), getattr(anew.devices, name))
        for name in LINK_COLUMNS:
            np.testing.assert_allclose(getattr(found.links, name), getattr(anew.links, name), rtol=1e-9)


@pytest.mark.parametrize(
    ("patch", "pointer"),
    [
        ({"devices": [{"id": "hub", "load": 0.1}], "add_devices": [{}]}, "/add_devices"),
        ({"devices": [{"id": "hub", "datapoints": 3}]}, "/devices/0/datapoints"),
        ({"devices": [{"id": "hub", "joules_per_sample": 3}]}, "/devices/0/joules_per_sample"),
        ({"devices": [{"id": "hub", "unset": ["label_counts"]}]}, "/devices/0/label_counts"),
        ({"devices": [{"id": "hub", "load": 0.2, "unset": ["load"]}]}, "/devices/0/load"),
        ({"links": [{"from": "cam-1", "to": "hub", "joules_per_megabyte": 3}]}, "/links/0/joules_per_megabyte"),
        ({"devices": [{"id": "hub", "storage_datapoints": 599}]}, "/devices/0/storage_datapoints"),
        ({"devices": [{"id": "nobody", "load": 0.5}]}, "/devices/0/id"),
        ({"devices": [{"id": "hub", "load": 0.5, "transmit_budget": 3}]}, "/devices/0/transmit_budget"),
        ({"links": [{"from": "hub", "to": "cam-1", "loss": 0.1}]}, "/links/0/mbps"),
    ],
)
def test_a_patch_that_does_not_fit_is_pointed_at(patch: dict[str, Any], pointer: str) -> None:
    before = fleet_of(FLEET)
    with pytest.raises(InvalidRequestError) as caught:
        fleet_changes(before.fleet, before.given.network, [announced(2, patch, 4)])
    assert [one.pointer for one in caught.value.errors] == [f"/schedule/4/patch{pointer}"]


def test_so_many_patches_of_so_large_a_fleet_are_refused() -> None:
    content = random_fleet(0, 2000)
    before = fleet_of(content)
    many = [announced(step, {"devices": [{"index": 0, "load": 0.5}]}, step) for step in range(1, 1100)]
    with pytest.raises(InvalidRequestError) as caught:
        fleet_changes(before.fleet, before.given.network, many)
    assert caught.value.errors[0].detail == "a fleet of this size may have 1000 patches"


def test_plans_and_validations_take_schedules_in_the_fields_of_a_fleet(client: httpx.Client) -> None:
    fleet = copy.deepcopy(FLEET)
    fleet["devices"][1]["airtime_seconds"] = 0.3  # enough for 67 datapoints a step of 300
    silent = {"step": 3, "patch": {"devices": [{"id": "cam-1", "airtime_seconds": 0}]}}
    asked: dict[str, Any] = {"sampled_ids": ["hub"], "sample_size": 1, "horizon": 4}
    stored = client.post("/v1/networks", json={"fleet": fleet}).json()["id"]
    for source in ({"fleet": fleet}, {"network_id": stored}):
        plan = client.post("/v1/plans", json={**source, **asked, "schedule": [silent]}).json()
        sent = [1 in step["transfers"]["source"] for step in plan["steps"]]
        assert sent == [True, True, False, False]
    mixed = [silent, {"step": 2, "devices": {"transmit_budget": [1, 1, 1, 1, 1]}}]
    refused = client.post("/v1/plans", json={"fleet": fleet, **asked, "schedule": mixed})
    assert refused.json()["errors"][0]["pointer"] == "/schedule/1/devices"
    network = {"step": 3, "patch": {"devices": [{"id": "cam-1", "transmit_budget": 0}]}}
    same = client.post("/v1/plans", json={"fleet": fleet, **asked, "schedule": [network]}).json()
    assert [1 in step["transfers"]["source"] for step in same["steps"]] == [True, True, False, False]
    wanted = {
        "source": {"kind": "fleet", "fleet": fleet, "schedule": [silent]},
        "schemes": ["random"],
        "sample_size": 1,
    }
    assert client.post("/v1/validations", json=wanted).status_code == 202


def test_a_patch_that_takes_an_earlier_one_back_restores_the_network() -> None:
    before = fleet_of(FLEET)
    there = {"devices": [{"id": "cam-1", "airtime_seconds": 1}], "links": [{"from": "cam-1", "to": "hub", "loss": 0.5}]}
    back = {"devices": [{"id": "cam-1", "airtime_seconds": 6}], "links": [{"from": "cam-1", "to": "hub", "loss": 0.1}]}
    network = before.given.network
    schedule = Schedule(network, tuple(fleet_changes(before.fleet, network, [announced(2, there), announced(5, back)])))
    assert schedule.at(4).devices.transmit_budget[1] == 1
    assert_array_equal(schedule.at(5).devices.transmit_budget, network.devices.transmit_budget)
    assert_array_equal(schedule.at(5).devices.receive_capacity, network.devices.receive_capacity)
    assert_array_equal(schedule.at(5).links.transmit_cost, network.links.transmit_cost)
