"""Fleets in plans, runs and dry runs: ids in answers, what is derived, and every refusal."""

import copy
from typing import Any

import httpx
import numpy as np
import pytest

from tests.support.fleets import FLEET, random_fleet
from tests.support.requests import check_plan

IDS = ["hub", "cam-1", "cam-2", "cam-3", "cam-4"]


def ask(**parameters: Any) -> dict[str, Any]:
    return {"fleet": FLEET, "sample_size": 1, "horizon": 3, **parameters}


def answered(client: httpx.Client, request: dict[str, Any], path: str = "/v1/plans") -> dict[str, Any]:
    answer = client.post(path, json=request)
    assert answer.status_code in {200, 201}, answer.text
    found: dict[str, Any] = answer.json()
    return found


def refused(client: httpx.Client, request: dict[str, Any], path: str = "/v1/plans") -> tuple[str, str]:
    answer = client.post(path, json=request)
    assert answer.status_code == 422, answer.text
    (error,) = answer.json()["errors"]
    return error["pointer"], error["detail"]


def test_plans_runs_and_aggregations_speak_of_ids(client: httpx.Client) -> None:
    plan = answered(client, ask(keep=True))
    assert plan["device_ids"] == IDS
    assert plan["sampled_ids"] == [IDS[i] for i in plan["sampled"]] == ["hub"]
    moved = plan["steps"][0]["transfers"]
    # cam-2 is of another group, cam-4 may not send.
    assert {IDS[i] for i in moved["source"]} == {"cam-1", "cam-3"}
    assert client.get(f"/v1/plans/{plan['id']}").json() == plan
    run = answered(client, ask(aggregation_period=2), "/v1/runs")
    told = {"aggregation": 1, "gradient_norm": 0.5}
    run_id = client.get("/v1/runs").json()["runs"][-1]["id"]
    period = answered(client, told, f"/v1/runs/{run_id}/aggregations")
    for one in (run, period):
        assert (one["device_ids"], one["sampled_ids"], one["fleet"]) == (IDS, ["hub"], plan["fleet"])


def test_a_dry_run_tells_what_was_derived_and_assumed(client: httpx.Client) -> None:
    found = answered(client, ask(dry_run=True))
    assert found["fleet"]["assumptions"] == [
        {"field": "devices.load", "count": 4, "assumed": "0: no other work"},
        {"field": "devices.storage_datapoints", "count": 4, "assumed": "no limit"},
        {"field": "devices.airtime_seconds", "count": 4, "assumed": "60 s: the whole step"},
        {"field": "links.loss", "count": 4, "assumed": "0: nothing is sent again"},
    ]
    assert found["fleet"]["links_left_out"] == {"across_groups": 1, "unwilling": 1}
    assert found["obstacles"] == [{"device": 3, "id": "cam-3", "step": 1, "reason": "may not train"}]
    assert found["eligible"] == 4
    assert found["connectivity"]["isolated"] == {"count": 1, "devices": [2], "ids": ["cam-2"]}
    network = found["network"]
    assert network["devices"]["processing_capacity"] == [10.0, 60.0, 60.0, 0.0, 60.0]
    assert network["links"]["source"] == [1, 3, 0]
    np.testing.assert_allclose(network["links"]["transmit_cost"], [0.024 / 5.4, 0.012, 0.012])


@pytest.mark.parametrize("seed", range(4))
def test_a_fleet_is_planned_as_the_same_network_in_columns(client: httpx.Client, seed: int) -> None:
    # A sampler that looks at no label counts: the columns have none.
    rest = {"sample_size": 3, "horizon": 5, "sampler": "heuristic"}
    request = {"fleet": random_fleet(seed, 25), **rest}
    found = answered(client, {**request, "dry_run": True})["network"]
    columns = {"devices": found["devices"], "topology": {"kind": "links", **found["links"]}}
    fleet = answered(client, request)
    network = answered(client, {"network": columns, **rest})
    for name in ("sampled", "steps", "objective", "relative_gap", "set_bound", "transmit_cost"):
        assert fleet[name] == network[name]
    check_plan({**request, "network": columns}, fleet)
    columns["devices"] = {**found["devices"], "id": fleet["device_ids"]}
    named = answered(client, {"network": columns, **rest})
    assert named["sampled_ids"] == fleet["sampled_ids"]
    assert "fleet" not in named


