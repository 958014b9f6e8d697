"""Health, metrics, documents, headers, logs, overload and shutdown."""

import concurrent.futures
import json
import re
import socket
from pathlib import Path

import httpx
import pytest

from app.addresses import is_loopback
from app.settings import Settings, settings_table
from tests.support.command import make_key
from tests.support.requests import random_request
from tests.support.server import Server, running_server
from tests.support.sockets import endless_plan, refusals, several
from tests.support.waiting import PATIENCE, until

DOCS = Path(__file__).parents[3] / "docs"


def test_health_and_readiness(client: httpx.Client) -> None:
    assert client.get("/healthz").json()["status"] == "ok"
    assert client.get("/readyz").json() == {
        "ready": True,
        "store": "ok",
        "disk": "ok",
        "solver": "ok",
        "kernels": "ok",
        "kernels_missing": 0,
        "draining": False,
        "queue": 0,
        "validations": "no_workers",
        "workers": 0,
    }


def test_limits_of_callers_do_not_keep_it_from_getting_ready(tmp_path: Path) -> None:
    with running_server(tmp_path, max_horizon="3", max_time_limit="1") as server, server.client() as client:
        refused = client.post("/v1/plans", json=random_request(1, 6))
    assert refused.status_code == 422
    assert refused.json()["errors"] == [{"pointer": "/horizon", "detail": "must be at most 3"}]


def test_a_store_that_is_away_makes_it_unready_but_plans_go_on(tmp_path: Path) -> None:
    with running_server(tmp_path) as server, server.client() as client:
        away = tmp_path / "away"
        away.mkdir()
        for file in tmp_path.glob("fedsift.db*"):
            file.rename(away / file.name)
        (tmp_path / "fedsift.db").mkdir()
        unready = client.get("/readyz")
        assert unready.status_code == 503
        assert unready.json()["store"] != "ok"
        for answer in (client.post("/v1/runs", json=random_request(1, 10)), client.get("/v1/runs")):
            assert answer.status_code == 503
            assert answer.json()["type"] == "urn:fedsift:problem:store-unavailable"
            assert answer.headers["retry-after"]
        assert client.post("/v1/plans", json=random_request(1, 10)).status_code == 200
        (tmp_path / "fedsift.db").rmdir()
        for file in away.iterdir():
            file.rename(tmp_path / file.name)
        assert client.get("/readyz").status_code == 200
        assert client.post("/v1/runs", json=random_request(1, 10)).status_code == 201


def test_metrics_count_by_route_and_never_by_id(client: httpx.Client) -> None:
    client.post("/v1/plans", json=random_request(1, 10))
    client.get("/v1/runs/run_" + "0" * 32)
    text = client.get("/metrics").text
    assert re.search(r'fedsift_requests_total\{method="POST",route="/v1/plans",status="200"\} \d', text)
    for stage in ("queue", "parse", "sample", "solve", "bound", "encode"):
        assert f'fedsift_stage_seconds_count{{stage="{stage}"}}' in text
    assert "fedsift_relative_gap_count" in text
    assert "fedsift_queue_depth 0.0" in text
    assert "run_0000" not in text


def test_metrics_need_a_key_where_the_api_does(tmp_path: Path) -> None:
    key = make_key(tmp_path, "prometheus")["key"]
    with running_server(tmp_path, host="0.0.0.0") as server, server.client() as client:
        assert client.get("/metrics").status_code == 401
        assert client.get("/metrics", headers={"authorization": f"Bearer {key}x"}).status_code == 401
        assert client.get("/metrics", headers={"authorization": f"Basic {key}"}).status_code == 401
        for headers in ({"authorization": f"Bearer {key}"}, {"x-api-key": key}):
            assert "fedsift_requests_total" in client.get("/metrics", headers=headers).text
        # Only the metrics take a bearer token.
        assert client.get("/v1/runs", headers={"authorization": f"Bearer {key}"}).status_code == 401


def test_who_may_read_metrics() -> None:
    assert Settings().metrics_access == "open"
    assert Settings(host="0.0.0.0").metrics_access == "key"
    assert Settings(host="0.0.0.0", auth="off").metrics_access == "open"
    assert Settings(host="0.0.0.0", metrics="open").metrics_access == "open"
    assert Settings(metrics="key").metrics_access == "key"
    assert Settings(metrics="off").metrics_access == "off"


def test_every_answer_has_the_security_headers(client: httpx.Client) -> None:
    for path in ("/healthz", "/docs", "/nothing", "/v1/runs", "/openapi.json"):
        headers = client.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "access-control-allow-origin" not in headers
        assert "server" not in headers
    assert "access-control-allow-origin" not in client.get("/healthz", headers={"origin": "http://other"}).headers


def test_the_documentation_needs_no_internet(client: httpx.Client) -> None:
    page = client.get("/docs")
    places = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert len(places) == 3
    for place in places:
        assert place.startswith("/docs/")
        assert client.get(place).status_code == 200
    assert client.get("/docs/main.py").status_code == 404


def test_the_document_names_every_operation(client: httpx.Client) -> None:
    document = client.get("/openapi.json").json()
    operations = [operation for path in document["paths"].values() for operation in path.values()]
    assert len({operation["operationId"] for operation in operations}) == len(operations)
    assert all(operation["tags"] and operation["summary"] for operation in operations)
    assert document["components"]["schemas"]["PlanRequest"]["examples"]
    references = set(re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(document)))
    assert references <= set(document["components"]["schemas"])


