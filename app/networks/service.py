"""The work behind /v1/networks: store, show, list, patch, forget."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from starlette.responses import Response

from app.http.answers import digest_of, encoded, find_made, new_id, page, replayed, same_body
from app.http.gate import JSON, Service, Unwritten, check_room
from app.http.problems import ConflictError, NotFoundError, OverloadedError
from app.networks.archived import read_archive
from app.networks.loading import load
from app.networks.schemas import (
    NetworkList,
    NetworkParameters,
    NetworkRequest,
    PatchRequest,
    StoredNetworkOut,
    WholeNetworkOut,
    told,
)
from app.networks.store import NetworkRecord, NetworkStore, NewVersion
from app.networks.stored import Stored, StoredNetwork
from app.store.about import About, KeyTakenError, Made
from app.store.paging import Page
from app.wire.arrays import read_model, read_plainly
from app.wire.base import given
from app.wire.budget import charge

__all__ = [
    "create_binary_network",
    "create_network",
    "delete_network",
    "find_for_patch",
    "get_network",
    "list_networks",
    "patch_network",
]

# So many other patches may come first before one is refused.
_ATTEMPTS = 20


def create_network(service: Service, owner: str, key: str, body: bytes) -> Response | Unwritten:
    """Store a network or fleet; its idempotency key makes it once."""
    request = read_model(NetworkRequest, body)
    digest = digest_of("network", body)
    if made := same_body(find_made(service, owner, key), digest):
        return _made_before(service, owner, made)
    return _new(service, owner, request.to_domain(), request.about(key, digest, {}))


def create_binary_network(service: Service, owner: str, key: str, body: bytes) -> Response | Unwritten:
    """Store the network of an archive."""
    digest = digest_of("binary network", body)
    if made := same_body(find_made(service, owner, key), digest):
        return _made_before(service, owner, made)
    given, parameters = read_archive(body, NetworkParameters)
    return _new(service, owner, StoredNetwork(given), parameters.about(key, digest, {}))


def _new(service: Service, owner: str, stored: Stored, about: About) -> Unwritten:
    _ = stored.given
    now = service.store.now()
    record = NetworkRecord(new_id("net"), now, stored.kind, 1, now, *stored.counts, about)
    answer = encoded(service, StoredNetworkOut(**told(record)))
    keep = NetworkStore(service.store).adding(record, owner, stored.packed(), most_bytes=service.settings.key_bytes)

    def write() -> Response:
        try:
            keep()
        except KeyTakenError:
            made = same_body(find_made(service, owner, about.key or ""), about.digest)
            return write() if made is None else _made_before(service, owner, made)
        service.networks.put((record.id, 1), stored)
        return Response(answer, 201, {"Location": _place(record)}, JSON)

    return Unwritten(write)


def _made_before(service: Service, owner: str, made: Made) -> Response:
    """The answer to the request that made the network, once more."""
    store = NetworkStore(service.store)
    first = store.at(find_network(service, owner, made.id), 1)
    if first is None:
        raise _not_found()
    return replayed(Response(encoded(service, StoredNetworkOut(**told(first))), media_type=JSON), 201, _place(first))


def _place(record: NetworkRecord) -> str:
    return f"/v1/networks/{record.id}"


def patch_network(service: Service, owner: str, network_id: str, key: str, body: bytes) -> Response | Unwritten:
    """Make the next version of a network, or replay the answer of the one that the key made.

    Raises:
        ConflictError: the newest version is not the one expected, or the key was used with another body.
    """
    request = read_plainly(PatchRequest, body)
    patching = _Patching(service, owner, network_id, request, body, key, digest_of("patch", body))
    made = patching.next_version()
    return made if isinstance(made, Response) else Unwritten(partial(patching.write, made))


@dataclass(frozen=True)
class _Patching:
    """A patch of a network that others may patch at the same time."""

    service: Service
    owner: str
    network_id: str
    request: PatchRequest
    body: bytes
    key: str
    digest: str

    def next_version(self) -> tuple[NetworkRecord, Stored] | Response:
        """The version that the patch makes of the newest one, or the answer that it got before."""
        service, store = self.service, NetworkStore(self.service.store)
        record = find_network(service, self.owner, self.network_id)
        if (made := store.made(record, self.key)) is not None:
            same_body(Made(record.id, made[1]), self.digest)
            return replayed(_told(service, made[0]), 200, _place(record))
        expected = self.request.expected_version
        if expected is not None and expected != record.version:
            raise ConflictError(f"version {expected} was expected; the newest is {record.version}")
        before = load(service, self.network_id, record.version)
        if before is None:
            raise _not_found()
        after = before.patched(self.request)
        after.check(self.request, before)
        devices, links = after.counts
        now = max(service.store.now(), record.updated_at)  # also if the clock was set back
        return replace(record, version=record.version + 1, updated_at=now, n_devices=devices, n_links=links), after

    def write(self, made: tuple[NetworkRecord, Stored]) -> Response:
        """Write the version; if another patch was first, apply this one to what that made."""
        service, store = self.service, NetworkStore(self.service.store)
        for _ in range(_ATTEMPTS):
            check_room(service, self.owner)
            record, stored = made
            new = NewVersion(record, self.body, stored.packed, self.key, self.digest)
            if store.add_version(self.owner, new, most_bytes=service.settings.key_bytes):
                service.networks.put((record.id, record.version), stored)
                return _told(service, record)
            again = self.next_version()
            if isinstance(again, Response):
                return again
            made = again
        retry = {"Retry-After": str(service.settings.retry_after)}
        raise OverloadedError("too many others change this network; try again later", headers=retry)


def find_for_patch(service: Service, owner: str, network_id: str, key: str) -> None:
    """Refuse a patch of no network, or one that there is no room for, before it is read."""
    if NetworkStore(service.store).made(find_network(service, owner, network_id), key) is None:
        check_room(service, owner)


def get_network(service: Service, owner: str, network_id: str, version: int, summary: bool) -> Response:  # noqa: FBT001
    """A version of a network, 0 for the newest; with all its devices and links unless `summary`."""
    record: NetworkRecord | None = find_network(service, owner, network_id)
    if record is not None and version:
        record = NetworkStore(service.store).at(record, version)
    if record is None:
        raise NotFoundError("the network has no such version")
    if summary:
        return _told(service, record)
    with service.memory.account():
        stored = load(service, network_id, record.version)
        if stored is None:
            raise _not_found()
        charge(stored.shown_size, f"an answer of {record.n_devices} devices and {record.n_links} links")
        content: dict[str, Any] = {stored.kind: stored.content()}
        whole = WholeNetworkOut.model_construct(**told(record), **content)
        return Response(encoded(service, whole), media_type=JSON)


def list_networks(service: Service, owner: str, asked: Page) -> NetworkList:
    """A page of the owner's networks."""
    shown, more = page(NetworkStore(service.store).page(owner, asked), asked.limit)
    return NetworkList(networks=[StoredNetworkOut(**told(one)) for one in shown], **given(next=more))


def delete_network(service: Service, owner: str, network_id: str) -> None:
    """Forget a network."""
    if not NetworkStore(service.store).delete(owner, network_id):
        raise _not_found()


def find_network(service: Service, owner: str, network_id: str) -> NetworkRecord:
    """The newest version of the owner's network.

    Raises:
        NotFoundError: the owner has no such network.
    """
    record = NetworkStore(service.store).find(owner, network_id)
    if record is None:
        raise _not_found()
    return record


def _told(service: Service, record: NetworkRecord) -> Response:
    return Response(encoded(service, StoredNetworkOut(**told(record))), media_type=JSON)


def _not_found() -> NotFoundError:
    return NotFoundError("you have no network of this id")
