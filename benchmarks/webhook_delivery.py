"""Webhooks to a receiver that fails: each event delivered at least once, and in order for each resource.

Events of several resources are written as the service writes them, and two couriers deliver them, as two servers would.
The receiver refuses a share of the requests, or cuts the connection without an answer. The command fails if an event is
missing or came before one that it follows.

    python -m benchmarks.webhook_delivery [--events 1000] [--failing 0.3333]
"""

import argparse
import json
import tempfile
import threading
import time
from collections import Counter, defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random

from app.store import Store
from app.store.outbox import announce
from app.webhooks.courier import Courier
from app.webhooks.store import WebhookStore
from app.webhooks.targets import Targets
from benchmarks.machine import describe

__all__ = ["main"]

RESOURCES = 50


class _Flaky(ThreadingHTTPServer):
    """Takes requests, except the given share of them; `taken` has the numbers of events by resource."""

    def __init__(self, failing: float) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.failing = failing
        self.taken: dict[str, list[int]] = defaultdict(list)
        self.outcomes: Counter[str] = Counter()
        self.random = Random(0)  # noqa: S311 - faults are drawn from a seed
        self.lock = threading.Lock()


class _Handler(BaseHTTPRequestHandler):
    server: _Flaky

    def do_POST(self) -> None:
        event = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server = self.server
        with server.lock:
            outcome = "taken"
            if server.random.random() < server.failing:
                outcome = server.random.choice(("refused", "cut before it was taken", "cut after it was taken"))
            server.outcomes[outcome] += 1
            if outcome in {"taken", "cut after it was taken"}:
                server.taken[event["resource"]].append(event["data"]["number"])
        if not outcome.startswith("cut"):
            self.send_response(204 if outcome == "taken" else 503)
            self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def main() -> None:
    """Deliver, check and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=1000)
    parser.add_argument("--failing", type=float, default=1 / 3)
    options = parser.parse_args()
    print(describe())
    with tempfile.TemporaryDirectory() as folder:
        store = Store(f"sqlite:///{folder}/fedsift.db")
        receiver = _Flaky(options.failing)
        threading.Thread(target=receiver.serve_forever, daemon=True).start()
        webhooks = WebhookStore(store)
        webhooks.create("me", f"http://127.0.0.1:{receiver.server_address[1]}/")
        couriers = [Courier(store, Targets.of(["127.0.0.0/8"])) for _ in range(2)]
        begin = time.monotonic()
        for courier in couriers:
            courier.start()
        for number in range(options.events):
            with store.write() as t:
                announce(t, "me", "run.aggregated", f"run_{number % RESOURCES}", {"number": number // RESOURCES})
        while _waiting(store):
            time.sleep(0.2)
        took = time.monotonic() - begin
        for courier in couriers:
            courier.stop()
        receiver.shutdown()
        receiver.server_close()
        store.close()
    for resource, numbers in receiver.taken.items():
        first_seen = list(dict.fromkeys(numbers))
        expected = list(range(len(range(int(resource.removeprefix("run_")), options.events, RESOURCES))))
        if first_seen != expected:
            raise SystemExit(f"{resource}: {first_seen} instead of {expected}")
    distinct = sum(len(set(numbers)) for numbers in receiver.taken.values())
    if distinct != options.events:
        raise SystemExit(f"{distinct} of {options.events} events arrived")
    outcomes = ", ".join(f"{count} {outcome}" for outcome, count in sorted(receiver.outcomes.items()))
    print(f"{distinct} events of {RESOURCES} resources in {took:.1f} s, each at least once and in order: {outcomes}")


def _waiting(store: Store) -> int:
    with store.read() as t:
        return int(t.rows("SELECT COUNT(*) FROM webhook_deliveries WHERE delivered_at IS NULL")[0][0])


if __name__ == "__main__":
    main()
