"""OpenTelemetry traces, off unless a collector is named (extra `telemetry`): a span per request, one per stage in it.

A validation's parts and rounds are spans of the request that asked for it, though a worker trains them later.

Where it is off, nothing of OpenTelemetry is loaded and each call does nothing.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING

from solver.errors import MissingExtraError

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter
    from starlette.types import Scope

__all__ = ["NoTracing", "Tracing", "tracing"]


class Tracing(ABC):
    """Spans of requests and of the stages in them, for a collector."""

    @abstractmethod
    @contextmanager
    def request(self, scope: "Scope") -> Iterator[dict[str, str | int]]:
        """A span around a request, within the caller's trace; the entries of the mapping become its attributes."""

    @abstractmethod
    def stages(self, seconds: Mapping[str, float]) -> None:
        """Spans for consecutive stages, the last of which ends now."""

    @abstractmethod
    @contextmanager
    def span(self, name: str, attributes: Mapping[str, str | int], parent: str = "") -> Iterator[None]:
        """A span around work outside of a request, below `parent`, a `traceparent`, or below the current span."""

    @abstractmethod
    def parent(self) -> str:
        """The current span as a `traceparent`, for work that goes on elsewhere; empty if there is none."""

    @abstractmethod
    def close(self) -> None:
        """Send what is left."""


class NoTracing(Tracing):
    """No collector: each call does nothing."""

    @contextmanager
    def request(self, scope: "Scope") -> Iterator[dict[str, str | int]]:  # noqa: ARG002
        """Nothing."""
        yield {}

    def stages(self, seconds: Mapping[str, float]) -> None:
        """Nothing."""

    @contextmanager
    def span(self, name: str, attributes: Mapping[str, str | int], parent: str = "") -> Iterator[None]:  # noqa: ARG002
        """Nothing."""
        yield

    def parent(self) -> str:
        """Nothing."""
        return ""

    def close(self) -> None:
        """Nothing."""


def tracing(endpoint: str) -> Tracing:
    """Traces for the collector at this OTLP/HTTP address; without one, none.

    Raises:
        MissingExtraError: the extra is not installed.
    """
    if not endpoint:
        return NoTracing()
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415
    except ImportError:
        raise MissingExtraError(
            "FEDSIFT_OTLP_ENDPOINT needs the extra `telemetry`: pip install 'fedsift[telemetry]'"
        ) from None
    return _Exported(OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces", timeout=5))


class _Exported(Tracing):
    def __init__(self, exporter: "SpanExporter") -> None:
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
        from opentelemetry.trace import SpanKind  # noqa: PLC0415
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator  # noqa: PLC0415

        resource = Resource.create({"service.name": "fedsift", "service.version": version("fedsift")})
        self._provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        # Sent by a thread of its own; when the collector is away, spans are dropped and requests never wait.
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("fedsift")
        self._propagator = TraceContextTextMapPropagator()
        self._server = SpanKind.SERVER

    @contextmanager
    def request(self, scope: "Scope") -> Iterator[dict[str, str | int]]:
        """A server span that continues the caller's trace (`traceparent`)."""
        parent = self._propagator.extract({k.decode("latin-1"): v.decode("latin-1") for k, v in scope["headers"]})
        attributes: dict[str, str | int] = {}
        with self._tracer.start_as_current_span("request", context=parent, kind=self._server) as span:
            try:
                yield attributes
            finally:
                span.set_attributes(attributes)
                # The route's template, as in the metrics: span names must not carry ids.
                span.update_name(f"{attributes.get('http.request.method')} {attributes.get('http.route')}")

    def stages(self, seconds: Mapping[str, float]) -> None:
        """One span for each stage, in order; the last one ends now."""
        end = time.time_ns()
        for name, length in reversed(list(seconds.items())):
            begin = end - round(1e9 * length)
            self._tracer.start_span(name, start_time=begin).end(end)
            end = begin

    @contextmanager
    def span(self, name: str, attributes: Mapping[str, str | int], parent: str = "") -> Iterator[None]:
        """An exception that leaves the block is noted in the span."""
        context = self._propagator.extract({"traceparent": parent}) if parent else None
        with self._tracer.start_as_current_span(name, context=context, attributes=attributes):
            yield

    def parent(self) -> str:
        """By the propagator of W3C trace contexts."""
        carrier: dict[str, str] = {}
        self._propagator.inject(carrier)
        return carrier.get("traceparent", "")

    def close(self) -> None:
        """Send what is left, then stop."""
        self._provider.shutdown()
