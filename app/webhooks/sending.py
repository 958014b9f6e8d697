"""One attempt to deliver: a signed POST to a checked address, without redirects, that ends in time."""

import hashlib
import hmac
import json
import socket
import ssl
import threading
from contextlib import suppress
from http.client import HTTPConnection, HTTPException

from app.webhooks.store import Delivery
from app.webhooks.targets import Place, TargetError, Targets

__all__ = ["SECONDS", "post", "signature"]

# An attempt may take so long, however slowly the receiver answers.
SECONDS = 10.0


def signature(secret: str, timestamp: int, body: bytes) -> str:
    """HMAC-SHA256 over the timestamp, a dot and the body: a body that was recorded cannot be sent again later."""
    signed = hmac.new(secret.encode(), f"{timestamp}.".encode() + body, hashlib.sha256)
    return f"t={timestamp},v1={signed.hexdigest()}"


def post(delivery: Delivery, targets: Targets) -> tuple[bool, str]:
    """Whether the receiver took it, with a status of 200 to 299, and what it answered."""
    body = delivery.body.encode()
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "fedsift-webhooks",
        "X-Fedsift-Delivery": delivery.id,
        "X-Fedsift-Event": str(json.loads(delivery.body)["event"]),
        "X-Fedsift-Signature": signature(delivery.secret, int(delivery.begun_at), body),
    }
    try:
        place = targets.place(delivery.url)
        connection = _Connection(place, targets.address(place))
        late = threading.Timer(SECONDS, connection.abort)
        late.start()
        try:
            connection.request("POST", place.path, body, headers)
            status = connection.getresponse().status
        finally:
            late.cancel()
            connection.close()
    except TargetError as error:
        return False, str(error)
    except (OSError, HTTPException) as error:
        return False, str(error) or type(error).__name__
    return 200 <= status < 300, str(status)  # a redirect is no delivery: nobody has checked where it leads


class _Connection(HTTPConnection):
    """A connection to an address that was checked, whatever the host's name leads to by now."""

    def __init__(self, place: Place, address: str) -> None:
        super().__init__(place.host, place.port, timeout=SECONDS)
        self._address = address
        self._secure = place.secure

    def connect(self) -> None:
        """Connect to the checked address; the certificate has to be the host's."""
        self.sock = socket.create_connection((self._address, self.port), self.timeout)
        if self._secure:
            self.sock = ssl.create_default_context().wrap_socket(self.sock, server_hostname=self.host)

    def abort(self) -> None:
        """End what another thread waits for."""
        with suppress(OSError, AttributeError):
            self.sock.shutdown(socket.SHUT_RDWR)
