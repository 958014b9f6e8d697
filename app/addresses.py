"""Addresses and networks of the Internet protocol, as settings list them."""

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

__all__ = ["Network", "is_in", "is_loopback", "networks_of", "plain"]

Network = IPv4Network | IPv6Network


def networks_of(listed: Iterable[str]) -> tuple[Network, ...]:
    """Networks such as `10.1.0.0/16`, or single addresses.

    Raises:
        ValueError: one of them is none.
    """
    return tuple(ip_network(one, strict=False) for one in listed)


def plain(text: str) -> IPv4Address | IPv6Address:
    """The address; one of IPv4 in the form of IPv6 is what it stands for."""
    address = ip_address(text.partition("%")[0])
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def is_in(text: str, networks: Iterable[Network]) -> bool:
    """Whether it is an address of one of these networks."""
    try:
        address = plain(text)
    except ValueError:
        return False
    return any(address in network for network in networks)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
