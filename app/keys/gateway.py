"""Owners that a gateway names in a header, after it has signed them on (docs/deployment.md).

GatewayError    the header is there, and is not believed
"""

import hmac
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from app.addresses import Network, is_in, networks_of
from app.keys.store import GATEWAY
from app.settings import Settings
from solver.errors import FedsiftError

__all__ = ["SECRET_HEADER", "Gateway", "GatewayError"]

SECRET_HEADER = "X-Fedsift-Gateway-Secret"  # noqa: S105 - a header's name
_LONGEST_NAME = 256


class GatewayError(FedsiftError):
    """The header is there, and is not believed."""


@dataclass(frozen=True)
class Gateway:
    """Who is believed: a peer in one of the networks, if there are any, that knows the secret, if there is one."""

    header: str
    networks: tuple[Network, ...]
    secret: str

    @classmethod
    def of(cls, settings: Settings) -> Self | None:
        """The gateway of the settings; none by default."""
        if not settings.gateway_header:
            return None
        return cls(settings.gateway_header, networks_of(settings.gateway_addresses), settings.gateway_secret)

    def owner(self, headers: Iterable[tuple[bytes, bytes]], peer: str) -> str | None:
        """The owner that the header names, or None if the request does not have it; `peer` is who is connected.

        Raises:
            GatewayError: the peer is not the gateway, or the header names nobody.
        """
        sent = list(headers)
        names = _values(sent, self.header)
        if not names:
            return None
        if self.networks and not is_in(peer, self.networks):
            raise GatewayError(f"the header {self.header} is the gateway's, and {peer} is not the gateway")
        if self.secret and not _is_secret(_values(sent, SECRET_HEADER), self.secret):
            raise GatewayError(f"the header {self.header} is the gateway's, and {SECRET_HEADER} is missing or wrong")
        if len(names) > 1:
            raise GatewayError(f"the header {self.header} is there {len(names)} times")
        try:
            name = names[0].decode().strip()
        except UnicodeDecodeError:
            name = ""
        if not name or len(name) > _LONGEST_NAME or not name.isprintable():
            raise GatewayError(
                f"the header {self.header} does not name an owner: it takes 1 to {_LONGEST_NAME} printable characters"
            )
        return GATEWAY + name


def _values(headers: Iterable[tuple[bytes, bytes]], name: str) -> list[bytes]:
    wanted = name.lower().encode()
    return [value for header, value in headers if header == wanted]


def _is_secret(sent: list[bytes], secret: str) -> bool:
    return len(sent) == 1 and hmac.compare_digest(sent[0], secret.encode())
