"""What is wrong with a request is told at its place: every fault of a network, limits by name, parameters and paths."""

from typing import Any

import httpx
import pytest

from tests.support.requests import dense, random_request


def errors(client: httpx.Client, request: dict[str, Any]) -> list[tuple[str, str]]:
    answer = client.post("/v1/plans", json=request)
    assert answer.status_code == 422, answer.text
    return [(one["pointer"], one["detail"]) for one in answer.json()["errors"]]


def test_every_fault_of_a_network_is_told(client: httpx.Client) -> None:
    request = random_request(1, 12)
    devices, topology = request["network"]["devices"], request["network"]["topology"]
    devices["processing_cost"][3] = 1e-20
    devices["receive_capacity"].pop()
    topology["similarity"][5] = 1.5
    topology["target"][2] = 12
    topology["source"][4] = 99
    told = errors(client, request)
    assert [place for place, _ in told] == [
        "/network/devices/processing_cost/3",
        "/network/devices/receive_capacity",
        "/network/topology/source/4",
        "/network/topology/target/2",
        "/network/topology/similarity/5",
    ]
    assert told[1][1] == "must have 12 entries, has 11"
    assert told[4][1] == "must be 0 or from 1e-12 to 1"


def test_links_of_devices_with_themselves_are_all_told(client: httpx.Client) -> None:
    request = random_request(1, 12)
    topology = request["network"]["topology"]
    for link in (1, 7):
        topology["target"][link] = topology["source"][link]
    told = errors(client, request)
    assert told == [(f"/network/topology/source/{link}", "links a device with itself") for link in (1, 7)]


def test_of_many_faults_twenty_are_listed_and_all_are_counted(client: httpx.Client) -> None:
    request = random_request(1, 60)
    request["network"]["devices"]["data"] = [2e12] * 60
    answer = client.post("/v1/plans", json=request).json()
    assert answer["detail"] == "60 rules are broken"
    assert [one["pointer"] for one in answer["errors"]] == [f"/network/devices/data/{i}" for i in range(20)]


def test_similarity_ends_at_one_in_the_schema_too(client: httpx.Client) -> None:
    schemas = client.get("/openapi.json").json()["components"]["schemas"]
    cell = schemas["LinkTopology"]["properties"]["similarity"]["items"]
    assert (cell["minimum"], cell["maximum"]) == (0, 1)
    assert schemas["MatrixTopology"]["properties"]["similarity"]["items"]["items"]["maximum"] == 1
    request = dense(random_request(1, 5, sample_size=1))
    request["network"]["topology"]["similarity"][1][2] = 1.5
    assert errors(client, request)[0][0] == "/network/topology/similarity/1/2"


def test_a_longer_time_limit_than_the_services_is_refused(client: httpx.Client) -> None:
    told = errors(client, random_request(1, 12, time_limit=1000))
    assert told == [("/time_limit", "must be at most 60 (FEDSIFT_MAX_TIME_LIMIT)")]
    assert client.post("/v1/runs", json=random_request(1, 12, time_limit=61)).status_code == 422
    assert client.post("/v1/plans", json=random_request(1, 12, time_limit=60)).status_code == 200


def test_two_changes_for_one_step_are_refused_at_the_later(client: httpx.Client) -> None:
    change = {"devices": {"transmit_budget": [1.0] * 12}}
    schedule = [{"step": 2, **change}, {"step": 4, **change}, {"step": 2, **change}]
    told = errors(client, random_request(1, 12, schedule=schedule))
    assert told == [("/schedule/2/step", "is the step of change 0 too")]


def test_an_unknown_field_is_named(client: httpx.Client) -> None:
    told = errors(client, random_request(1, 12, samplesize=4))
    assert told == [("/samplesize", "does not exist here; did you mean `sample_size`?")]


@pytest.mark.parametrize(
    ("path", "method"),
    [
        ("/v1/plans/plan_1", "GET"),
        ("/v1/plans/PLAN_00000000000000000000000000000000", "DELETE"),
        ("/v1/runs/1", "GET"),
        ("/v1/runs/run_1/aggregations", "POST"),
        ("/v1/runs/run_00000000000000000000000000000000/aggregations/no", "GET"),
        ("/v1/runs/run_00000000000000000000000000000000/aggregations/99999999999", "GET"),
        ("/v1/validations/val_", "GET"),
        ("/v1/validations/val_1", "DELETE"),
        ("/v1/validations/val_1/events", "GET"),
    ],
)
def test_what_no_id_can_be_is_not_found(client: httpx.Client, path: str, method: str) -> None:
    answer = client.request(method, path, json={} if method == "POST" else None)
    assert answer.status_code == 404
    assert answer.json()["type"] == "urn:fedsift:problem:not-found"


@pytest.mark.parametrize(
    ("path", "name", "detail"),
    [
        ("/v1/runs?limits=5", "limits", "does not exist here; did you mean `limit`?"),
        ("/v1/validations?status=running", "status", "does not exist here"),
        ("/v1/samplers?verbose=1", "verbose", "does not exist here"),
        ("/v1/runs?limit=0", "limit", "Input should be greater than or equal to 1"),
    ],
)
def test_a_wrong_parameter_is_named(client: httpx.Client, path: str, name: str, detail: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 422
    assert answer.json()["errors"] == [{"parameter": name, "detail": detail}]


def test_a_wrong_header_is_named(client: httpx.Client) -> None:
    place = "/v1/validations/val_00000000000000000000000000000000/events"
    answer = client.get(place, headers={"Last-Event-ID": "x"})
    assert answer.status_code == 422
    (told,) = answer.json()["errors"]
    assert told["header"] == "Last-Event-ID"


def test_a_dry_run_counts_all_who_can_be_sampled(client: httpx.Client) -> None:
    request = random_request(1, 12)
    devices = request["network"]["devices"]
    devices["processing_capacity"][5] = 0.0
    free = client.post("/v1/plans", json={**request, "dry_run": True}).json()
    assert (free["eligible"], free["feasible"]) == (11, True)
    fixed = client.post("/v1/plans", json={**request, "sampled": [0, 1, 2], "dry_run": True}).json()
    assert (fixed["eligible"], fixed["feasible"]) == (11, True)
    unable = client.post("/v1/plans", json={**request, "sampled": [0, 1, 5], "dry_run": True}).json()
    assert (unable["eligible"], unable["feasible"]) == (11, False)
    asked = {**request, "sampled": [0, 1, 2], "eligible": [0, 1, 3], "dry_run": True}
    assert errors(client, asked) == [("/sampled", "names device 2, which is not in `eligible`")]
