"""Receives webhooks and believes only what is signed: `python examples/webhook_receiver.py SECRET [PORT]`.

Register it with `fedsift webhooks create http://127.0.0.1:9000/`, which shows the secret.
"""

import hashlib
import hmac
import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = sys.argv[1].encode()
PORT = int(sys.argv[2]) if len(sys.argv) > 2 else 9000
# A message that is older was perhaps recorded, and is sent again by somebody else.
MOST_SECONDS = 300

seen: set[str] = set()


def is_genuine(header: str, body: bytes) -> bool:
    """Whether `X-Fedsift-Signature` is that of this body, and not too old."""
    try:
        parts = dict(part.split("=", 1) for part in header.split(","))
        age = abs(time.time() - int(parts["t"]))
        expected = hmac.new(SECRET, f"{parts['t']}.".encode() + body, hashlib.sha256).hexdigest()
        return age <= MOST_SECONDS and hmac.compare_digest(expected.encode(), parts["v1"].encode())
    except (KeyError, ValueError):
        return False


class Receiver(BaseHTTPRequestHandler):
    """Answers 204 to what it takes; anything else is sent again later."""

    def do_POST(self) -> None:
        """Take an event. Each comes at least once, those of one resource in order; repeated ones have the same id."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        genuine = is_genuine(self.headers.get("X-Fedsift-Signature", ""), body)
        self.send_response(204 if genuine else 401)
        self.end_headers()
        if genuine and self.headers["X-Fedsift-Delivery"] not in seen:
            seen.add(self.headers["X-Fedsift-Delivery"])
            event = json.loads(body)
            print(event["event"], event["resource"], json.dumps(event["data"]), flush=True)

    def log_message(self, *_: object) -> None:
        """Print events alone."""


ThreadingHTTPServer(("127.0.0.1", PORT), Receiver).serve_forever()
