"""Prometheus metrics. Where several processes serve, they are those of all of them (`app.telemetry.shared`)."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from app.telemetry.processes import ServerProcesses
from app.telemetry.shared import metrics_folder
from app.telemetry.traces import NoTracing, Tracing

__all__ = ["Metrics"]

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_GAPS = (1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1)


class Metrics:
    """Requests, seconds by stage, certified gaps and the depth of the queue; stages are traced too."""

    def __init__(
        self, tracing: Tracing | None = None, pids: Callable[[], Iterable[int]] = lambda: (os.getpid(),)
    ) -> None:
        self.tracing = NoTracing() if tracing is None else tracing
        self.registry = CollectorRegistry()
        self._counted = self.registry
        if (folder := metrics_folder()) is not None:
            self._counted = CollectorRegistry()
            MultiProcessCollector(self._counted, folder)  # type: ignore[no-untyped-call]
        self._watched = CollectorRegistry()
        self._watched.register(ServerProcesses(pids))
        self._stored = CollectorRegistry()
        self._requests = Counter(
            "fedsift_requests_total", "Requests.", ["method", "route", "status"], registry=self.registry
        )
        self._latency = Histogram(
            "fedsift_request_seconds", "Time to answer.", ["route"], buckets=_SECONDS, registry=self.registry
        )
        self._stages = Histogram(
            "fedsift_stage_seconds", "Time by stage.", ["stage"], buckets=_SECONDS, registry=self.registry
        )
        self._gaps = Histogram(
            "fedsift_relative_gap", "Certified gaps of plans.", buckets=_GAPS, registry=self.registry
        )
        self._statuses = Counter("fedsift_plans_total", "Plans by status.", ["status"], registry=self.registry)

    def watch(self, name: str, description: str, read: Callable[[], float]) -> None:
        """Add a gauge that is read at each scrape."""
        self._watched.register(_Watched(name, description, read))

    def watch_jobs(self, numbers: Collector) -> None:
        """Add metrics that are read from the store at each scrape."""
        self._stored.register(numbers)

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count an answered request."""
        self._requests.labels(method, route, str(status)).inc()
        self._latency.labels(route).observe(seconds)

    def stages(self, seconds: Mapping[str, float]) -> None:
        """Record the seconds of consecutive stages, the last of which ends now: queue, parse, sample, solve, encode."""
        for stage, length in seconds.items():
            self._stages.labels(stage).observe(length)
        self.tracing.stages(seconds)

    def plan(self, status: str, relative_gap: float) -> None:
        """Count a plan and its gap."""
        self._statuses.labels(status).inc()
        self._gaps.observe(relative_gap)

    def text(self) -> bytes:
        """What the processes know themselves, in the exposition format."""
        return generate_latest(self._counted) + generate_latest(self._watched)

    def stored(self) -> bytes:
        """What is read from the store, in the same format. It asks the store, so it must run in a thread."""
        return generate_latest(self._stored)


class _Watched(Collector):
    """A gauge that is read at each scrape."""

    def __init__(self, name: str, description: str, read: Callable[[], float]) -> None:
        self._name, self._description, self._read = name, description, read

    def collect(self) -> Iterator[Metric]:
        """The gauge."""
        yield GaugeMetricFamily(self._name, self._description, value=self._read())
