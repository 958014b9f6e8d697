"""A service that misbehaves on purpose: it stalls, drops connections, loses answers, and passes the rest on."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx

from tests.support.waiting import PATIENCE

__all__ = ["Answer", "Drop", "Lose", "Seen", "Stall", "Unruly", "unruly_service"]


@dataclass(frozen=True)
class Answer:
    """Answer this; if `cut`, announce more bytes than follow and close the connection."""

    status: int = 200
    body: bytes = b"{}"
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "application/json"),)
    cut: bool = False


@dataclass(frozen=True)
class Stall:
    """Say nothing for so long, then close the connection."""

    seconds: float


@dataclass(frozen=True)
class Drop:
    """Close the connection without an answer."""


@dataclass(frozen=True)
class Lose:
    """Pass the request on, and lose the answer."""


@dataclass(frozen=True)
class Seen:
    """A request that arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    at: float


@dataclass
class Unruly:
    """Where it is, what it will do with the next requests, and what it has seen."""

    url: str
    script: list[Answer | Stall | Drop | Lose]
    seen: list[Seen] = field(default_factory=list)


@contextmanager
def unruly_service(*script: Answer | Stall | Drop | Lose, behind: str | None = None) -> Iterator[Unruly]:
    """A service that follows the script, one entry a request; afterwards it passes requests on to the one `behind`."""
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            with lock:
                service.seen.append(Seen(self.command, self.path, headers, body, time.monotonic()))
                act = service.script.pop(0) if service.script else None
            if isinstance(act, Answer):
                self.reply(act)
            elif isinstance(act, Stall | Drop):
                over.wait(act.seconds if isinstance(act, Stall) else 0)
                self.close_connection = True
            else:
                found = self.forwarded(headers, body)
                if isinstance(act, Lose):
                    self.close_connection = True
                else:
                    self.reply(found)

        do_GET = do_POST = do_DELETE = handle_any  # noqa: N815 - http.server prescribes the names

        def reply(self, answer: Answer) -> None:
            self.send_response(answer.status)
            for name, value in answer.headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.body) + 1000 * answer.cut))
            self.end_headers()
            self.wfile.write(answer.body)
            self.close_connection = self.close_connection or answer.cut

        def forwarded(self, headers: dict[str, str], body: bytes) -> Answer:
            assert behind is not None, "the script is at its end"
            kept = {name: value for name, value in headers.items() if name not in {"host", "connection"}}
            found = httpx.request(self.command, behind + self.path, headers=kept, content=body, timeout=PATIENCE)
            names = ("content-type", "location", "idempotent-replay", "retry-after")
            told = tuple((name, found.headers[name]) for name in names if name in found.headers)
            return Answer(found.status_code, found.content, told)

        def log_message(self, *_: object) -> None:
            pass

    over = threading.Event()
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        service = Unruly(f"http://127.0.0.1:{server.server_port}", list(script))
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield service
        finally:
            over.set()
            server.shutdown()
            thread.join()
