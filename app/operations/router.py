"""Health, readiness and metrics."""

from importlib.metadata import version

from fastapi import APIRouter, Depends, Request
from fastapi.responses import PlainTextResponse, Response

from app.http.described import NO_KEY, problems
from app.http.security import may_read_metrics, no_metrics
from app.operations.readiness import assess, exposition
from app.operations.schemas import Health, Readiness

__all__ = ["router"]

router = APIRouter(tags=["operations"])


@router.get("/healthz", operation_id="getHealth", summary="The process lives")
async def get_health() -> Health:
    """Answer as long as the process lives."""
    return Health(status="ok", version=version("fedsift"))


@router.get(
    "/readyz",
    operation_id="getReadiness",
    summary="Requests may be sent here",
    responses={503: {"model": Readiness, "description": "Not ready."}},
)
async def get_readiness(request: Request, response: Response) -> Readiness:
    """Whether the store and the validation queue work, the solver is loaded and the service is not shutting down."""
    found = await assess(request.app.state.service)
    response.status_code = 200 if found.ready else 503
    return found


@router.get(
    "/metrics",
    operation_id="getMetrics",
    summary="Prometheus metrics of all server processes",
    response_class=PlainTextResponse,
    dependencies=[Depends(may_read_metrics)],
    responses=problems(NO_KEY, no_metrics()),
)
async def get_metrics(request: Request) -> Response:
    """The exposition format. Where keys are required it takes one, also as `Authorization: Bearer`."""
    text = await exposition(request.app.state.service)
    return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")
