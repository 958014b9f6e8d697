"""Reports that change a run's network: new devices train and send; what a fleet amounts to follows its data."""

from dataclasses import replace
from typing import Any, cast

import httpx
import numpy as np
import pytest

from app.plans.request import NetworkRequest
from app.runs.changes import changed
from app.runs.conditions import Kept, conditions_of, packed, parameters_of
from app.runs.policy import Policy
from app.runs.request import AggregationRequest
from app.settings import Settings
from app.wire.fleet import FleetIn
from solver import Links, Schedule
from solver.network import LINK_COLUMNS
from tests.support.reported import Run
from tests.support.requests import random_request

Json = dict[str, Any]
# It holds more than all others and can process it all.
STRONG = {
    "data": 5000.0,
    "processing_capacity": 1e6,
    "processing_cost": 1.0,
    "receive_capacity": 500.0,
    "transmit_budget": 500.0,
}


def test_new_devices_join_a_run_and_take_the_place_of_a_lost_one(client: httpx.Client) -> None:
    run = Run(client, random_request(1, 20, horizon=30))
    stays, lost = run.period["sampled"][:2]
    links = [
        {"source": 20, "target": stays, "similarity": 0.1, "transmit_cost": 0.5},
        {"source": stays, "target": 20, "similarity": 0.2, "transmit_cost": 0.5},
    ]
    answer = run.aggregate(add_devices=[STRONG], links=links)
    assert answer["n_devices"] == 21
    assert 20 in answer["steps"][0]["transfers"]["source"]
    assert client.get(run.place).json()["n_devices"] == 21
    (listed,) = (
        one for one in client.get("/v1/runs", params={"limit": 100}).json()["runs"] if run.place.endswith(one["id"])
    )
    assert listed["n_devices"] == 21
    answer = run.aggregate(lost=[lost])
    assert [(one["lost"], one["by"]) for one in answer["replaced"]] == [(lost, 20)]
    assert run.aggregate(lost=[20], joined=[lost])["replaced"][0]["lost"] == 20
    assert client.get(run.place).json()["lost"] == [20]
    assert run.aggregate(joined=[20])["n_devices"] == 21


def test_what_was_announced_holds_when_a_device_joins(client: httpx.Client) -> None:
    request = random_request(1, 12, horizon=30)
    budgets = [1.0] * 12
    topology = request["network"]["topology"]
    request["schedule"] = [{"step": 12, "devices": {"transmit_budget": budgets}}, {"step": 13, "topology": topology}]
    run = Run(client, request)
    stays = run.period["sampled"][0]
    run.reported.changes[12] = {"transmit_budget": budgets}
    link = {"source": 12, "target": stays, "similarity": 0.0, "transmit_cost": 1.0}
    run.aggregate(add_devices=[STRONG], links=[link])
    answer = run.aggregate()
    last = answer["steps"][-1]["transfers"]
    assert 12 in last["source"]
    assert max(np.array(last["datapoints"])[np.array(last["source"]) != 12], default=0.0) <= 20.0


def test_numbers_of_devices_and_links_change_from_the_next_step_on(client: httpx.Client) -> None:
    run = Run(client, random_request(7, 12, budgets="loose", horizon=30))
    moving = client.get(run.place).json()["moving"]
    sends, trains = moving["source"][0], moving["target"][0]
    answer = run.aggregate(
        devices=[{"index": sends, "data": 900.0, "transmit_budget": 30.0}],
        links=[{"source": sends, "target": trains, "transmit_cost": 0.25}],
    )
    assert answer["replaced"] == []
    run.aggregate(remove_links=[{"source": sends, "target": trains}])
    pairs = {
        pair
        for step in run.period["steps"]
        for pair in zip(step["transfers"]["source"], step["transfers"]["target"], strict=True)
    }
    assert (sends, trains) not in pairs


