"""Who calls: an owner that a gateway names or that has an API key. And the security headers for browsers."""

import logging
from collections.abc import Sequence
from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.security import APIKeyHeader

from app.http.gate import Service
from app.http.problems import ForbiddenError, NotFoundError, UnauthorisedError
from app.keys.gateway import GatewayError
from app.keys.store import LOCAL, KeyRecord
from app.store import StoreError

__all__ = [
    "DOCS_POLICY",
    "KEY_HEADER",
    "SECURITY_HEADERS",
    "STUDIO_POLICY",
    "Owner",
    "guide_policy",
    "may_read_metrics",
    "no_metrics",
    "read_only",
    "two_names",
    "unknown_key",
]

_log = logging.getLogger("fedsift.keys")

KEY_HEADER = "X-API-Key"
_READING = frozenset({"GET", "HEAD"})

SECURITY_HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
}
# Swagger UI styles its elements inline; scripts come from this server alone.
DOCS_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; frame-ancestors 'none'"
)
# The studio has no inline script or style; pictures of its charts are made from blobs.
STUDIO_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
    "worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def guide_policy(scripts: Sequence[str]) -> str:
    """The guide's policy: of scripts inside its pages those with these hashes run; icons are data in its styles."""
    own = " ".join(f"'sha256-{digest}'" for digest in scripts)
    return (
        f"default-src 'none'; script-src 'self' {own}; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


_header = APIKeyHeader(
    name=KEY_HEADER, auto_error=False, description="Needed on every address but loopback, unless switched off."
)


async def find_owner(request: Request, key: Annotated[str | None, Security(_header)]) -> str:
    """The owner that the gateway names, or that of the caller's key; the local owner where no key is required.

    Raises:
        UnauthorisedError: no key was sent, or one that is unknown or has expired.
        ForbiddenError: the key may only read, or the header of the gateway is not to be believed.
    """
    service: Service = request.app.state.service
    named = _named_by_gateway(service, request)
    if named is not None:
        if key:
            raise two_names()
        return named
    if not service.settings.needs_key:
        return LOCAL
    record = await _known_key(service, key)
    if record.scope == "read" and request.method not in _READING:
        raise read_only(request.method)
    return record.owner


async def may_read_metrics(request: Request, key: Annotated[str | None, Security(_header)]) -> None:
    """Refuse metrics that are switched off or need a key, which Prometheus sends as `Authorization: Bearer`."""
    service: Service = request.app.state.service
    access = service.settings.metrics_access
    if access == "off":
        raise no_metrics()
    if access == "key":
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        await _known_key(service, key or (token.strip() if scheme.lower() == "bearer" else None))


def _named_by_gateway(service: Service, request: Request) -> str | None:
    if service.gateway is None:
        return None
    peer = request.client.host if request.client else ""
    try:
        return service.gateway.owner(request.headers.raw, peer)
    except GatewayError as error:
        _log.warning("refused an owner in a header", extra={"fields": {"peer": peer, "reason": str(error)}})
        raise ForbiddenError(str(error)) from error


async def _known_key(service: Service, key: str | None) -> KeyRecord:
    record = await _key_of(service, key) if key else None
    if record is None:
        raise unknown_key()
    if service.keys.has_expired(record):
        raise unknown_key("this key has expired: ask for a new one")
    service.keys.used(record)
    return record


async def _key_of(service: Service, key: str) -> KeyRecord | None:
    """What is known of the key. While the store does not answer, what it said last counts for a minute."""
    record = service.keys.remembered(key)
    if record is not None:
        return record
    try:
        return await service.executors.keys.run(service.keys.find, key)
    except StoreError:
        record = service.keys.last_known(key)
        if record is None:
            raise
        return record


def unknown_key(detail: str = f"send a known key in the header {KEY_HEADER}") -> UnauthorisedError:
    """No API key was sent, or one that is unknown or has expired."""
    return UnauthorisedError(detail, headers={"WWW-Authenticate": f'ApiKey header="{KEY_HEADER}"'})


def read_only(method: str) -> ForbiddenError:
    """The key is known and has the scope `read`."""
    return ForbiddenError(f"this key may only read (GET), not {method}: its scope is `read`")


def two_names() -> ForbiddenError:
    """A key and the gateway may name different owners."""
    return ForbiddenError(f"send {KEY_HEADER} or be named by the gateway, not both")


def no_metrics() -> NotFoundError:
    """The settings switch metrics off."""
    return NotFoundError("metrics are switched off")


Owner = Annotated[str, Depends(find_owner)]