def test_logs_are_json_with_the_request_id(server: Server, client: httpx.Client) -> None:
    client.get("/healthz", headers={"x-request-id": "mine-42"})
    assert client.get("/healthz", headers={"x-request-id": "no good"}).headers["x-request-id"] != "no good"
    lines = [json.loads(line) for line in server.log.read_text().splitlines()]
    mine = [line for line in lines if line.get("request_id") == "mine-42"]
    assert [(line["route"], line["status"]) for line in mine] == [("/healthz", 200)]


def test_samplers_are_listed(client: httpx.Client) -> None:
    answer = client.get("/v1/samplers").json()
    names = [one["name"] for one in answer["samplers"]]
    assert answer["default"] in names
    assert {"greedy", "heuristic", "random"} <= set(names)
    assert all(one["description"] for one in answer["samplers"])
    weights = {one["name"]: one.get("weights") for one in answer["samplers"]}
    assert weights["gcn_branch"]["s3.label"] == "surrogate"
    assert weights["gcn_rank"]["held_out"] > 0
    assert weights["greedy"] is None


@pytest.mark.parametrize("name", ["gcn_branch", "gcn_rank"])
def test_trained_samplers_answer_plans(client: httpx.Client, name: str) -> None:
    answer = client.post("/v1/plans", json=random_request(2, 30, horizon=2, sample_size=4, sampler=name))
    assert answer.status_code == 200
    assert len(set(answer.json()["sampled"])) == len(answer.json()["scores"]) == 4


def test_a_full_queue_turns_callers_away_and_recovers(tmp_path: Path) -> None:
    with running_server(tmp_path, threads="1", queue="1") as server, server.client() as client:
        with several(server, 8, endless_plan()) as callers:
            until(lambda: refusals(callers) == [503] * 6)
            refused = client.post("/v1/plans", json=random_request(2, 10))
        assert refused.status_code == 503
        assert refused.headers["retry-after"] == "1"
        assert refused.json()["type"] == "urn:fedsift:problem:overloaded"
        until(lambda: client.post("/v1/plans", json=random_request(2, 10)).status_code == 200)


def test_a_browser_from_a_named_origin_is_answered_and_no_other(tmp_path: Path) -> None:
    with running_server(tmp_path, cors_origins='["https://studio.example"]') as server, server.client() as client:
        asked = {"access-control-request-method": "POST", "access-control-request-headers": "content-type"}
        allowed = client.options("/v1/plans", headers={"origin": "https://studio.example", **asked})
        assert allowed.status_code == 200
        assert allowed.headers["access-control-allow-origin"] == "https://studio.example"
        assert "x-request-id" in allowed.headers
        other = client.options("/v1/plans", headers={"origin": "https://other.example", **asked})
        assert "access-control-allow-origin" not in other.headers


def test_several_processes_share_their_runs(tmp_path: Path) -> None:
    with running_server(tmp_path, processes="2") as server, server.client() as client:
        run = client.post("/v1/runs", json=random_request(1, 10, horizon=200)).headers["location"]

        def advance(k: int) -> int:
            # A connection each, since a process keeps those it accepted; busy, so that both processes accept some.
            with server.client() as mine:
                mine.post("/v1/plans", json=random_request(k, 80, horizon=100))
                return mine.post(f"{run}/aggregations", json={"aggregation": 1, "gradient_norm": 1.0}).status_code

        with concurrent.futures.ThreadPoolExecutor(12) as pool:
            answers = list(pool.map(advance, range(36)))
        assert set(answers) == {200}
        assert client.get(run).json()["aggregation"] == 1
    lines = [json.loads(line) for line in server.log.read_text().splitlines()]
    served = {line["process"] for line in lines if line.get("route") == "/v1/runs/{run_id}/aggregations"}
    assert len(served) == 2


def test_shutdown_finishes_what_was_accepted(tmp_path: Path) -> None:
    slow = random_request(3, 60, horizon=400, sample_size=10, solver="cvxpy", time_limit=6)
    with running_server(tmp_path) as server, server.client() as client:
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            job = pool.submit(client.post, "/v1/plans", json=slow)
            until(lambda: "fedsift_admitted 1.0" in httpx.get(f"{server.url}/metrics", timeout=PATIENCE).text)
            server.process.terminate()
            answer = job.result()
        assert answer.status_code == 200
        assert len(answer.json()["steps"]) == 400
        assert server.process.wait(PATIENCE) in {0, -15}


def test_a_slow_body_does_not_hold_its_place_for_ever(tmp_path: Path) -> None:
    with running_server(tmp_path, body_timeout="0.5") as server:
        host, port = server.url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=PATIENCE) as s:
            head = "POST /v1/plans HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            s.sendall(f"{head}Content-Length: 100\r\n\r\n{{".encode())
            assert b" 408 " in s.recv(1000).splitlines()[0]


def test_the_settings_table_in_the_documentation_is_the_codes() -> None:
    assert settings_table() in (DOCS / "api.md").read_text(encoding="utf-8")


def test_loopback_is_recognised() -> None:
    assert [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "10.0.0.1", "example")] == [
        True,
        True,
        True,
        False,
        False,
        False,
    ]
    assert not Settings(host="127.0.0.1").needs_key
    assert Settings(host="0.0.0.0").needs_key
    assert not Settings(host="0.0.0.0", auth="off").needs_key