@pytest.mark.parametrize(
    ("report", "pointer"),
    [
        ({"add_devices": [{"data": 1.0}]}, "/add_devices/0/processing_capacity"),
        ({"add_devices": [{**STRONG, "id": "x"}]}, "/add_devices/0/id"),
        ({"add_devices": [{**STRONG, "datapoints": 3.0}]}, "/add_devices/0/datapoints"),
        ({"devices": [{"index": 12, "data": 1.0}]}, "/devices/0/index"),
        ({"devices": [{"index": 1, "data": 1.0}], "data": {"device": [1], "datapoints": [2.0]}}, "/data/datapoints/0"),
        ({"links": [{"source": 0, "target": 12}]}, "/links/0/target"),
        ({"remove_links": [{"source": 0, "target": 0}]}, "/remove_links/0"),
        ({"remove_devices": [{"index": 0}]}, "/remove_devices"),
    ],
)
def test_changes_that_do_not_fit_are_named(client: httpx.Client, report: Json, pointer: str) -> None:
    run = Run(client, random_request(9, 12, horizon=20))
    refused = run.send(**report)
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["pointer"] == pointer
    assert run.aggregate()["n_devices"] == 12


def fleet(*, n: int = 6, mbps: float = 6.0) -> Json:
    devices = [
        {
            "id": f"cam-{i}",
            "datapoints": 100.0 + i,
            "samples_per_second": 40.0,
            "storage_datapoints": 300.0,
            "label_counts": {"car": 60.0, "bus": 40.0 + i},
            "group": "a",
        }
        for i in range(n)
    ]
    links = [{"from": f"cam-{i}", "to": f"cam-{j}", "mbps": mbps} for i in range(n) for j in range(n) if i != j]
    return {"step_seconds": 60.0, "datapoint_bytes": 3136.0, "devices": devices, "links": links}


REPORT: Json = {
    "aggregation": 1,
    "gradient_norm": 1.0,
    "devices": [{"id": "cam-0", "datapoints": 250.0, "label_counts": {"car": 10.0, "truck": 240.0}}],
    "data": {"device_ids": ["cam-1"], "datapoints": [290.0]},
    "add_devices": [fleet(n=7)["devices"][6]],
    "links": [one for one in fleet(n=7)["links"] if "cam-6" in (one["from"], one["to"])],
}


def reported_fleet() -> Json:
    """The fleet that REPORT makes of `fleet()`, if it is sent anew."""
    grown = fleet(n=7)
    grown["devices"][0] |= {"datapoints": 250.0, "label_counts": {"car": 10.0, "truck": 240.0}}
    grown["devices"][1] |= {"datapoints": 290.0}
    return grown


def weights(links: Links, name: str) -> dict[tuple[int, int], float]:
    """A number of each link, by its ends."""
    return {
        (k, i): one
        for k, i, one in zip(links.source.tolist(), links.target.tolist(), getattr(links, name).tolist(), strict=True)
    }


def test_a_reported_fleet_is_the_network_of_that_fleet_sent_anew() -> None:
    """θ is storage less data, similarity follows from label counts; what a schedule has changed stays."""
    model = NetworkRequest.model_validate({"fleet": fleet(), "sample_size": 2, "horizon": 6})
    query = model.to_domain(Settings())
    network = query.schedule.network
    load: Json = {"processing_capacity": np.arange(1.0, 7.0)}
    dropped = Links(*(getattr(network.links, name)[1:] for name in LINK_COLUMNS))
    query = replace(query, schedule=Schedule(network.with_columns(load, dropped), query.schedule.changes))
    kept = Kept(query, parameters_of(model), Policy())
    found = changed(kept, AggregationRequest.model_validate(REPORT), lambda: cast("FleetIn", model.fleet), Settings())
    again = conditions_of(packed(found), Settings())
    wanted = FleetIn.model_validate(reported_fleet()).to_domain()
    assert again.fleet is not None
    assert again.fleet.devices.rows() == FleetIn.model_validate(reported_fleet()).devices.rows()
    assert again.query.ids == wanted.ids
    assert again.query.fleet == wanted.fleet
    now = again.query.schedule.network
    assert now.devices.processing_capacity.tolist() == [*range(1, 7), wanted.network.devices.processing_capacity[6]]
    for name in ("data", "processing_cost", "receive_capacity", "transmit_budget", "label_counts"):
        np.testing.assert_array_equal(getattr(now.devices, name), getattr(wanted.network.devices, name))
    assert now.devices.receive_capacity[:2].tolist() == [50.0, 10.0]
    # The link that a schedule took away comes back, since the report changed its similarity.
    for name in LINK_COLUMNS[2:]:
        assert weights(now.links, name) == weights(wanted.network.links, name)


