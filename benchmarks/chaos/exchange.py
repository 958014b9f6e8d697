"""Requests over HTTP: small plans and validations, and how long an answer takes."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import httpx

from benchmarks.chaos.site import Service

__all__ = ["OPEN", "PLAN", "Answers", "ask", "asked_all_along", "result", "submit", "validation", "wait_for"]

OPEN = {"queued", "running", "cancelling"}

PLAN: dict[str, Any] = {
    "network": {
        "devices": {
            "data": [600, 580, 400],
            "processing_capacity": [2000, 900, 900],
            "processing_cost": [0.8, 1.0, 1.0],
            "receive_capacity": [200, 100, 100],
            "transmit_budget": [80, 60, 60],
        },
        "topology": {
            "kind": "links",
            "source": [1, 2],
            "target": [0, 0],
            "similarity": [0.4, 0.3],
            "transmit_cost": [0.5, 0.5],
        },
    },
    "sample_size": 1,
    "horizon": 4,
}


def validation(seed: int, *, aggregations: int = 20, schemes: tuple[str, ...] = ("ours-offload", "random")) -> Any:
    """A validation on digits that takes seconds."""
    return {
        "source": {"kind": "generator", "devices": 12, "mean_datapoints": 20, "link_probability": 0.4},
        "schemes": list(schemes),
        "seeds": [seed],
        "draws": 1,
        "sample_size": 3,
        "aggregations": aggregations,
        "aggregation_period": 2,
        "target": 0.5,
    }


def ask(service: Service, method: str, path: str, *, seconds: float = 30.0, **options: Any) -> tuple[int, float]:
    """Status and seconds of one request; status 0 if there was no answer in time."""
    begin = time.monotonic()
    try:
        with service.client(seconds) as client:
            status = client.request(method, path, **options).status_code
    except httpx.HTTPError:
        status = 0
    return status, time.monotonic() - begin


def submit(service: Service, body: Any, **headers: str) -> str:
    """Submit a validation; returns its id."""
    with service.client() as client:
        answer = client.post("/v1/validations", json=body, headers=headers)
        answer.raise_for_status()
        return str(answer.json()["id"])


def result(service: Service, validation_id: str) -> dict[str, Any]:
    """A validation as the service shows it."""
    with service.client() as client:
        answer = client.get(f"/v1/validations/{validation_id}")
        answer.raise_for_status()
        found: dict[str, Any] = answer.json()
        return found


def wait_for(service: Service, validation_id: str, patience: float = 180.0) -> dict[str, Any]:
    """The validation at its end, or where it stands after `patience` seconds without progress."""
    found: dict[str, Any] = {"state": "unknown", "progress": -1.0}
    changed = time.monotonic()
    while time.monotonic() - changed < patience:
        with suppress(httpx.HTTPError):
            now = result(service, validation_id)
            if now["state"] not in OPEN:
                return now
            if now["progress"] != found["progress"]:
                changed = time.monotonic()
            found = now
        time.sleep(0.3)
    return found


@dataclass
class Answers:
    """Statuses and seconds of many requests; status 0 stands for no answer in time."""

    statuses: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def note(self, status: int, seconds: float) -> None:
        """One more."""
        self.statuses.append(status)
        self.seconds.append(seconds)

    @property
    def slowest(self) -> float:
        """The longest time that any took, in seconds."""
        return max(self.seconds, default=0.0)

    def __str__(self) -> str:
        counts = {status: self.statuses.count(status) for status in sorted(set(self.statuses))}
        words = [f"{count} × {status or 'no answer'}" for status, count in counts.items()]
        return f"{', '.join(words)}, slowest {self.slowest:.1f} s"


@contextmanager
def asked_all_along(service: Service, *asked: tuple[str, str], seconds: float = 30.0) -> Iterator[dict[str, Answers]]:
    """Ask each path (a plan is POSTed) again and again while the block lasts, each in a thread of its own."""
    stop = threading.Event()
    answers = {path: Answers() for _, path in asked}

    def keep_asking(method: str, path: str) -> None:
        while not stop.is_set():
            options = {"json": PLAN} if method == "POST" else {}
            answers[path].note(*ask(service, method, path, seconds=seconds, **options))
            stop.wait(0.5)

    threads = [threading.Thread(target=keep_asking, args=pair, daemon=True) for pair in asked]
    for thread in threads:
        thread.start()
    try:
        yield answers
    finally:
        stop.set()
        for thread in threads:
            thread.join()
