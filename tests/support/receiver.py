"""A receiver of webhooks that fails on purpose, and notes what it was sent."""

import json
import threading
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from types import TracebackType
from typing import Any

__all__ = ["Receiver"]


class Receiver:
    """Refuses the given share of requests, or cuts the connection; `taken` has the events that it took, by resource."""

    def __init__(self, failing: float = 0.0, seed: int = 0) -> None:
        self.taken: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self.requests: list[tuple[dict[str, str], bytes]] = []
        self.redirect = ""
        self._random = Random(seed)
        self._lock = threading.Lock()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status = receiver.take(dict(self.headers), body, failing)
                if status == 0:
                    return  # without an answer
                self.send_response(status)
                if status == 307:
                    self.send_header("Location", receiver.redirect)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/hook"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def take(self, headers: dict[str, str], body: bytes, failing: float) -> int:
        with self._lock:
            self.requests.append((headers, body))
            if self.redirect:
                return 307
            if self._random.random() < failing:
                return self._random.choice((0, 500, 503))
            event = json.loads(body)
            self.taken[event["resource"]].append(event)
            return 204

    def __enter__(self) -> "Receiver":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
