"""Whether this process should get requests."""

from app.gate import Service
from app.planning import make_plan
from app.schemas.operations import Readiness
from app.schemas.plan import EXAMPLE, PlanRequest
from app.store import StoreError

__all__ = ["assess", "warm_up"]


def assess(service: Service) -> Readiness:
    """Ask the store, look at the pool."""
    try:
        service.store.ping()
        store = True
    except StoreError:
        store = False
    draining = service.pool.draining
    return Readiness(
        ready=store and service.warm and not draining,
        store="ok" if store else "unavailable",
        solver="ok" if service.warm else "loading",
        draining=draining,
        queue=service.pool.waiting,
    )


def warm_up(service: Service) -> None:
    """Load the compiled kernels with a small plan, so that the first caller does not wait for them."""
    make_plan(PlanRequest.model_validate(EXAMPLE).to_domain(service.settings))
    service.warm = True
