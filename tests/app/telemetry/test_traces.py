"""Traces, received by a collector that really listens."""

from pathlib import Path

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from app.telemetry.traces import NoTracing, tracing
from solver.errors import MissingExtraError
from tests.support.collector import collector
from tests.support.requests import random_request
from tests.support.server import free_port, running_server
from tests.support.waiting import PATIENCE

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = "b7ad6b7169203331"


def test_a_request_becomes_a_trace_with_its_stages(tmp_path: Path) -> None:
    with (
        collector() as (address, spans),
        running_server(tmp_path, otlp_endpoint=address) as server,
        server.client() as client,
    ):
        headers = {"traceparent": f"00-{TRACE}-{PARENT}-01"}
        assert client.post("/v1/plans", json=random_request(1, 10), headers=headers).status_code == 200
        client.get("/v1/runs/run_" + "0" * 32)
        server.process.terminate()  # what is not sent yet is sent at the end
        server.process.wait(PATIENCE)
    mine = {span.name: span for span in spans if span.trace_id.hex() == TRACE}
    assert set(mine) == {"POST /v1/plans", "queue", "parse", "sample", "solve", "bound", "encode"}
    request = mine.pop("POST /v1/plans")
    assert request.parent_span_id.hex() == PARENT
    assert request.kind == Span.SPAN_KIND_SERVER
    values = {a.key: a.value.string_value or a.value.int_value for a in request.attributes}
    assert values == {"http.request.method": "POST", "http.route": "/v1/plans", "http.response.status_code": 200}
    assert all(span.parent_span_id == request.span_id for span in mine.values())
    in_order = [mine[name] for name in ("queue", "parse", "sample", "solve", "bound", "encode")]
    ends = [request.start_time_unix_nano]
    for span in in_order:
        assert ends[-1] <= span.start_time_unix_nano + 1_000_000  # clocks of two kinds
        ends.append(span.end_time_unix_nano)
    assert ends[-1] <= request.end_time_unix_nano
    assert "GET /v1/runs/{run_id}" in {span.name for span in spans}
    assert not any("run_0000" in str(span) for span in spans)


def test_a_collector_that_is_away_costs_nobody_an_answer(tmp_path: Path) -> None:
    address = f"http://127.0.0.1:{free_port()}"
    with running_server(tmp_path, otlp_endpoint=address) as server, server.client() as client:
        for _ in range(3):
            assert client.post("/v1/plans", json=random_request(1, 10)).status_code == 200


def test_without_an_address_nothing_is_traced_and_without_the_extra_the_error_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert isinstance(tracing(""), NoTracing)
    monkeypatch.setitem(__import__("sys").modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with pytest.raises(MissingExtraError, match=r"fedsift\[telemetry\]"):
        tracing("http://127.0.0.1:4318")
