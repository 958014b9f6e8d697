"""Room to keep things, over HTTP: quotas on both databases, and a disk that is almost full."""

import re
from pathlib import Path
from typing import Any

import httpx

from tests.support.requests import random_request
from tests.support.server import running_server

LIMIT = 80_000
QUOTA = re.compile(r"you keep (\d+) bytes, and (\d+) more would pass the limit of 80000 \(FEDSIFT_KEY_BYTES\)")
VALIDATION = {"source": {"kind": "generator", "devices": 12}, "schemes": ["random"], "draws": 1, "aggregations": 5}


def loaded(readiness: httpx.Response) -> bool:
    """Whether plans can be made, although the disk is low."""
    return bool(readiness.json()["solver"] == "ok")


def refused(answer: httpx.Response) -> int:
    """How many bytes are kept, by the problem document of a quota."""
    assert answer.status_code == 507, answer.text
    assert answer.json()["type"] == "urn:fedsift:problem:quota-exceeded"
    told = QUOTA.search(answer.json()["detail"])
    assert told is not None
    assert int(told[1]) <= LIMIT < int(told[1]) + int(told[2])
    return int(told[1])


def until_refused(client: httpx.Client, path: str, body: dict[str, Any]) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    while (answer := client.post(path, json=body)).status_code in {200, 201, 202}:
        made.append(answer.json())
        assert len(made) < 100
    assert refused(answer) > LIMIT / 2
    return made


def test_a_quota_limits_plans_runs_and_validations_together(tmp_path: Path, database_url: str) -> None:
    request = random_request(1, 30, aggregation_period=1)
    with (
        running_server(tmp_path, database_url=database_url, key_bytes=str(LIMIT), workers="0") as server,
        server.client() as c,
    ):
        run = c.post("/v1/runs", json=request).headers["location"]
        plans = until_refused(c, "/v1/plans", {**request, "keep": True})
        assert len(plans) > 1
        assert c.post("/v1/plans", json=request).status_code == 200
        # Validations are small: some may fit where no plan does.
        until_refused(c, "/v1/validations", VALIDATION)
        for k in range(1, 6):
            told = {"aggregation": k, "gradient_norm": 0.5}
            answer = c.post(f"{run}/aggregations", json=told)
            if answer.status_code != 200:
                break
        refused(answer)
        assert c.get(run).json()["aggregation"] == k - 1
        for plan in plans:
            assert c.delete(f"/v1/plans/{plan['id']}").status_code == 204
        # Nothing of the run was lost, and it goes on.
        assert c.post(f"{run}/aggregations", json=told).status_code == 200
        validation = c.post("/v1/validations", json=VALIDATION)
        assert validation.status_code == 202
        place = validation.headers["location"]
        assert c.post(f"{place}/cancel").json()["state"] == "cancelled"
        assert c.delete(place).status_code == 204
        assert c.get(place).status_code == 404
        assert c.delete(place).status_code == 404


def test_with_little_space_left_nothing_new_is_kept(tmp_path: Path) -> None:
    request = random_request(1, 10, aggregation_period=1)
    with running_server(tmp_path) as server, server.client() as c:
        assert c.get("/readyz").json()["disk"] == "ok"
        plan = c.post("/v1/plans", json={**request, "keep": True}).json()["id"]
        run = c.post("/v1/runs", json=request).headers["location"]
    with running_server(tmp_path, loaded, disk_reserve=str(2**60)) as server, server.client() as c:
        found = c.get("/readyz")
        assert (found.status_code, found.json()["ready"], found.json()["disk"]) == (503, False, "low")
        for path, body in (("plans", {**request, "keep": True}), ("runs", request), ("validations", VALIDATION)):
            answer = c.post(f"/v1/{path}", json=body)
            assert answer.status_code == 507
            assert answer.json()["type"] == "urn:fedsift:problem:disk-low"
            assert f"fewer than {2**60} bytes are free" in answer.json()["detail"]
            assert "FEDSIFT_DISK_RESERVE" in answer.json()["detail"]
        assert c.post("/v1/plans", json=request).status_code == 200
        # What was accepted goes on.
        assert c.post(f"{run}/aggregations", json={"aggregation": 1, "gradient_norm": 0.5}).status_code == 200
        assert c.delete(f"/v1/plans/{plan}").status_code == 204
        assert c.delete(run).status_code == 204


def test_what_is_too_old_is_deleted_without_any_worker(tmp_path: Path, database_url: str) -> None:
    request = random_request(1, 10)
    with running_server(tmp_path, database_url=database_url, workers="0") as server, server.client() as c:
        plan = c.post("/v1/plans", json={**request, "keep": True}).json()["id"]
        run = c.post("/v1/runs", json=request).headers["location"]
        assert c.get(run).status_code == 200
    old = {"plan_days": "1e-9", "run_days": "1e-9"}
    with running_server(tmp_path, database_url=database_url, **old) as server, server.client() as c:
        for place in (f"/v1/plans/{plan}", run):
            for _ in range(600):
                if c.get(place).status_code == 404:
                    break
            else:
                raise AssertionError(f"{place} is still there")
