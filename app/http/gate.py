"""The way of every request that works: admitted, read, run in the pool, answered."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response

from app.http.body import check_headers, decoded, read_body
from app.http.pool import WorkPool
from app.http.problems import InfeasibleError, InvalidRequestError
from app.keys.ring import KeyRing
from app.plans.planning import InfeasiblePlanError, RefusedPlanError
from app.settings import Settings
from app.store import Store
from app.telemetry.metrics import Metrics
from app.validations.store import ValidationStore
from app.wire.pointers import refusal

__all__ = ["JSON", "Service", "process"]

JSON = "application/json"


@dataclass
class Service:
    """What the routers share in a process."""

    settings: Settings
    pool: WorkPool
    metrics: Metrics
    store: Store
    keys: KeyRing
    solver: Literal["loading", "ok", "failed"] = "loading"
    streams: int = 0
    closing: bool = False

    @property
    def validations(self) -> ValidationStore:
        """The validations of the store."""
        return ValidationStore(self.store)


async def process(
    request: Request,
    owner: str,
    work: Callable[[bytes], Response],
    *,
    content_type: str = JSON,
    limit: int | None = None,
) -> Response:
    """Read the body and let the work, in the pool, make an answer of it."""
    service: Service = request.app.state.service
    most = service.settings.body_limit if limit is None else limit
    encoding, size = check_headers(request, content_type, most)
    with service.pool.admit(owner if service.settings.needs_key else None, size):
        raw = await read_body(request, most, service.settings.body_timeout)
        admitted = time.perf_counter()

        def job() -> Response:
            service.metrics.stages({"queue": time.perf_counter() - admitted})
            try:
                return work(decoded(raw, encoding, most))
            except ValidationError as error:
                raise refusal(error) from None
            except InfeasiblePlanError as error:
                raise InfeasibleError(str(error), error.obstacles) from error
            except RefusedPlanError as error:
                raise InvalidRequestError.at(f"/{error.field}", str(error)) from error

        return await service.pool.run(job)
