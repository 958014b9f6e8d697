"""Stored networks over HTTP: stored, planned for by id, patched, shown, forgotten."""

import io
import json
import threading
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from app.networks.archived import NPZ
from tests.support.fleets import FLEET
from tests.support.requests import random_request
from tests.support.server import running_server

ASKED = random_request(3, 12, horizon=6, aggregation_period=3)
NETWORK = ASKED["network"]
PARAMETERS = {name: value for name, value in ASKED.items() if name != "network"}
FLEET_PARAMETERS = {"sample_size": 1, "horizon": 3}
ONE_OF = "give one of `network`, `fleet` and `network_id`"
NOBODYS = f"net_{'0' * 32}"


def store(client: httpx.Client, **body: Any) -> str:
    answer = client.post("/v1/networks", json=body or {"network": NETWORK})
    assert answer.status_code == 201, answer.text
    assert answer.headers["location"] == f"/v1/networks/{answer.json()['id']}"
    name: str = answer.json()["id"]
    return name


def patch(client: httpx.Client, network: str, body: dict[str, Any], key: str = "") -> httpx.Response:
    headers = {"Idempotency-Key": key} if key else {}
    return client.patch(f"/v1/networks/{network}", json=body, headers=headers)


def refusal(answer: httpx.Response, status: int = 422) -> tuple[str, str]:
    assert answer.status_code == status, answer.text
    (error,) = answer.json()["errors"]
    return error["pointer"], error["detail"]


