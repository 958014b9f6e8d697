"""From the store to a version of a network; versions that were used last are in memory."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from app.http.gate import Service
from app.http.problems import InvalidRequestError
from app.networks.patch import PatchIn
from app.networks.schemas import PatchRequest
from app.networks.store import NetworkStore
from app.networks.stored import Stored, unpacked
from app.wire.arrays import read_plainly
from app.wire.budget import charge
from app.wire.fleet import Translated

__all__ = ["load", "named_network", "network_gone", "used_network"]

# The archive, its arrays, and validated copies of them.
_COPIES = 3


def named_network(service: Service, owner: str, network_id: str, version: int | None, pointer: str = "") -> Translated:
    """The owner's stored network in this version, or in its newest; `pointer` precedes the fields that name it.

    Raises:
        InvalidRequestError: there is no such network, or no such version of it.
    """
    record = NetworkStore(service.store).find(owner, network_id)
    if record is None:
        raise InvalidRequestError.at(f"{pointer}/network_id", "you have no network of this id")
    if version is not None and version > record.version:
        rule = f"is no version of the network; the newest is {record.version}"
        raise InvalidRequestError.at(f"{pointer}/network_version", rule)
    return _given(service, network_id, version or record.version, pointer)


def used_network(service: Service, network_id: str, _: int | None, *, asked: Mapping[str, Any]) -> Translated:
    """The version of a network that a plan or run uses, as it was told, whether its owner has deleted it or not."""
    return _given(service, network_id, asked["network_version"], "")


def _given(service: Service, network_id: str, version: int, pointer: str) -> Translated:
    found = load(service, network_id, version)
    if found is None:
        raise network_gone(pointer)
    return replace(found.given, stored=(network_id, version))


def network_gone(pointer: str = "") -> InvalidRequestError:
    """The network was deleted while a request for it was under way."""
    return InvalidRequestError.at(f"{pointer}/network_id", "the network was deleted meanwhile")


def load(service: Service, network_id: str, version: int) -> Stored | None:
    """A version of a network; None if it is not there."""
    recent = service.networks
    found: Stored | None = recent.get((network_id, version))
    if found is not None:
        charge(found.size, "a stored network")
        return found
    store = NetworkStore(service.store)
    pieces = store.pieces(network_id, version)
    if not pieces:
        return None
    patches: list[PatchIn] = []
    for piece in reversed(pieces):
        found = recent.get((network_id, piece.version))
        if found is not None:
            break
        first = piece is pieces[0]
        charge(_COPIES * piece.bytes, f"a stored network of {piece.bytes} bytes")
        content = store.content(network_id, piece.version)
        if content is None:
            return None
        if first:
            found = unpacked(content)
        else:
            patches.append(read_plainly(PatchRequest, content))
    if found is None:
        return None
    for patch in reversed(patches):
        found = found.patched(patch)
    recent.put((network_id, version), found)
    return found
