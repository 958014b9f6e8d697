"""POST /v1/comparisons: plans for one network, side by side."""

from fastapi import APIRouter, Request
from fastapi.responses import Response

from app.comparisons import service
from app.comparisons.answer import ComparisonOut
from app.comparisons.request import ComparisonRequest
from app.http.described import JSON_BODY, problems, reads
from app.http.gate import process
from app.http.problems import InvalidRequestError
from app.http.security import Owner
from app.wire.parameters import KNOWN_PARAMETERS

__all__ = ["router"]

router = APIRouter(prefix="/v1/comparisons", tags=["plans"], dependencies=KNOWN_PARAMETERS)

_TOO_MANY = InvalidRequestError.at("/sample_sizes/1", "must be at most the number of devices, 3")


@router.post(
    "",
    operation_id="compare",
    summary="Plan for several samplers, sample sizes, budgets and seeds, and compare",
    response_model=ComparisonOut,
    response_description="A row for each combination, those that no other beats, and means over seeds.",
    responses=problems(*JSON_BODY, _TOO_MANY),
    openapi_extra=reads(ComparisonRequest),
)
async def compare(request: Request, owner: Owner) -> Response:
    """Plan every combination within one time limit. Rows that were not reached in time say so. Nothing is kept."""
    return await process(request, owner, service.answer_comparison)
