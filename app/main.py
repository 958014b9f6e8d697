"""The application factory."""

import asyncio
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from importlib.metadata import version
from types import FrameType

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

from app.comparisons.router import router as comparisons
from app.datasets.router import router as datasets
from app.guide.router import router as guide
from app.http.body import OpenBodies
from app.http.executors import Executor, executors
from app.http.gate import Service
from app.http.handlers import add_handlers
from app.http.hosts import ServedHosts
from app.http.middleware import Surroundings
from app.http.pool import WorkPool
from app.http.unread import UnreadAnswers
from app.imports.router import router as imports
from app.keys.gateway import Gateway
from app.keys.ring import KeyRing
from app.ledger import Ledger
from app.networks.router import router as networks
from app.openapi.document import document
from app.openapi.router import router as documentation
from app.operations.compiling import Compiling
from app.operations.readiness import announce, look_at_store, warm_up
from app.operations.retention import Retention
from app.operations.router import router as operations
from app.plans.router import router as plans
from app.recent import Recent
from app.runs.period_orders import router as run_orders
from app.runs.router import router as runs
from app.samplers.router import router as samplers
from app.settings import Settings
from app.store import NoAnswerError, Store
from app.studio.router import router as studio
from app.telemetry.logs import set_up_logs
from app.telemetry.metrics import Metrics
from app.telemetry.traces import tracing
from app.validations.numbers import JobNumbers
from app.validations.router import router as validations
from app.webhooks.courier import Courier
from app.webhooks.router import router as webhooks
from app.webhooks.targets import Targets
from app.wire.budget import MemoryBudget
from app.worker.store import LiveWorkers, WorkerStore

__all__ = ["ROUTERS", "create_app"]

ROUTERS = (
    plans,
    runs,
    run_orders,
    validations,
    networks,
    samplers,
    datasets,
    imports,
    comparisons,
    webhooks,
    operations,
    documentation,
    guide,
    studio,
)

_log = logging.getLogger("fedsift")

# Stored networks that were used last may hold this part of the memory for requests.
_NETWORKS_SHARE = 4
_ABOUT = "Which few devices of a federated-learning network should train, and which data their neighbours send them."


def create_app(settings: Settings | None = None, ledger: Ledger | None = None) -> FastAPI:
    """Build the service; with a ledger, it is one of several processes that count together."""
    chosen = Settings() if settings is None else settings
    set_up_logs(chosen.log_level, chosen.log_format)
    service = _service(chosen, Ledger() if ledger is None else ledger)
    app = FastAPI(
        title="fedsift",
        description=_ABOUT,
        version=version("fedsift"),
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_lifespan,
    )
    app.state.service = service
    app.openapi = lambda: document(app)  # type: ignore[method-assign]
    for router in ROUTERS:
        app.include_router(router)
    add_handlers(app, ROUTERS)
    if chosen.cors_origins:
        app.add_middleware(CORSMiddleware, allow_origins=chosen.cors_origins, allow_methods=["*"], allow_headers=["*"])
    app.add_middleware(Surroundings, metrics=service.metrics, hosts=ServedHosts.of(chosen), unread=service.unread)
    return app


def _service(settings: Settings, ledger: Ledger) -> Service:
    pool = WorkPool(
        settings.threads,
        settings.queue,
        per_owner=settings.key_concurrency,
        retry_after=settings.retry_after,
        ledger=ledger,
    )
    memory = MemoryBudget(settings.memory_budget, settings.retry_after, ledger)
    bodies = OpenBodies(settings.memory_budget, settings.retry_after, ledger)
    pids = ledger.tally("pids")
    metrics = Metrics(tracing(settings.otlp_endpoint), lambda: filter(None, pids.by_process()))
    metrics.watch("fedsift_processes", "Server processes.", lambda: sum(map(bool, pids.by_process())))
    metrics.watch(
        "fedsift_admitted", "Requests whose body is complete and that are not yet answered.", lambda: pool.admitted
    )
    metrics.watch("fedsift_queue_depth", "Those of them that wait for a thread.", lambda: pool.waiting)
    metrics.watch("fedsift_memory_charged_bytes", "Memory that requests have charged.", lambda: memory.held)
    store = Store(settings.database_url, settings.store_timeout)
    service = Service(
        settings,
        pool,
        executors(settings.store_timeout, streams=settings.event_streams),
        memory,
        bodies,
        metrics,
        store,
        KeyRing(store),
        Gateway.of(settings),
        LiveWorkers(WorkerStore(store), settings.worker_timeout),
        UnreadAnswers(memory, settings.retry_after, ledger),
        ledger.tally("streams"),
        pids,
        ledger.tally("compile_failures"),
        Recent(settings.memory_budget // _NETWORKS_SHARE, ledger.tally("networks"), memory.borrow, memory.free),
    )
    memory.spare = service.networks.clear
    metrics.watch("fedsift_unread_bytes", "Bytes of answers that clients have not read.", lambda: service.unread.held)
    metrics.watch_jobs(JobNumbers(store, service.live_workers))
    return service


# The last seconds of the grace, in which requests that are still under way are answered with 503.
_LAST_SECONDS = 2.0


@contextmanager
def _work_ends_after_signals(service: Service) -> Iterator[None]:
    """At a stop signal end event streams, which the server would wait for, and near the end of the grace all work."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    grace = service.settings.shutdown_grace
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}

    def close(number: int, frame: FrameType | None) -> None:
        service.closing_since = service.closing_since or time.monotonic()
        loop.call_soon_threadsafe(loop.call_later, grace - min(_LAST_SECONDS, grace / 2), service.under_way.end)
        earlier = before[signal.Signals(number)]
        if callable(earlier):
            earlier(number, frame)

    for number in before:
        signal.signal(number, close)
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    service: Service = app.state.service
    service.pids.set(os.getpid())
    # Threads switch more often than by default, so that refusals and health checks stay quick under load.
    sys.setswitchinterval(0.001)
    compiling = Compiling(service)
    loading = asyncio.create_task(service.pool.run(lambda: _load(service, compiling)))
    announcing = asyncio.create_task(announce(service))
    looking = asyncio.create_task(look_at_store(service))
    retention = Retention(service)
    courier = Courier(service.store, Targets.of(service.settings.webhook_targets))
    retention.start()
    if service.tidies:
        courier.start()
    with _work_ends_after_signals(service):
        yield
    announcing.cancel()
    compiling.stop()
    await _finish(service, retention, courier)
    await asyncio.gather(loading, looking)


def _load(service: Service, compiling: Compiling) -> None:
    warm_up(service)
    compiling.start()


async def _finish(service: Service, retention: Retention, courier: Courier) -> None:
    """Let the threads end what they do, within what is left of the grace; all requests have been answered by now.

    A thread may still wait for a store that hangs, and a normal exit would wait for the thread. So the process ends
    here; workers that it started end by themselves, since their pipe closes.
    """
    since = service.closing_since or time.monotonic()
    left = max(1.0, service.settings.shutdown_grace - (time.monotonic() - since))
    try:
        await Executor("shutdown", threads=1, queue=1, seconds=left).run(_close, service, retention, courier)
    except NoAnswerError:
        _log.error("a thread does not end; leaving without it")
        os._exit(0)


def _close(service: Service, retention: Retention, courier: Courier) -> None:
    courier.stop()
    retention.stop()
    service.pool.shut_down()
    service.store.close()
    service.metrics.tracing.close()
