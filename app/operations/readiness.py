"""Whether this process should get requests."""

import logging

from app.http.gate import Service
from app.operations.schemas import Readiness
from app.plans.planning import make_plan
from app.plans.request import EXAMPLE, PlanRequest
from app.store import StoreError

__all__ = ["assess", "exposition", "warm_up"]

_log = logging.getLogger("fedsift")


def assess(service: Service) -> Readiness:
    """Ask the store and the pool."""
    try:
        workers = service.live_workers()
        store = True
    except StoreError:
        workers = 0
        store = False
    draining = service.pool.draining
    return Readiness(
        ready=store and service.solver == "ok" and not draining,
        store="ok" if store else "unavailable",
        solver=service.solver,
        draining=draining,
        queue=service.pool.waiting,
        # Not a reason to send requests elsewhere: validations wait until a worker comes.
        validations="unavailable" if not store else "ok" if workers else "no_workers",
        workers=workers,
    )


def exposition(service: Service) -> bytes:
    """The metrics in Prometheus' exposition format; those of validations are read from the store."""
    return service.metrics.text()


def warm_up(service: Service) -> None:
    """Load the compiled kernels with small plans, so that the first caller does not wait for them."""
    request = PlanRequest.model_validate(EXAMPLE)
    try:
        make_plan(request.to_domain(service.settings))
        make_plan(request.model_copy(update={"time_limit": 60.0}).to_domain(service.settings))
    except Exception:
        # Whatever the cause, this process cannot plan: it stays unready, and the log has the reason.
        _log.exception("the solver does not work")
        service.solver = "failed"
    else:
        service.solver = "ok"
