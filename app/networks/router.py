"""/v1/networks: networks and fleets that are stored, with versions."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response
from starlette.convertors import Convertor, register_url_convertor

from app.http.answers import check_room_for
from app.http.described import JSON_BODY, NO_KEY, NO_ROOM, NO_STORE, body_problems, problems, reads
from app.http.gate import look_up, process
from app.http.problems import ConflictError, InvalidRequestError, NotFoundError
from app.http.security import Owner
from app.networks import service
from app.networks.archived import NPZ
from app.networks.schemas import NetworkList, NetworkRequest, PatchRequest, StoredNetworkOut, WholeNetworkOut
from app.wire.parameters import EMPTY_PAGE, KNOWN_PARAMETERS, LOCATION, STRANGE, IdempotencyKey, PageAsked

__all__ = ["router"]


class _NetworkConvertor(Convertor[str]):
    """Matches only ids of networks: otherwise GET /v1/networks/binary would look for a network called "binary"."""

    regex = "net_[0-9a-f]{32}"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("network", _NetworkConvertor())

router = APIRouter(prefix="/v1/networks", tags=["networks"], dependencies=KNOWN_PARAMETERS)

NetworkId = Annotated[str, Path(pattern="^net_[0-9a-f]{32}$", description="As POST /v1/networks answered.")]
Version = Annotated[int, Query(ge=0, lt=2**31, description="Which version; 0 is the newest.")]
Summary = Annotated[bool, Query(description="Leave the devices and links out.")]

_BYTES = {"type": "string", "format": "binary"}
_MADE: dict[int | str, dict[str, Any]] = {201: {"headers": LOCATION}}
_NO_NETWORK = NotFoundError("you have no network of this id")
_USED_KEY = ConflictError("this Idempotency-Key was used with another body")
_MOVED_ON = ConflictError("version 1 was expected; the newest is 2")
_NEITHER = InvalidRequestError.at("/network", "is missing: give `network` or `fleet`")
_NO_ARRAY = InvalidRequestError.at("/data", "is missing")
_NO_DEVICE = InvalidRequestError.at("/devices/0/id", "is the id of no device")
_ARCHIVE_BODY = body_problems("the body is not an archive of plain arrays", NPZ)


@router.post(
    "",
    status_code=201,
    operation_id="createNetwork",
    summary="Store a network or fleet",
    response_model=StoredNetworkOut,
    responses={**_MADE, **problems(*JSON_BODY, _USED_KEY, _NEITHER, NO_ROOM)},
    openapi_extra=reads(NetworkRequest),
)
async def create_network(request: Request, owner: Owner, key: IdempotencyKey = "") -> Response:
    """Keep it as version 1; plans, runs and validations then name its id."""
    return await process(request, owner, service.create_network, key, first=check_room_for)


@router.post(
    "/binary",
    status_code=201,
    operation_id="createBinaryNetwork",
    summary="The same for a large network, as an .npz archive",
    response_model=StoredNetworkOut,
    responses={**_MADE, **problems(*_ARCHIVE_BODY, _USED_KEY, _NO_ARRAY, NO_ROOM)},
    openapi_extra={"requestBody": {"required": True, "content": {NPZ: {"schema": _BYTES}}}},
)
async def create_binary_network(request: Request, owner: Owner, key: IdempotencyKey = "") -> Response:
    """Plain arrays as for POST /v1/plans/binary; docs/networks.md names them."""
    return await process(request, owner, service.create_binary_network, key, content_type=NPZ, first=check_room_for)


@router.get(
    "",
    operation_id="listNetworks",
    summary="List stored networks",
    response_model_exclude_none=True,
    responses=problems(NO_KEY, EMPTY_PAGE, NO_STORE),
)
async def list_networks(request: Request, owner: Owner, page: PageAsked) -> NetworkList:
    """The networks that the caller stores, oldest first, each in its newest version."""
    return await look_up(request, service.list_networks, owner, page)


@router.get(
    "/{network_id:network}",
    operation_id="getNetwork",
    summary="A stored network",
    response_model=WholeNetworkOut,
    responses=problems(NO_KEY, _NO_NETWORK, STRANGE, NO_STORE),
)
async def get_network(
    request: Request, owner: Owner, network_id: NetworkId, version: Version = 0, *, summary: Summary = False
) -> Response:
    """The newest version, or the one asked for, with all its devices and links."""
    return await look_up(request, service.get_network, owner, network_id, version, summary)


@router.patch(
    "/{network_id:network}",
    operation_id="patchNetwork",
    summary="Change a stored network",
    response_model=StoredNetworkOut,
    responses=problems(*JSON_BODY, _NO_NETWORK, _MOVED_ON, _NO_DEVICE, NO_ROOM),
    openapi_extra=reads(PatchRequest),
)
async def patch_network(request: Request, owner: Owner, network_id: NetworkId, key: IdempotencyKey = "") -> Response:
    """Make the next version. Versions are never changed; with `expected_version` no other writer is overwritten."""
    return await process(request, owner, service.patch_network, network_id, key, first=service.find_for_patch)


@router.delete(
    "/{network_id:network}",
    status_code=204,
    operation_id="deleteNetwork",
    summary="Forget a stored network",
    responses=problems(NO_KEY, _NO_NETWORK, STRANGE, NO_STORE),
)
async def delete_network(request: Request, owner: Owner, network_id: NetworkId) -> None:
    """With all its versions. Plans, runs and validations that use it go on."""
    await look_up(request, service.delete_network, owner, network_id)
