"""Which hosts a request may name.

A page from elsewhere can point a name of its own at 127.0.0.1 (DNS rebinding): then the browser takes the service for
that page's own server. The header `Host` still has the page's name. So a service that needs no keys because it listens
on loopback answers only to loopback's names.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from app.addresses import is_loopback
from app.http.problems import MisdirectedError
from app.settings import Settings

__all__ = ["ServedHosts", "misdirected"]


@dataclass(frozen=True)
class ServedHosts:
    """The names beside loopback's; `anything` means that every host is served."""

    names: frozenset[str]
    anything: bool

    @classmethod
    def of(cls, settings: Settings) -> "ServedHosts":
        """Loopback without keys, or a list of names, limits the hosts."""
        names = frozenset(name.lower() for name in settings.allowed_hosts)
        exposed = is_loopback(settings.host) and not settings.needs_key
        return cls(names, anything=not names and not exposed)

    def serve(self, headers: Iterable[tuple[bytes, bytes]]) -> bool:
        """Whether a request with these headers is served. One without `Host` is: browsers always send it."""
        return self.anything or all(self._serve_one(value) for name, value in headers if name == b"host")

    def _serve_one(self, value: bytes) -> bool:
        text = value.decode("latin-1").lower()
        # With or without a port; addresses of IPv6 are in brackets.
        name = text[1:].partition("]")[0] if text.startswith("[") else text.partition(":")[0]
        return is_loopback(name) or name in self.names


def misdirected() -> MisdirectedError:
    """The request names another host."""
    return MisdirectedError("the header Host must name this machine's loopback or one of FEDSIFT_ALLOWED_HOSTS")
