"""Clients of the soak: some well-behaved, some slow, some hostile; each runs in a thread of its own."""

import random
import threading
import uuid
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import Any

import httpx

from benchmarks.chaos.exchange import PLAN, Answers, ask
from benchmarks.chaos.hostile import BODIES
from benchmarks.chaos.raw_socket import connect
from benchmarks.chaos.site import Service

__all__ = ["GIVE_UP_SECONDS", "Clients"]

GIVE_UP_SECONDS = 60.0  # far beyond what is allowed: an answer that takes so long counts as none
_OPEN_AT_MOST = 6


@dataclass
class Clients:
    """What was asked and answered; `accepted` has the number of its body for each validation."""

    service: Service
    bodies: list[Any]
    seed: int
    accepted: dict[str, int] = field(default_factory=dict)
    refused: int = 0
    plans: Answers = field(default_factory=Answers)
    reads: Answers = field(default_factory=Answers)
    attacks: dict[str, Answers] = field(default_factory=dict)

    def submit(self, stop: threading.Event) -> None:
        """Submit validations, each with a key of its own, and again with the same key if there was no answer."""
        chosen = random.Random(self.seed)
        while not stop.wait(chosen.uniform(0.5, 2)):
            if self._open() >= _OPEN_AT_MOST:
                continue
            number = chosen.randrange(len(self.bodies))
            headers = {"Idempotency-Key": uuid.uuid4().hex}
            for _ in range(20):
                status, found = self._post(self.bodies[number], headers)
                if status in {200, 202}:
                    self.accepted[found] = number
                    break
                self.refused += 1
                if stop.wait(1):
                    return

    def plan(self, stop: threading.Event) -> None:
        """Ask for small plans, every third to be kept."""
        chosen = random.Random(self.seed + 1)
        while not stop.wait(chosen.uniform(0.1, 0.6)):
            body = PLAN | ({"keep": True} if chosen.random() < 1 / 3 else {})
            self.plans.note(*ask(self.service, "POST", "/v1/plans", seconds=GIVE_UP_SECONDS, json=body))

    def read(self, stop: threading.Event) -> None:
        """Ask for what is stored and for the state of the service."""
        chosen = random.Random(self.seed + 2)
        paths = ("/readyz", "/healthz", "/metrics", "/v1/validations", "/v1/runs")
        while not stop.wait(chosen.uniform(0.2, 1)):
            known = [f"/v1/validations/{one}" for one in list(self.accepted)[-3:]]
            path = chosen.choice((*paths, *known))
            self.reads.note(*ask(self.service, "GET", path, seconds=GIVE_UP_SECONDS))

    def dawdle(self, stop: threading.Event) -> None:
        """Slow bodies, half headers and answers that are not read, some seconds each."""
        chosen = random.Random(self.seed + 3)
        head = f"POST /v1/plans HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-Key: {self.service.key}\r\n"
        typed = f"{head}Content-Type: application/json\r\n"
        starts = (
            f"{typed}Content-Length: 5000\r\n\r\n{{",
            f"{typed}Transfer-Encoding: chunked\r\n\r\n1\r\n{{\r\n",
            f"{head}X-Half: ",
            f"GET /openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-Key: {self.service.key}\r\n\r\n" * 20,
            "",
        )
        while not stop.wait(chosen.uniform(1, 5)):
            with ExitStack() as stack:
                for _ in range(chosen.randint(1, 20)):
                    with suppress(OSError):
                        stack.enter_context(connect(self.service, chosen.choice(starts).encode()))
                stop.wait(chosen.uniform(1, 10))

    def attack(self, stop: threading.Event) -> None:
        """Send hostile bodies, one at a time."""
        chosen = random.Random(self.seed + 4)
        while not stop.wait(chosen.uniform(2, 8)):
            name = chosen.choice(sorted(BODIES))
            path, content, headers = BODIES[name]()
            found = ask(self.service, "POST", path, seconds=GIVE_UP_SECONDS, content=content, headers=headers)
            self.attacks.setdefault(name, Answers()).note(*found)

    def _open(self) -> int:
        with suppress(httpx.HTTPError, KeyError, ValueError), self.service.client(GIVE_UP_SECONDS) as client:
            listed = client.get("/v1/validations", params={"limit": 50}).json()["validations"]
            return sum(one["state"] in {"queued", "running"} for one in listed)
        return _OPEN_AT_MOST

    def _post(self, body: Any, headers: dict[str, str]) -> tuple[int, str]:
        with suppress(httpx.HTTPError), self.service.client(GIVE_UP_SECONDS) as client:
            answer = client.post("/v1/validations", json=body, headers=headers)
            return answer.status_code, str(answer.json().get("id", ""))
        return 0, ""