def test_devices_can_be_named_by_their_ids(client: httpx.Client) -> None:
    assert answered(client, ask(sampled_ids=["cam-4"]))["sampled"] == [4]
    assert answered(client, ask(eligible_ids=["cam-2", "cam-1"]))["sampled_ids"][0] in {"cam-1", "cam-2"}
    explained = answered(client, ask(explain_ids=["cam-1"], sampler="greedy"))
    assert explained["trace"][0]["gains"]["device"] == [1]
    assert refused(client, ask(sampled_ids=["cam-9"])) == ("/sampled_ids/0", "is the id of no device")
    assert refused(client, ask(sampled=[0], sampled_ids=["hub"])) == (
        "/sampled_ids",
        "`sampled` names devices too: give one of the two",
    )
    assert refused(client, ask(eligible_ids=["hub", "hub"])) == ("/eligible_ids", "names a device twice")
    assert refused(client, ask(sampled_ids=["hub", "cam-1"])) == ("/sampled_ids", "must name sample_size = 1 devices")
    found = refused(client, ask(sampled_ids=["hub"], eligible_ids=["cam-1"]))
    assert found == ("/sampled", "names device hub, which is not in `eligible`")


def test_problems_name_devices_by_id(client: httpx.Client) -> None:
    for request in (ask(sampled_ids=["cam-3"]), ask(sample_size=5)):
        problem = client.post("/v1/plans", json=request).json()
        assert problem["type"] == "urn:fedsift:problem:infeasible"
        assert {"device": 3, "id": "cam-3", "step": 1, "reason": "may not train"} in problem["devices"]


LONG = {
    **FLEET,
    "devices": [{"id": str(i), "datapoints": 1, "samples_per_second": 1} for i in range(2500)],
    "links": [],
}


@pytest.mark.parametrize(
    ("place", "value", "pointer", "detail"),
    [
        (("devices", 3, "load"), 1.5, "/devices/3/load", "Input should be less than or equal to 1"),
        (("devices", 3, "load"), "0.5", "/devices/3/load", "Input should be a valid number"),
        (("devices", 1, "datapoints"), 1e-300, "/devices/1/datapoints", "must be 0 or at least 1e-12"),
        (("devices", 1, "datapoints"), None, "/devices/1/datapoints", "Input should be a valid number"),
        (("devices", 1, "id"), "hub", "/devices/1/id", "is the id of device 0 too"),
        (("devices", 0, "storage_datapoints"), 599, "/devices/0/storage_datapoints", "must be at least the datapoints"),
        (("devices", 1, "airtime_seconds"), 61, "/devices/1/airtime_seconds", "must be at most 60"),
        (
            ("devices", 1, "label_counts"),
            {"car": -1},
            "/devices/1/label_counts",
            "must be 0 or from 1e-12 to 1e+12; only",
        ),
        (("devices",), [], "/devices", "List should have at least 1 item"),
        (("links", 2, "to"), "hob", "/links/2/to", "is the id of no device"),
        (("links", 2, "from"), "hob", "/links/2/from", "is the id of no device"),
        (("links", 2, "to"), "cam-3", "/links/2/to", "is the device that the link comes from"),
        (("links", 2, "from"), "cam-1", "/links/2", "repeats an earlier link in the same direction"),
        (("links", 2, "mbps"), 0, "/links/2/mbps", "Input should be greater than or equal to 0.001"),
        (("links", 2, "loss"), 1, "/links/2/loss", "Input should be less than or equal to 0.999"),
        (("step_seconds",), 0, "/step_seconds", "Input should be greater than or equal to 0.001"),
        (("label_noise",), {"epsilon": 1.0}, "/label_noise", "needs devices with label_counts"),
    ],
)
def test_a_fault_is_pointed_at_in_the_fleet_as_it_was_sent(
    client: httpx.Client, place: tuple[Any, ...], value: Any, pointer: str, detail: str
) -> None:
    fleet = copy.deepcopy(FLEET)
    part: Any = fleet
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = value
    found = refused(client, ask(fleet=fleet))
    assert found[0] == f"/fleet{pointer}"
    assert found[1].startswith(detail)


