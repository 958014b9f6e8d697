"""POST /v1/imports: files that people have, as a fleet."""

from fastapi import APIRouter, Request
from fastapi.responses import Response

from app.http.described import JSON_BODY, problems, reads
from app.http.gate import process
from app.http.security import Owner
from app.imports import service
from app.imports.schemas import ImportOut, ImportRequest
from app.wire.parameters import KNOWN_PARAMETERS

__all__ = ["router"]

router = APIRouter(prefix="/v1/imports", tags=["plans"], dependencies=KNOWN_PARAMETERS)

_WRONG = service.not_a_file("links.csv, line 2: to: there is no device 'hub-3'")


@router.post(
    "",
    operation_id="importFleet",
    summary="Make a fleet of a mesh, a graph, or tables of devices and links",
    response_model=ImportOut,
    response_description="The fleet, and what was assumed.",
    responses=problems(*JSON_BODY, _WRONG),
    openapi_extra=reads(ImportRequest),
)
async def import_fleet(request: Request, owner: Owner) -> Response:
    """Read node-link JSON, GraphML, CSV, OLSR or B.A.T.M.A.N. files (docs/import.md). Nothing is kept."""
    return await process(request, owner, service.answer_import)
