"""What operators see of a validation: one trace from the request to its rounds, counters, and a log line a change."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx

from tests.support.collector import collector
from tests.support.requests import random_request
from tests.support.server import running_server
from tests.support.validations import wait
from tests.support.waiting import PATIENCE

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = "b7ad6b7169203331"
TINY = {
    "source": {"kind": "generator", "devices": 8, "mean_datapoints": 10, "link_probability": 0.4},
    "sample_size": 2,
    "aggregations": 2,
    "aggregation_period": 1,
    "schemes": ["heuristic", "ours"],
    "model": "softmax",
}


def lines(log: Path) -> Iterator[dict[str, Any]]:
    for line in log.read_text().splitlines():
        if line.startswith("{"):
            yield json.loads(line)


def metric(client: httpx.Client, name: str) -> float:
    found = re.search(rf"^{re.escape(name)} (\S+)$", client.get("/metrics").text, re.MULTILINE)
    assert found, name
    return float(found[1])


def test_a_validation_is_one_trace_with_counters_and_log_lines(tmp_path: Path) -> None:
    with (
        collector() as (address, spans),
        running_server(tmp_path, otlp_endpoint=address, workers="1") as server,
        server.client() as client,
    ):
        headers = {"traceparent": f"00-{TRACE}-{PARENT}-01", "x-request-id": "caller-7"}
        made = client.post("/v1/validations", json=TINY, headers=headers).raise_for_status().json()
        place = f"/v1/validations/{made['id']}"
        shown = wait(client, place)
        assert shown["state"] == "succeeded", shown
        assert metric(client, 'fedsift_validations_ended_total{state="succeeded"}') == 1
        assert metric(client, 'fedsift_validations_ended_total{state="failed"}') == 0
        rounds = metric(client, "fedsift_rounds_total")
        assert rounds >= 6
        assert metric(client, "fedsift_round_seconds_total") > 0
        # What is deleted stays counted.
        assert client.delete(place).status_code == 204
        assert metric(client, "fedsift_rounds_total") == rounds
        assert metric(client, 'fedsift_validations{state="succeeded"}') == 0
        server.process.terminate()  # server and worker send what is left
        server.process.wait(PATIENCE)
    mine = [span for span in spans if span.trace_id.hex() == TRACE]
    (request,) = (span for span in mine if span.name == "POST /v1/validations")
    parts = [span for span in mine if span.name == "part"]
    assert request.parent_span_id.hex() == PARENT
    assert len(parts) >= 2
    assert {part.parent_span_id for part in parts} == {request.span_id}
    trained = [span for span in mine if span.name == "round"]
    assert len(trained) == rounds
    assert {span.parent_span_id for span in trained} == {part.span_id for part in parts}
    told = {(a.key, a.value.string_value) for part in parts for a in part.attributes}
    assert ("fedsift.validation", made["id"]) in told
    of_request = [line for line in lines(server.log) if line.get("request_id") == "caller-7"]
    changes = [
        line["message"] for line in of_request if line.get("validation") == made["id"] and "." in line["message"]
    ]
    assert changes == ["validation.queued", "validation.running", "validation.succeeded"]
    begun = {line["part"] for line in of_request if line["message"] == "part begun"}
    assert len(begun) == len(parts)
    assert all(part.startswith(made["id"]) for part in begun)


def test_runs_and_plans_have_a_line_for_every_change(tmp_path: Path) -> None:
    with running_server(tmp_path) as server, server.client() as client:
        body = random_request(1, 8, horizon=4, aggregation_period=2)
        run = client.post("/v1/runs", json=body, headers={"x-request-id": "first"}).json()["id"]
        answer = {"aggregation": 1, "gradient_norm": 0.5}
        client.post(f"/v1/runs/{run}/aggregations", json=answer, headers={"x-request-id": "second"}).raise_for_status()
        refused = client.post("/v1/runs", json={**body, "sample_size": 99})
        assert refused.status_code == 422
    found = [
        (line["message"], line["run"], line["request_id"]) for line in lines(server.log) if line.get("run") is not None
    ]
    assert found == [("run.started", run, "first"), ("run.aggregated", run, "second")]
