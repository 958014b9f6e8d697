"""Stored networks over the wire."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from app.http.answers import moment
from app.http.problems import InvalidRequestError
from app.networks.archived import ArchiveParameters
from app.networks.patch import PatchIn
from app.networks.store import NetworkRecord
from app.networks.stored import Stored, StoredFleet, StoredNetwork
from app.wire.base import AnswerModel, Optional
from app.wire.fleet import FleetIn, Translated
from app.wire.naming import Named, NamedRequest
from app.wire.network import NetworkIn

__all__ = [
    "NetworkList",
    "NetworkParameters",
    "NetworkRequest",
    "PatchRequest",
    "StoredNetworkOut",
    "WholeNetworkOut",
    "told",
]


class NetworkRequest(NamedRequest):
    """A network or a fleet to store."""

    network: Optional[NetworkIn] = Field(None, description="In the paper's quantities. This, or `fleet`.")
    fleet: Optional[FleetIn] = Field(None, description="In physical units. This, or `network`.")

    def to_domain(self) -> Stored:
        """The network or fleet; a fleet is checked when it is translated."""
        if self.fleet is not None and self.network is not None:
            raise InvalidRequestError.at("/fleet", "give `network` or `fleet`, not both")
        if self.fleet is not None:
            return StoredFleet(self.fleet, "/fleet")
        if self.network is None:
            raise InvalidRequestError.at("/network", "is missing: give `network` or `fleet`")
        return StoredNetwork(Translated.of(self.network))


class NetworkParameters(NamedRequest, ArchiveParameters):
    """The parameters in a binary request."""


class PatchRequest(PatchIn):
    """What changes from the newest version to the next."""

    expected_version: Optional[Annotated[int, Field(ge=1, lt=2**31)]] = Field(
        None, description="The version that the patch is meant for; if another is the newest, it is refused (409)."
    )


class StoredNetworkOut(Named):
    """A version of a stored network."""

    id: str
    version: int
    kind: Literal["network", "fleet"]
    created_at: datetime
    updated_at: datetime = Field(description="When this version was made.")
    n_devices: int
    n_links: int = Field(description="Of a fleet also those that no data may go over.")


class WholeNetworkOut(StoredNetworkOut):
    """A version of a stored network, and the network itself."""

    network: Optional[dict[str, Any]] = Field(None, description="As `network` in a plan's request.")
    fleet: Optional[dict[str, Any]] = Field(None, description="As `fleet` in a plan's request.")


class NetworkList(AnswerModel):
    """Stored networks, oldest first, each in its newest version."""

    networks: list[StoredNetworkOut]
    next: Optional[str] = Field(None, description="Give it as `after` for the next page; absent on the last.")


def told(record: NetworkRecord) -> dict[str, Any]:
    """The fields of `StoredNetworkOut`."""
    return {
        "id": record.id,
        "version": record.version,
        "kind": record.kind,
        "created_at": moment(record.created_at),
        "updated_at": moment(record.updated_at),
        "n_devices": record.n_devices,
        "n_links": record.n_links,
        **record.about.told(),
    }
