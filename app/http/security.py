"""The caller's API key, and the security headers for browsers."""

from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.security import APIKeyHeader

from app.http.gate import Service
from app.http.problems import NotFoundError, UnauthorisedError
from app.keys.store import LOCAL
from app.store import StoreError

__all__ = [
    "DOCS_POLICY",
    "KEY_HEADER",
    "SECURITY_HEADERS",
    "STUDIO_POLICY",
    "Owner",
    "may_read_metrics",
    "no_metrics",
    "unknown_key",
]

KEY_HEADER = "X-API-Key"

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

_header = APIKeyHeader(
    name=KEY_HEADER, auto_error=False, description="Needed on every address but loopback, unless switched off."
)


async def find_owner(request: Request, key: Annotated[str | None, Security(_header)]) -> str:
    """The owner of the caller's key, or the local owner where no key is required."""
    service: Service = request.app.state.service
    return await _known_owner(service, key) if service.settings.needs_key else LOCAL


async def may_read_metrics(request: Request, key: Annotated[str | None, Security(_header)]) -> None:
    """Refuse metrics that are switched off or need a key, which Prometheus sends as `Authorization: Bearer`."""
    service: Service = request.app.state.service
    access = service.settings.metrics_access
    if access == "off":
        raise no_metrics()
    if access == "key":
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        await _known_owner(service, key or (token.strip() if scheme.lower() == "bearer" else None))


async def _known_owner(service: Service, key: str | None) -> str:
    owner = await _owner_of(service, key) if key else None
    if owner is None:
        raise unknown_key()
    return owner


async def _owner_of(service: Service, key: str) -> str | None:
    """Who the key belongs to. While the store does not answer, what it said last counts for a minute."""
    owner = service.keys.remembered(key)
    if owner is not None:
        return owner
    try:
        return await service.executors.keys.run(service.keys.owner_of, key)
    except StoreError:
        owner = service.keys.last_known(key)
        if owner is None:
            raise
        return owner


def unknown_key() -> UnauthorisedError:
    """No API key was sent, or an unknown one."""
    detail = f"send a known key in the header {KEY_HEADER}"
    return UnauthorisedError(detail, headers={"WWW-Authenticate": f'ApiKey header="{KEY_HEADER}"'})


def no_metrics() -> NotFoundError:
    """The settings switch metrics off."""
    return NotFoundError("metrics are switched off")


Owner = Annotated[str, Depends(find_owner)]