def test_a_fault_far_down_is_pointed_at_too(client: httpx.Client) -> None:
    fleet = copy.deepcopy(LONG)
    fleet["devices"][2345]["load"] = 2
    assert refused(client, ask(fleet=fleet)) == ("/fleet/devices/2345/load", "Input should be less than or equal to 1")
    fleet = copy.deepcopy(LONG)
    fleet["devices"][2345]["label_counts"] = {f"class {i}": 1 for i in range(1001)}
    assert refused(client, ask(fleet=fleet)) == ("/fleet/devices", "names 1001 classes, at most 1000 may be")


def test_exactly_one_of_network_and_fleet_is_given(client: httpx.Client) -> None:
    columns = ("data", "processing_capacity", "processing_cost", "receive_capacity", "transmit_budget")
    links: dict[str, list[float]] = {name: [] for name in ("source", "target", "similarity", "transmit_cost")}
    network = {"devices": {name: [1.0] for name in columns}, "topology": {"kind": "links", **links}}
    assert refused(client, ask(network=network)) == (
        "/fleet",
        "`network` is given too: give one of `network`, `fleet` and `network_id`",
    )
    neither = {"sample_size": 1, "horizon": 1}
    for path in ("/v1/plans", "/v1/runs"):
        assert refused(client, neither, path) == (
            "/network",
            "is missing: give one of `network`, `fleet` and `network_id`",
        )
    for devices, pointer, detail in (
        ({"id": ["a", "b"]}, "/network/devices/id", "must have 1 entries, has 2"),
        ({"id": [""]}, "/network/devices/id/0", "String should have at least 1 character"),
    ):
        given = {**network, "devices": network["devices"] | devices}  # type: ignore[operator]
        assert refused(client, {**neither, "network": given}) == (pointer, detail)
    assert refused(client, {**neither, "network": network, "sampled_ids": ["a"]}) == (
        "/sampled_ids",
        "needs devices with ids: a fleet, or `devices.id`",
    )


def test_similarity_that_is_left_out_is_derived_from_label_counts(client: httpx.Client) -> None:
    rng = np.random.default_rng(0)
    n, rates = 12, np.array([0.01, 0.2])
    counts = rng.integers(1, 60, (n, 2))
    devices = [
        {"id": str(i), "datapoints": int(a + b), "samples_per_second": 50, "label_counts": {"car": int(a), "9": int(b)}}
        for i, (a, b) in enumerate(counts)
    ]
    pairs = [(k, i) for k in range(n) for i in range(n) if i != k]
    true = [float(counts[k] / counts[k].sum() @ (1 - (1 - rates) ** counts[i])) for k, i in pairs]
    links: list[dict[str, Any]] = [{"from": str(k), "to": str(i), "mbps": 1.0} for k, i in pairs]
    fleet = {"step_seconds": 60, "datapoint_bytes": 100, "devices": devices, "links": links}
    unknown = answered(client, ask(fleet=fleet, dry_run=True))["fleet"]["similarity"]
    assert unknown == {
        "measured": 0,
        "derived": len(pairs),
        "assumed": 0,
        "match_rates": {"9": 0.01, "car": 0.01},
        "fitted_on": 0,
    }
    for link, value in list(zip(links, true, strict=True))[::2]:
        link["similarity"] = value
    found = answered(client, ask(fleet=fleet, dry_run=True))
    told = found["fleet"]["similarity"]
    assert (told["measured"], told["derived"], told["fitted_on"]) == (66, 66, 66)
    assert told["match_rates"] == pytest.approx({"car": 0.01, "9": 0.2}, rel=0.2)
    made = found["network"]["links"]
    derived = dict(zip(zip(made["source"], made["target"], strict=True), made["similarity"], strict=True))
    np.testing.assert_allclose([derived[pair] for pair in pairs], true, atol=0.02)
    bare = [{name: row[name] for name in ("id", "datapoints", "samples_per_second")} for row in devices]
    plain = answered(client, ask(fleet={**fleet, "devices": bare}, dry_run=True))["fleet"]["similarity"]
    mean = pytest.approx(float(np.mean(true[::2])))
    assert plain == {"measured": 66, "derived": 0, "assumed": 66, "assumed_value": mean}
    noisy = answered(client, ask(fleet={**fleet, "label_noise": {"epsilon": 1.0}}, dry_run=True))
    assert noisy["fleet"]["similarity"]["derived"] == 66


