"""Whether this process should get requests."""

import asyncio
import logging
import sys

from app.http.gate import Service
from app.operations.schemas import Readiness, StoreState
from app.plans.planning import make_plan
from app.plans.request import EXAMPLE, PlanRequest
from app.settings import Settings
from app.store import NewerSchemaError, NoAnswerError, StoreError
from app.store.database import DiskFullError
from app.telemetry.logs import is_for_people

__all__ = ["announce", "assess", "exposition", "look_at_store", "warm_up"]

_log = logging.getLogger("fedsift")

_LOOK_SECONDS = 0.5


async def assess(service: Service) -> Readiness:
    """Ask the store and the pool."""
    store, workers, low = await _ask_store(service)
    draining = service.pool.draining
    return Readiness(
        ready=store == "ok" and not low and service.solver == "ok" and not draining,
        store=store,
        disk="low" if low else "ok",
        solver=service.solver,
        # Not a reason either: what a plan with the default sampler needs is compiled when the solver is ok.
        kernels=service.kernels,
        kernels_missing=service.kernels_missing,
        draining=draining,
        queue=service.pool.waiting,
        # Not a reason to send requests elsewhere: validations wait until a worker comes.
        validations="unavailable" if store != "ok" else "ok" if workers else "no_workers",
        workers=workers,
    )


async def _ask_store(service: Service) -> tuple[StoreState, int, bool]:
    """How the store is, how many workers it knows, and whether its disk is low."""

    def ask() -> tuple[int, bool]:
        service.store.check()
        return service.live_workers(), service.store.is_low(service.settings.disk_reserve)

    try:
        return "ok", *await service.executors.readiness.run(ask)
    except NewerSchemaError:
        return "newer_schema", 0, False
    except NoAnswerError:
        return "does_not_answer", 0, False
    except StoreError as error:
        return "unavailable", 0, isinstance(error, DiskFullError)


async def announce(service: Service) -> None:
    """Say on a terminal where to open the service, as soon as it is ready."""
    if not (service.tidies and is_for_people(service.settings.log_format)):
        return  # one of several processes says it
    while not (await assess(service)).ready:
        await asyncio.sleep(_LOOK_SECONDS)
    host, port = service.settings.host, service.settings.port
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - only compared
    shown = f"[{host}]" if ":" in host else host
    sys.stderr.write(f"fedsift is ready: http://{shown}:{port}/ (guide: /guide, API: /docs)\n")


async def look_at_store(service: Service) -> None:
    """Say at the start if the store does not answer, not only when a request needs it."""
    try:
        await service.executors.readiness.run(service.store.check)
    except StoreError as error:
        _log.error("the store does not answer: %s", error)


async def exposition(service: Service) -> bytes:
    """The metrics in Prometheus' exposition format; those of validations are missing if the store does not answer."""
    own = service.metrics.text()
    try:
        return own + await service.executors.readiness.run(service.metrics.stored)
    except NoAnswerError:
        return own


def warm_up(service: Service) -> None:
    """Load the compiled kernels with small plans, so that the first caller does not wait for them."""
    if service.solver == "ok":
        return  # they were loaded before this process was forked
    request = PlanRequest.model_validate(EXAMPLE)
    limits = Settings.model_construct()  # the limits of callers may be smaller than the example
    try:
        make_plan(request.to_domain(limits))
        timed = request.model_copy(update={"time_limit": limits.max_time_limit})
        make_plan(timed.to_domain(limits))
    except Exception:
        # Whatever the cause, this process cannot plan: it stays unready, and the log has the reason.
        _log.exception("the solver does not work")
        service.solver = "failed"
    else:
        service.solver = "ok"
