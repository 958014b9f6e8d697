"""How a request reaches a slice's service: in the bounded pool if it computes, else in a thread that asks the store."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from starlette.requests import Request
from starlette.responses import Response

from app.http.body import Limit, OpenBodies, check_headers, decoded, read_body
from app.http.executors import Executors
from app.http.pool import WorkPool
from app.http.problems import OverloadedError
from app.http.unread import UnreadAnswers
from app.keys.gateway import Gateway
from app.keys.ring import KeyRing
from app.ledger import Tally
from app.recent import Recent
from app.settings import Settings
from app.store import Store
from app.store.usage import check_quota
from app.telemetry.metrics import Metrics
from app.wire.budget import MemoryBudget
from app.wire.effort import Work, WorkUnderWay

__all__ = ["JSON", "Service", "Unwritten", "check_room", "look_up", "process"]

JSON = "application/json"

# What logs and metrics say of a request that its client did not wait for; nobody reads the answer.
_CLIENT_LEFT = 499

T = TypeVar("T")


@dataclass
class Service:
    """What the routers share in a process; `live_workers` asks the store how many validation workers there are.

    `networks` are versions of stored networks that were used last. `tidies`: whether this process deletes what is too
    old; one of them suffices. `compile_failures`: in how many processes the kernels that only some requests need could
    not be compiled.
    """

    settings: Settings
    pool: WorkPool
    executors: Executors
    memory: MemoryBudget
    bodies: OpenBodies
    metrics: Metrics
    store: Store
    keys: KeyRing
    gateway: Gateway | None
    live_workers: Callable[[], int]
    unread: UnreadAnswers
    streams: Tally
    pids: Tally
    compile_failures: Tally
    networks: Recent[tuple[str, int], Any]
    under_way: WorkUnderWay = field(default_factory=WorkUnderWay)
    solver: Literal["loading", "ok", "failed"] = "loading"
    kernels: Literal["ok", "compiling", "failed"] = "compiling"
    kernels_missing: int = 0
    closing_since: float | None = None
    tidies: bool = True


@dataclass(frozen=True)
class Unwritten:
    """An answer that is not valid before the store has what it tells. `write` puts it there, and returns the answer."""

    write: Callable[[], Response]


async def process(
    request: Request,
    owner: str,
    work: Callable[..., Response | Unwritten],
    *arguments: Any,
    content_type: str = JSON,
    first: Callable[..., object] | None = None,
) -> Response:
    """Read the request's body, and answer with `work(service, owner, *arguments, body)`, run in the pool.

    What waits for the store should not keep a thread of the pool: `first(service, owner, *arguments)` asks it before,
    and what is to be written is written after, both in threads of the store.
    """
    service: Service = request.app.state.service
    settings = service.settings
    limit = Limit.of(settings, is_json=content_type == JSON)
    encoding = check_headers(request, content_type, limit)
    caller = owner if settings.needs_key or request.client is None else request.client.host
    with service.pool.request(owner if settings.needs_key else None), service.memory.account():
        with service.bodies.arriving(caller) as arrived:
            raw = await read_body(request, limit, settings.body_timeout, arrived)
        if first is not None:
            await service.executors.reads.run(first, service, owner, *arguments)
        admitted = time.perf_counter()

        def job() -> Response | Unwritten:
            under_way.begin()
            service.metrics.stages({"queue": time.perf_counter() - admitted})
            return work(service, owner, *arguments, decoded(raw, encoding, limit))

        with service.pool.place(), service.under_way.work() as under_way:
            answer = await _run(request, service, under_way, job)
        return await service.executors.changes.run(answer.write) if isinstance(answer, Unwritten) else answer


async def _run(
    request: Request, service: Service, work: Work, job: Callable[[], Response | Unwritten]
) -> Response | Unwritten:
    """Run the job in the pool, and end its work when the client leaves; the thread is then free at once."""
    watch = asyncio.create_task(_end_without_client(request, work))
    try:
        return await service.pool.run(job)
    except OverloadedError:
        if work.client_left:
            return Response(status_code=_CLIENT_LEFT)
        raise
    finally:
        watch.cancel()


async def _end_without_client(request: Request, work: Work) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
    work.client_left = True
    work.end()


async def look_up(request: Request, work: Callable[..., T], *arguments: Any) -> T:
    """Answer with `work(service, *arguments)`, run in a thread: the store must not block the event loop."""
    service: Service = request.app.state.service
    executor = service.executors.reads if request.method == "GET" else service.executors.changes
    return await executor.run(work, service, *arguments)


def check_room(service: Service, owner: str) -> None:
    """Refuse what could not be kept before anything is computed.

    Raises:
        DiskLowError: less of the disk is free than the reserve.
        QuotaError: the owner's quota is used up.
    """
    service.store.check_disk(service.settings.disk_reserve)
    check_quota(service.store, owner, service.settings.key_bytes)