def test_all_faults_of_a_fleet_are_told_at_once(client: httpx.Client) -> None:
    fleet = copy.deepcopy(FLEET)
    fleet["devices"][0]["load"] = 2
    fleet["devices"][3]["datapoints"] = -1
    fleet["devices"][3]["speed"] = 1
    told = client.post("/v1/plans", json=ask(fleet=fleet)).json()["errors"]
    places = ["/fleet/devices/0/load", "/fleet/devices/3/datapoints", "/fleet/devices/3/speed"]
    assert [error["pointer"] for error in told] == places
    fleet = copy.deepcopy(FLEET)
    for link in fleet["links"]:
        link["to"] = "nowhere"
    problem = client.post("/v1/plans", json=ask(fleet=fleet)).json()
    assert [error["pointer"] for error in problem["errors"]] == [f"/fleet/links/{i}/to" for i in range(5)]
    assert problem["detail"] == "5 rules are broken"


@pytest.mark.parametrize("loss", [0, 0.5])
def test_a_fleet_that_tells_joules_gets_the_energy_of_its_plan(client: httpx.Client, loss: float) -> None:
    assert "energy" not in answered(client, ask())
    fleet = copy.deepcopy(FLEET)
    fleet["epochs_per_step"] = 2
    fleet["devices"][0]["joules_per_sample"] = 0.02
    fleet["links"][0] |= {"joules_per_megabyte": 0.5, "loss": loss}
    plan = answered(client, ask(fleet=fleet, sampled_ids=["hub"]))
    sent = sum(
        datapoints
        for step in plan["steps"]
        for source, datapoints in zip(step["transfers"]["source"], step["transfers"]["datapoints"], strict=True)
        if source == 1
    )
    # cam-1 sends 3,000 bytes a datapoint, twice where half is lost, and the hub goes through its data twice.
    assert sent > 0
    assert plan["energy"]["transmit"] == pytest.approx(sent * 0.003 / (1 - loss) * 0.5)
    held = sum(step["sampled_data"][0] for step in plan["steps"])
    assert plan["energy"]["processing"] == pytest.approx(held * 2 * 0.02)
    assert plan["energy_term"] == 0
    priced = answered(client, ask(fleet=fleet, sampled_ids=["hub"], weights={"energy": 1e-3}))
    joules = priced["energy"]["transmit"] + priced["energy"]["processing"]
    assert joules < plan["energy"]["transmit"] + plan["energy"]["processing"]
    assert priced["energy_term"] == pytest.approx(1e-3 * joules / len(priced["steps"]))
    assert priced["horizon_bound"] <= priced["objective"]
    refused = client.post("/v1/plans", json=ask(weights={"energy": 1e-3}))
    assert refused.json()["errors"][0]["pointer"] == "/weights/energy"
    assert "joules_per_sample" in refused.json()["errors"][0]["detail"]
