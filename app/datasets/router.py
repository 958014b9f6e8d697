"""GET /v1/datasets."""

from fastapi import APIRouter, Request

from app.datasets import service
from app.datasets.schemas import DataSetList
from app.http.described import NO_KEY, NO_STORE, problems
from app.http.gate import look_up
from app.http.security import Owner
from app.wire.parameters import KNOWN_PARAMETERS, STRANGE

__all__ = ["router"]

router = APIRouter(prefix="/v1/datasets", tags=["validations"], dependencies=KNOWN_PARAMETERS)


@router.get(
    "",
    operation_id="listDataSets",
    summary="Which data sets validations can train on",
    response_model_exclude_none=True,
    responses=problems(NO_KEY, STRANGE, NO_STORE),
)
async def list_data_sets(request: Request, owner: Owner) -> DataSetList:  # noqa: ARG001 - a key is asked for here too
    """Every data set, and whether a worker has it. Workers look for files every 20 seconds."""
    return await look_up(request, service.list_data_sets)
