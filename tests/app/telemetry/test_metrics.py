"""The numbers of a process, each in the registry of its own object."""

import re

from app.telemetry.metrics import Metrics


def value(metrics: Metrics, name: str) -> float | None:
    found = re.search(rf"^{re.escape(name)} (\S+)$", metrics.text().decode(), re.MULTILINE)
    return None if found is None else float(found[1])


def test_answers_are_counted_by_method_route_and_status() -> None:
    metrics, other = Metrics(), Metrics()
    for status in (200, 200, 422):
        metrics.request("POST", "/v1/plans", status, 0.02)
    count = 'fedsift_requests_total{method="POST",route="/v1/plans",status="%d"}'
    assert (value(metrics, count % 200), value(metrics, count % 422)) == (2, 1)
    assert value(other, count % 200) is None
    assert value(metrics, 'fedsift_request_seconds_bucket{le="0.01",route="/v1/plans"}') == 0
    assert value(metrics, 'fedsift_request_seconds_bucket{le="0.025",route="/v1/plans"}') == 3


def test_stages_gaps_and_what_is_read_when_asked() -> None:
    metrics = Metrics()
    metrics.stages({"parse": 0.5, "solve": 2.0})
    metrics.plan("optimal", 3e-9)
    depth = 4
    metrics.watch("fedsift_depth", "How deep.", lambda: depth)
    assert value(metrics, 'fedsift_stage_seconds_sum{stage="solve"}') == 2
    assert value(metrics, 'fedsift_plans_total{status="optimal"}') == 1
    assert value(metrics, 'fedsift_relative_gap_bucket{le="1e-09"}') == 0
    assert value(metrics, 'fedsift_relative_gap_bucket{le="1e-08"}') == 1
    assert value(metrics, "fedsift_depth") == 4
    depth = 9
    assert value(metrics, "fedsift_depth") == 9