def same_plan(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert one["sampled"] == other["sampled"]
    assert one["objective"] == pytest.approx(other["objective"], rel=1e-9)


def test_a_stored_network_is_planned_for_as_if_it_were_sent(client: httpx.Client) -> None:
    name = store(client)
    plan = client.post("/v1/plans", json={"network_id": name, **PARAMETERS}).json()
    same_plan(plan, client.post("/v1/plans", json=ASKED).json())
    assert (plan["network_id"], plan["network_version"]) == (name, 1)
    diagnosis = client.post("/v1/plans", json={"network_id": name, "dry_run": True, **PARAMETERS}).json()
    assert (diagnosis["network_id"], diagnosis["network_version"], diagnosis["n_devices"]) == (name, 1, 12)


def test_a_stored_fleet_is_planned_for_as_if_it_were_sent(client: httpx.Client) -> None:
    name = store(client, fleet=FLEET)
    plan = client.post("/v1/plans", json={"network_id": name, **FLEET_PARAMETERS}).json()
    sent = client.post("/v1/plans", json={"fleet": FLEET, **FLEET_PARAMETERS}).json()
    same_plan(plan, sent)
    assert plan["device_ids"] == sent["device_ids"]
    assert plan["fleet"] == sent["fleet"]
    shown = client.get(f"/v1/networks/{name}").json()
    assert (shown["kind"], shown["n_links"]) == ("fleet", 5)
    assert shown["fleet"]["links"][0] == FLEET["links"][0]
    again = client.post("/v1/plans", json={"fleet": shown["fleet"], **FLEET_PARAMETERS})
    same_plan(again.json(), sent)


def test_an_archive_is_stored_with_ids(client: httpx.Client) -> None:
    columns = {**NETWORK["devices"], **{k: v for k, v in NETWORK["topology"].items() if k != "kind"}}
    ids = [f"cam-{i}" for i in range(12)]

    def archive(**parameters: Any) -> bytes:
        stream = io.BytesIO()
        arrays: dict[str, Any] = {k: np.array(v) for k, v in columns.items()}
        if parameters:
            arrays["parameters"] = np.frombuffer(json.dumps(parameters).encode(), np.uint8)
        np.savez(stream, **arrays)
        return stream.getvalue()

    def send(body: bytes) -> httpx.Response:
        headers = {"Content-Type": NPZ, "Idempotency-Key": "archive"}
        return client.post("/v1/networks/binary", content=body, headers=headers)

    body = archive(name="from an archive", ids=ids)
    made = send(body)
    assert made.status_code == 201
    assert made.json()["name"] == "from an archive"
    assert send(body).headers["idempotent-replay"] == "true"
    plan = client.post("/v1/plans", json={"network_id": made.json()["id"], **PARAMETERS}).json()
    same_plan(plan, client.post("/v1/plans", json=ASKED).json())
    assert plan["device_ids"] == ids
    wrong = client.post("/v1/networks/binary", content=archive(ids=["a"]), headers={"Content-Type": NPZ})
    assert refusal(wrong) == ("/ids", "must have 12 entries, has 1")
    assert client.post("/v1/networks/binary", content=archive(), headers={"Content-Type": NPZ}).status_code == 201


def test_a_patch_makes_the_next_version_and_leaves_the_one_before(client: httpx.Client) -> None:
    name = store(client)
    links = NETWORK["topology"]
    change = {"source": links["source"][0], "target": links["target"][0], "similarity": 0.0, "transmit_cost": 0.01}
    answer = patch(client, name, {"links": [change], "devices": [{"index": 0, "data": 900}]})
    assert answer.status_code == 200
    assert (answer.json()["version"], answer.json()["n_links"]) == (2, len(links["source"]))
    whole = client.get(f"/v1/networks/{name}").json()
    assert whole["version"] == 2
    assert whole["network"]["devices"]["data"][0] == 900
    newest, first = (
        client.post("/v1/plans", json={"network_id": name, **PARAMETERS, **version}).json()
        for version in ({}, {"network_version": 1})
    )
    assert (newest["network_version"], first["network_version"]) == (2, 1)
    same_plan(newest, client.post("/v1/plans", json={"network": whole["network"], **PARAMETERS}).json())
    same_plan(first, client.post("/v1/plans", json=ASKED).json())
    before = client.get(f"/v1/networks/{name}", params={"version": 1}).json()
    assert before["network"]["devices"]["data"] == NETWORK["devices"]["data"]
    summary = client.get(f"/v1/networks/{name}", params={"summary": True}).json()
    assert "network" not in summary
    assert summary == answer.json()


def test_a_patch_that_is_sent_again_makes_one_version(client: httpx.Client) -> None:
    name = store(client)
    body = {"devices": [{"index": 0, "data": 900}]}
    first, again = (patch(client, name, body, "once") for _ in range(2))
    assert first.content == again.content
    assert again.headers["idempotent-replay"] == "true"
    assert patch(client, name, {"devices": [{"index": 0, "data": 901}]}, "once").status_code == 409
    assert patch(client, name, body).json()["version"] == 3
    assert patch(client, name, body, "once").json()["version"] == 2


def test_a_writer_is_told_that_another_was_first(client: httpx.Client) -> None:
    name = store(client)
    body = {"expected_version": 1, "devices": [{"index": 0, "data": 900}]}
    assert patch(client, name, body).status_code == 200
    late = patch(client, name, body)
    assert late.status_code == 409
    assert late.json()["detail"] == "version 1 was expected; the newest is 2"


def test_writers_at_once_all_count(client: httpx.Client) -> None:
    name = store(client)
    answers: list[httpx.Response] = []

    def write(device: int) -> None:
        answers.append(patch(client, name, {"devices": [{"index": device, "data": 1000 + device}]}, f"d{device}"))

    threads = [threading.Thread(target=write, args=(device,)) for device in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answer.json()["version"] for answer in answers) == [2, 3, 4, 5, 6, 7]
    data = client.get(f"/v1/networks/{name}").json()["network"]["devices"]["data"]
    assert data[:6] == [1000, 1001, 1002, 1003, 1004, 1005]


def test_another_process_reads_what_was_patched(tmp_path: Path, database_url: str) -> None:
    settings = {"database_url": database_url, "workers": "0"}
    with running_server(tmp_path, **settings) as one, one.client() as client:
        name = store(client)
        for version in range(2, 20):
            assert patch(client, name, {"devices": [{"index": 0, "data": version}]}).json()["version"] == version
    with running_server(tmp_path, **settings) as two, two.client() as client:
        for version in (19, 5, 17):
            shown = client.get(f"/v1/networks/{name}", params={"version": version}).json()
            assert shown["network"]["devices"]["data"][0] == version
        plan = client.post("/v1/plans", json={"network_id": name, **PARAMETERS})
        assert plan.json()["network_version"] == 19


def test_a_run_and_a_plan_go_on_when_their_network_is_deleted(client: httpx.Client) -> None:
    name = store(client)
    by_id = {"network_id": name, **PARAMETERS}
    run = client.post("/v1/runs", json=by_id)
    other = client.post("/v1/runs", json=ASKED)
    kept = client.post("/v1/plans", json={**by_id, "keep": True}).json()["id"]
    assert patch(client, name, {"devices": [{"index": 0, "data": 900}]}).status_code == 200
    assert client.delete(f"/v1/networks/{name}").status_code == 204
    assert client.get(f"/v1/networks/{name}").status_code == 404
    assert refusal(client.post("/v1/plans", json=by_id)) == ("/network_id", "you have no network of this id")
    periods = [
        client.post(f"{one.headers['location']}/aggregations", json={"aggregation": 1, "gradient_norm": 0.5}).json()
        for one in (run, other)
    ]
    same_plan(*periods)
    assert client.get(run.headers["location"]).json()["network_version"] == 1
    for source in ({"kind": "run", "id": run.json()["id"]}, {"kind": "plan", "id": kept}):
        answer = client.post("/v1/validations", json={"source": source, "schemes": ["plan"]})
        assert answer.status_code == 202, answer.text
        client.post(f"{answer.headers['location']}/cancel")


def test_a_validation_trains_on_a_stored_network(client: httpx.Client) -> None:
    name = store(client)
    body = {"source": {"kind": "stored", "network_id": name}, "schemes": ["random"], "sample_size": 2}
    answer = client.post("/v1/validations", json=body)
    assert answer.status_code == 202, answer.text
    assert answer.json()["source"] == {"kind": "stored", "network_id": name, "network_version": 1}
    client.post(f"{answer.headers['location']}/cancel")
    patches = [{"step": 2, "patch": {"devices": [{"index": 1, "transmit_budget": 0}]}}]
    body["source"] = {"kind": "stored", "network_id": name, "network_version": 1, "schedule": patches}
    answer = client.post("/v1/validations", json=body)
    assert answer.status_code == 202, answer.text
    client.post(f"{answer.headers['location']}/cancel")
    body["source"] = {"kind": "stored", "network_id": NOBODYS}
    assert refusal(client.post("/v1/validations", json=body))[0] == "/source/network_id"


@pytest.mark.parametrize(
    ("changes", "pointer", "detail"),
    [
        ({"network_id": NOBODYS}, "/network_id", "you have no network of this id"),
        ({"network_version": 9}, "/network_version", "is no version of the network; the newest is 1"),
        (
            {"network": NETWORK},
            "/network_id",
            f"`network` is given too: {ONE_OF}",
        ),
        ({"network_id": "net_1"}, "/network_id", "String should match pattern '^net_[0-9a-f]{32}$'"),
    ],
)
def test_a_reference_to_nothing_is_refused(
    client: httpx.Client, changes: dict[str, Any], pointer: str, detail: str
) -> None:
    body = {"network_id": store(client), **PARAMETERS, **changes}
    for route in ("plans", "runs"):
        assert refusal(client.post(f"/v1/{route}", json=body)) == (pointer, detail)


def test_a_version_needs_an_id(client: httpx.Client) -> None:
    assert refusal(client.post("/v1/plans", json={**ASKED, "network_version": 1}))[0] == "/network_version"
    missing = refusal(client.post("/v1/plans", json=PARAMETERS))
    assert missing == ("/network", f"is missing: {ONE_OF}")


def test_what_does_not_exist_is_not_found(client: httpx.Client) -> None:
    for place in (NOBODYS, "net_1"):
        for method in ("GET", "DELETE"):
            assert client.request(method, f"/v1/networks/{place}").status_code == 404
        assert patch(client, place, {}).status_code == 404
    name = store(client)
    assert client.get(f"/v1/networks/{name}", params={"version": 2}).status_code == 404
    assert refusal(patch(client, name, {"devices": [{"index": 99}]}))[0] == "/devices/0/index"
    assert refusal(patch(client, name, {"devises": []}))[1] == "does not exist here; did you mean `devices`?"
    assert refusal(client.post("/v1/networks", json={"network": NETWORK, "fleet": FLEET}))[0] == "/fleet"


def test_a_schedule_changes_single_devices_and_links(client: httpx.Client) -> None:
    links = NETWORK["topology"]
    first = {"source": links["source"][0], "target": links["target"][0]}
    sparse = {
        "step": 3,
        "patch": {
            "devices": [{"index": 1, "transmit_budget": 0}, {"index": 2, "receive_capacity": 5}],
            "links": [{"source": links["source"][1], "target": links["target"][1], "transmit_cost": 3}],
            "remove_links": [first],
        },
    }
    budgets, capacities = (list(NETWORK["devices"][name]) for name in ("transmit_budget", "receive_capacity"))
    budgets[1], capacities[2] = 0, 5
    columns = {name: links[name][1:] for name in ("source", "target", "similarity", "transmit_cost")}
    columns["transmit_cost"] = [3, *columns["transmit_cost"][1:]]
    whole = {
        "step": 3,
        "devices": {"transmit_budget": budgets, "receive_capacity": capacities},
        "topology": {"kind": "links", **columns},
    }
    one, other = (client.post("/v1/plans", json={**ASKED, "schedule": [change]}).json() for change in (sparse, whole))
    same_plan(one, other)
    runs = [client.post("/v1/runs", json=ASKED).headers["location"] for _ in range(2)]
    later = [{**change, "step": 5} for change in (sparse, whole)]
    periods = [
        client.post(f"{run}/aggregations", json={"aggregation": 1, "gradient_norm": 0.5, "schedule": [change]}).json()
        for run, change in zip(runs, later, strict=True)
    ]
    same_plan(*periods)


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"add_devices": [{}]}, "/schedule/0/patch/add_devices"),
        ({"remove_devices": [{"index": 0}]}, "/schedule/0/patch/remove_devices"),
        ({"devices": [{"index": 0, "data": 3}]}, "/schedule/0/patch/devices/0/data"),
        ({"devices": [{"index": 99}]}, "/schedule/0/patch/devices/0/index"),
        ({"links": [{"source": 0, "target": 1, "mbps": 3}]}, "/schedule/0/patch/links/0/mbps"),
        ({"remove_links": [{"source": 0, "target": 1}] * 2}, "/schedule/0/patch/remove_links/1"),
    ],
)
def test_a_patch_of_a_schedule_is_refused_where_it_is_wrong(
    client: httpx.Client, change: dict[str, Any], pointer: str
) -> None:
    body = {**ASKED, "schedule": [{"step": 2, "patch": change}]}
    assert refusal(client.post("/v1/plans", json=body))[0] == pointer


def test_a_link_that_a_schedule_removes_twice_is_refused(client: httpx.Client) -> None:
    links = NETWORK["topology"]
    gone = {"remove_links": [{"source": links["source"][0], "target": links["target"][0]}]}
    body = {**ASKED, "schedule": [{"step": 4, "patch": gone}, {"step": 2, "patch": gone}]}
    found = refusal(client.post("/v1/plans", json=body))
    assert found == ("/schedule/0/patch/remove_links/0", "is no link of this network")
