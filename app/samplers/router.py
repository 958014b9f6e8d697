"""GET /v1/samplers."""

from fastapi import APIRouter

from app.http.described import NO_KEY, problems
from app.http.security import Owner
from app.samplers.schemas import SamplerList
from app.wire.parameters import KNOWN_PARAMETERS, STRANGE

__all__ = ["router"]

router = APIRouter(prefix="/v1/samplers", tags=["plans"], dependencies=KNOWN_PARAMETERS)


@router.get(
    "",
    operation_id="listSamplers",
    summary="What can be asked for",
    response_model_exclude_none=True,
    responses=problems(NO_KEY, STRANGE),
)
async def list_samplers(owner: Owner) -> SamplerList:  # noqa: ARG001 - a key is asked for here too
    """The samplers by name, and which is the default."""
    return SamplerList.from_registry()
