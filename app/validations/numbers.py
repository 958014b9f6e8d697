"""Metrics of validations, workers and webhooks, read from the store at each scrape.

Workers have no port: what they do is counted in the store, in the transaction of the work itself. So these numbers are
those of all workers and servers, and every server tells the same.
"""

from collections.abc import Callable, Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from app.store import Store, StoreError
from app.validations.store import Counts, ValidationStore

__all__ = ["JobNumbers"]

_STATES = ("queued", "running", "succeeded", "failed", "cancelled")
_ENDS = ("succeeded", "failed", "cancelled")


class JobNumbers(Collector):
    """Numbers of the whole store, the same in every process; none while the store does not answer."""

    def __init__(self, store: Store, live_workers: Callable[[], int]) -> None:
        self._validations = ValidationStore(store)
        self._live_workers = live_workers

    def describe(self) -> list[Metric]:
        """Nothing, so that registering does not query the store."""
        return []

    def collect(self) -> Iterator[Metric]:
        """The metrics with their current values."""
        try:
            counts, workers = self._validations.counts(), self._live_workers()
        except StoreError:
            return
        yield _gauge("fedsift_workers", "Workers heard of lately.", workers)
        yield from _waiting(counts)
        yield from _grown(counts)


def _waiting(counts: Counts) -> Iterator[Metric]:
    by_state = GaugeMetricFamily("fedsift_validations", "Validations by state.", labels=["state"])
    for state in _STATES:
        by_state.add_metric([state], counts.validations.get(state, 0))
    yield by_state
    parts, deliveries = counts.parts, counts.deliveries
    yield _gauge("fedsift_validation_queue_depth", "Parts of validations that wait for a worker.", parts.depth)
    yield _gauge("fedsift_validation_queue_seconds", "How long the first of them has waited.", parts.seconds)
    yield _gauge("fedsift_webhook_queue_depth", "Events that wait for a receiver.", deliveries.depth)
    yield _gauge("fedsift_webhook_queue_seconds", "How long the first of them has waited.", deliveries.seconds)


def _grown(counts: Counts) -> Iterator[Metric]:
    totals = counts.totals
    ended = CounterMetricFamily("fedsift_validations_ended", "Validations by how they ended.", labels=["state"])
    for state in _ENDS:
        ended.add_metric([state], getattr(totals, state))
    yield ended
    yield CounterMetricFamily("fedsift_rounds", "Rounds that workers have trained.", value=totals.rounds)
    yield CounterMetricFamily("fedsift_round_seconds", "Seconds of these rounds.", value=totals.round_seconds)
    attempts = CounterMetricFamily(
        "fedsift_round_failures", "Attempts at rounds that came to nothing.", labels=["reason"]
    )
    attempts.add_metric(["failed"], totals.attempts_failed)
    attempts.add_metric(["lost"], totals.attempts_lost)
    yield attempts


def _gauge(name: str, description: str, value: float) -> Metric:
    return GaugeMetricFamily(name, description, value=value)
