"""Where webhooks may go: only to hosts and networks that the operator lists, checked where they really are.

TargetError     a webhook may not go there
"""

import socket
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Self
from urllib.parse import urlsplit

from solver.errors import FedsiftError

__all__ = ["Place", "TargetError", "Targets"]

_PORTS = {"http": 80, "https": 443}


class TargetError(FedsiftError):
    """A webhook may not go there."""


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
    networks: tuple[IPv4Network | IPv6Network, ...]

    @classmethod
    def of(cls, listed: Iterable[str]) -> Self:
        """Read a list of names and networks, such as `hooks.example` and `10.1.0.0/16`."""
        names, networks = [], []
        for one in listed:
            try:
                networks.append(ip_network(one, strict=False))
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
            raise TargetError(f"{url} is no URL: {error}") from error
        if parts.scheme not in _PORTS or not host or parts.username is not None or not url.isascii():
            raise TargetError(f"{url} is no URL of the form https://host/path")
        if host not in self.names and not self._is_listed_address(host):
            raise TargetError(f"{host} is not listed in FEDSIFT_WEBHOOK_TARGETS")
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
            raise TargetError(f"{place.host} cannot be found: {error}") from error
        addresses = [str(one[4][0]) for one in found]
        for text in addresses:
            if not self._may_connect(place, text):
                raise TargetError(f"{place.host} is at {text}, which webhooks may not call")
        return addresses[0]

    def _may_connect(self, place: Place, text: str) -> bool:
        address = _plain(text)
        if any(address in network for network in self.networks):
            return True
        return place.secure and address.is_global and not address.is_multicast

    def _is_listed_address(self, host: str) -> bool:
        try:
            address = _plain(host)
        except ValueError:
            return False
        return any(address in network for network in self.networks)


def _plain(text: str) -> IPv4Address | IPv6Address:
    """The address; one of IPv4 in the form of IPv6 is what it stands for."""
    address = ip_address(text.partition("%")[0])
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address
