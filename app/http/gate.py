"""How a request reaches a slice's service: in the bounded pool if it computes, else in a thread that asks the store."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response

from app.http.body import Limit, OpenBodies, check_headers, decoded, read_body
from app.http.executors import Executors
from app.http.pool import WorkPool
from app.http.unread import UnreadAnswers
from app.keys.ring import KeyRing
from app.settings import Settings
from app.store import Store
from app.telemetry.metrics import Metrics
from app.wire.budget import MemoryBudget
from app.wire.pointers import refusal

__all__ = ["JSON", "Service", "look_up", "process"]

JSON = "application/json"

T = TypeVar("T")


@dataclass
class Service:
    """What the routers share in a process; `live_workers` asks the store how many validation workers there are."""

    settings: Settings
    pool: WorkPool
    executors: Executors
    memory: MemoryBudget
    bodies: OpenBodies
    metrics: Metrics
    store: Store
    keys: KeyRing
    live_workers: Callable[[], int]
    unread: UnreadAnswers
    solver: Literal["loading", "ok", "failed"] = "loading"
    streams: int = 0
    closing_since: float | None = None


async def process(
    request: Request, owner: str, work: Callable[..., Response], *arguments: Any, content_type: str = JSON
) -> Response:
    """Read the request's body, and answer with `work(service, owner, *arguments, body)`, run in the pool."""
    service: Service = request.app.state.service
    settings = service.settings
    service.unread.check()
    limit = Limit.of(settings, is_json=content_type == JSON)
    encoding = check_headers(request, content_type, limit)
    caller = owner if settings.needs_key or request.client is None else request.client.host
    with service.pool.request(owner if settings.needs_key else None), service.memory.account():
        with service.bodies.arriving(caller) as arrived:
            raw = await read_body(request, limit, settings.body_timeout, arrived)
        admitted = time.perf_counter()

        def job() -> Response:
            service.metrics.stages({"queue": time.perf_counter() - admitted})
            service.unread.check()
            try:
                return work(service, owner, *arguments, decoded(raw, encoding, limit))
            except ValidationError as error:
                raise refusal(error) from None

        with service.pool.place():
            return await service.pool.run(job)


async def look_up(request: Request, work: Callable[..., T], *arguments: Any) -> T:
    """Answer with `work(service, *arguments)`, run in a thread: the store must not block the event loop."""
    service: Service = request.app.state.service
    executor = service.executors.reads if request.method == "GET" else service.executors.changes
    return await executor.run(work, service, *arguments)
