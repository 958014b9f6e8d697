"""Metrics of validations, read from the store at each scrape."""

from collections.abc import Callable, Iterator

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from app.store import Store, StoreError
from app.validations.store import ValidationStore

__all__ = ["JobNumbers"]

_STATES = ("queued", "running", "succeeded", "failed", "cancelled")


class JobNumbers(Collector):
    """Gauges over the whole store, the same in every process; none while the store does not answer."""

    def __init__(self, store: Store, live_workers: Callable[[], int]) -> None:
        self._validations = ValidationStore(store)
        self._live_workers = live_workers

    def describe(self) -> list[GaugeMetricFamily]:
        """The metrics without values, so that registering does not query the store."""
        return list(_families())

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """The metrics with their current values."""
        try:
            whole, parts = self._validations.counts()
            workers = self._live_workers()
        except StoreError:
            return
        by_state, depth, alive = _families()
        for state in _STATES:
            by_state.add_metric([state], whole.get(state, 0))
        depth.add_metric([], parts.get("waiting", 0))
        alive.add_metric([], workers)
        yield from (by_state, depth, alive)


def _families() -> tuple[GaugeMetricFamily, GaugeMetricFamily, GaugeMetricFamily]:
    return (
        GaugeMetricFamily("fedsift_validations", "Validations by state.", labels=["state"]),
        GaugeMetricFamily("fedsift_validation_queue_depth", "Parts of validations that wait for a worker."),
        GaugeMetricFamily("fedsift_workers", "Workers heard of lately."),
    )
