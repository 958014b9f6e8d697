"""Runs of the service whose answers are recomputed from the reports."""

from typing import Any

import httpx

from benchmarks.reported_run import ReportedRun

__all__ = ["Run"]

Json = dict[str, Any]


class Run:
    """A run whose answers are recomputed as they come."""

    def __init__(self, client: httpx.Client, request: Json) -> None:
        answer = client.post("/v1/runs", json=request)
        assert answer.status_code == 201, answer.text
        self.client, self.place, self.k = client, answer.headers["location"], 0
        self.reported = ReportedRun(request)
        self.reported.take(None, answer.json())
        self.period: Json = answer.json()

    def send(self, **report: Any) -> httpx.Response:
        body = {"aggregation": self.k + 1, "gradient_norm": 1.0, **report}
        return self.client.post(f"{self.place}/aggregations", json=body)

    def aggregate(self, **report: Any) -> Json:
        answer = self.send(**report)
        assert answer.status_code == 200, answer.text
        self.k += 1
        self.period = answer.json()
        self.reported.take({"aggregation": self.k, "gradient_norm": 1.0, **report}, self.period)
        return self.period
