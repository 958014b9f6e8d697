"""Where webhooks may go: only to hosts and networks that the operator lists, checked where they really are.

TargetError     a webhook may not go there
"""

import socket
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network
from typing import Self
from urllib.parse import urlsplit

from app.addresses import Network, is_in, networks_of, plain
from solver.errors import FedsiftError

__all__ = ["Place", "TargetError", "Targets"]

_PORTS = {"http": 80, "https": 443}
# Where the public internet is in IPv6, and the addresses of IPv4 that a translator (NAT64) reaches. `is_global` takes
# more for public, such as fec0::/10 of old networks.
_PUBLIC_IPV6 = IPv6Network("2000::/3")
_TRANSLATED = IPv6Network("64:ff9b::/96")


class TargetError(FedsiftError):
    """A webhook may not go there; `reason` says why without repeating where."""

    def __init__(self, place: str, reason: str) -> None:
        super().__init__(f"{place} {reason}")
        self.reason = reason


@dataclass(frozen=True)
class Place:
    """A URL in its parts."""

    secure: bool
    host: str
    port: int
    path: str


@dataclass(frozen=True)
class Targets:
    """The names and networks that webhooks may go to.

    A name has to be listed, and its address must be public, unless its network is listed too. So nobody who can change
    the address of a listed name can aim a webhook at this network's inside. Beyond listed networks it takes https.
    """

    names: frozenset[str]
    networks: tuple[Network, ...]

    @classmethod
    def of(cls, listed: Iterable[str]) -> Self:
        """Read a list of names and networks, such as `hooks.example` and `10.1.0.0/16`."""
        names: list[str] = []
        networks: list[Network] = []
        for one in listed:
            try:
                networks += networks_of([one])
            except ValueError:
                names.append(one.lower())
        return cls(frozenset(names), tuple(networks))

    def place(self, url: str) -> Place:
        """The parts of a URL whose host is listed.

        Raises:
            TargetError: it is none, or its host is not listed.
        """
        try:
            parts = urlsplit(url)
            host, port = parts.hostname, parts.port
        except ValueError as error:
            raise TargetError(url, f"is no URL: {error}") from error
        plain_text = url.isascii() and url.isprintable() and " " not in url  # no request line has others
        if parts.scheme not in _PORTS or not host or parts.username is not None or not plain_text:
            raise TargetError(url, "is no URL of the form https://host/path")
        if host not in self.names and not is_in(host, self.networks):
            raise TargetError(host, "is not listed in FEDSIFT_WEBHOOK_TARGETS")
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        return Place(parts.scheme == "https", host, port or _PORTS[parts.scheme], path)

    def address(self, place: Place) -> str:
        """The address to connect to; it asks the name service now, since an answer of yesterday proves nothing.

        Raises:
            TargetError: the host cannot be found, or one of its addresses is not allowed.
        """
        try:
            found = socket.getaddrinfo(place.host, place.port, type=socket.SOCK_STREAM)
        except OSError as error:
            raise TargetError(place.host, f"cannot be found: {error}") from error
        addresses = [str(one[4][0]) for one in found]
        for text in addresses:
            if not self._may_connect(place, text):
                raise TargetError(place.host, f"is at {text}, which webhooks may not call")
        return addresses[0]

    def _may_connect(self, place: Place, text: str) -> bool:
        if is_in(text, self.networks):
            return True
        return place.secure and _is_public(plain(text))


def _is_public(address: IPv4Address | IPv6Address) -> bool:
    """Whether it is an address of the public internet, also if IPv6 carries it to one of IPv4."""
    if isinstance(address, IPv6Address):
        if address in _TRANSLATED:
            return _is_public(IPv4Address(int(address) & 0xFFFFFFFF))
        if address not in _PUBLIC_IPV6 or address.sixtofour is not None:
            return False
    return address.is_global and not address.is_multicast