def test_links_that_a_report_does_not_concern_stay_as_a_schedule_left_them() -> None:
    asked = fleet()
    for one in asked["links"]:
        one["similarity"] = 0.25
    model = NetworkRequest.model_validate({"fleet": asked, "sample_size": 2, "horizon": 6})
    query = model.to_domain(Settings())
    network = query.schedule.network
    dropped = Links(*(getattr(network.links, name)[2:] for name in LINK_COLUMNS))
    query = replace(query, schedule=Schedule(network.with_columns({}, dropped), ()))
    kept = Kept(query, parameters_of(model), Policy())
    rows = {
        "links": [{"from": "cam-3", "to": "cam-4", "mbps": 12.0}],
        "remove_links": [{"from": "cam-1", "to": "cam-5"}],
    }
    report = AggregationRequest.model_validate({"aggregation": 1, "gradient_norm": 1.0, **rows})
    now = changed(kept, report, lambda: cast("FleetIn", model.fleet), Settings()).query.schedule.network.links
    cost, before = weights(now, "transmit_cost"), weights(dropped, "transmit_cost")
    assert cost.keys() == before.keys() - {(1, 5)}
    assert cost[3, 4] == before[3, 4] / 2
    assert all(cost[pair] == before[pair] for pair in cost.keys() - {(3, 4)})


@pytest.mark.parametrize("stored", [False, True])
def test_a_second_report_changes_a_fleet_as_the_first_one_left_it(client: httpx.Client, stored: bool) -> None:  # noqa: FBT001
    source: Json = {"fleet": fleet()}
    if stored:
        source = {"network_id": client.post("/v1/networks", json=source).json()["id"]}
    made = client.post("/v1/runs", json={**source, "sample_size": 2, "horizon": 20})
    place = f"{made.headers['location']}/aggregations"
    answer = client.post(place, json={**REPORT, "lost_ids": made.json()["sampled_ids"]})
    assert answer.status_code == 200, answer.text
    assert answer.json()["fleet"]["similarity"]["match_rates"].keys() == {"car", "bus", "truck"}
    report = {"aggregation": 2, "gradient_norm": 1.0, "devices": [{"id": "cam-6", "datapoints": 90.0}]}
    alone = {"lost_ids": [f"cam-{i}" for i in range(1, 6)], "joined_ids": ["cam-0"]}
    answer = client.post(place, json=report | alone)
    assert answer.status_code == 200, answer.text
    assert sorted(answer.json()["sampled_ids"]) == ["cam-0", "cam-6"]
    replayed = client.post(place, json=report | alone)
    assert replayed.content == answer.content
    (refused,) = client.post(place, json={**report, "aggregation": 3, "add_devices": REPORT["add_devices"]}).json()[
        "errors"
    ]
    assert refused["pointer"] == "/add_devices/0/id"


def test_more_data_than_a_device_can_store_is_refused_where_it_was_told(client: httpx.Client) -> None:
    made = client.post("/v1/runs", json={"fleet": fleet(), "sample_size": 2, "horizon": 20})

    def send(**report: Any) -> list[Json]:
        body = {"aggregation": 1, "gradient_norm": 1.0, **report}
        errors: list[Json] = client.post(f"{made.headers['location']}/aggregations", json=body).json()["errors"]
        return errors

    (one,) = send(data={"device_ids": ["cam-2", "cam-1"], "datapoints": [10.0, 301.0]})
    assert one["pointer"] == "/data/datapoints/1"
    (one,) = send(devices=[{"id": "cam-1", "datapoints": 301.0}])
    assert one["pointer"] == "/devices/0/storage_datapoints"
    (one,) = send(add_devices=[{"id": "cam-1", "datapoints": 1.0, "samples_per_second": 1.0}])
    assert one["pointer"] == "/add_devices/0/id"


def test_a_new_device_of_a_fleets_group_counts_for_its_share(client: httpx.Client) -> None:
    asked = fleet(n=4)
    for one in asked["devices"][2:]:
        one["group"] = "b"
    groups = [{"name": "b", "min_share": 0.5}]
    made = client.post(
        "/v1/runs", json={"fleet": asked, "sample_size": 2, "horizon": 20, "participation": {"groups": groups}}
    )
    new = {**asked["devices"][3], "id": "new"}
    report = {"aggregation": 1, "gradient_norm": 1.0, "add_devices": [new], "lost_ids": ["cam-2", "cam-3"]}
    answer = client.post(f"{made.headers['location']}/aggregations", json=report)
    assert answer.status_code == 200, answer.text
    assert "new" in answer.json()["sampled_ids"]
