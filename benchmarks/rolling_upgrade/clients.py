"""Clients of a site: plans, kept plans, runs and validations, and whether all that was accepted is there at the end."""

import asyncio
import sys
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

import httpx

from benchmarks.chaos.exchange import OPEN, PLAN, validation
from benchmarks.http_load import percentile

__all__ = ["Clients", "Phase"]

_PAUSE = 0.05
_VALIDATIONS = 12


@dataclass
class Phase:
    """What was answered while one thing was replaced."""

    name: str
    statuses: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)

    @property
    def failed(self) -> int:
        """Requests without an answer, or with one that says that the server is to blame."""
        return sum(count for status, count in self.statuses.items() if not status.startswith(("2", "4")))

    def row(self) -> list[str]:
        """For the table."""
        middle, tail = (1000 * percentile(self.seconds, share) for share in (0.5, 0.99))
        return [self.name, f"{len(self.seconds):,}", str(self.failed), f"{middle:.0f}", f"{tail:.0f}"]


@dataclass
class Clients:
    """All clients; half keep their connections, half open one for each request. Nobody tries again."""

    url: str
    validates: bool = True
    phases: list[Phase] = field(default_factory=list)
    accepted: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    aggregations: Counter[str] = field(default_factory=Counter)
    unexpected: list[str] = field(default_factory=list)
    _begun: float = field(default_factory=monotonic)
    _ended: bool = False

    def begin(self, phase: str) -> None:
        """From now on answers count for this phase."""
        self.phases.append(Phase(phase))
        print(f"{monotonic() - self._begun:5.0f} s: {phase}", file=sys.stderr, flush=True)

    def end(self) -> None:
        """Let every client finish its request."""
        self._ended = True

    async def call(self) -> None:
        """Call until `end`."""
        kinds: list[Callable[[httpx.AsyncClient], Awaitable[None]]] = [self._plan, self._keep, self._run]
        clients = [self._client(kind, keep_alive=keep) for kind in kinds for keep in (True, False)]
        if self.validates:
            clients.append(self._client(self._validate, keep_alive=True, pause=1.0))
        await asyncio.gather(*clients)

    async def _client(
        self, work: Callable[[httpx.AsyncClient], Awaitable[None]], *, keep_alive: bool, pause: float = _PAUSE
    ) -> None:
        limits = httpx.Limits() if keep_alive else httpx.Limits(max_keepalive_connections=0)
        async with httpx.AsyncClient(base_url=self.url, timeout=60, limits=limits) as client:
            while not self._ended:
                await work(client)
                await asyncio.sleep(pause)

    async def _ask(self, client: httpx.AsyncClient, path: str, body: Any) -> dict[str, Any] | None:
        begin, phase = monotonic(), self.phases[-1]
        try:
            answer = await client.post(path, json=body)
        except httpx.HTTPError as error:
            status = type(error).__name__
            found = None
        else:
            status = str(answer.status_code)
            found = answer.json() if answer.is_success else None
        phase.statuses[status] += 1
        phase.seconds.append(monotonic() - begin)
        if found is None:
            self.unexpected.append(f"{phase.name}: {path} {status}")
        return found

    async def _plan(self, client: httpx.AsyncClient) -> None:
        await self._ask(client, "/v1/plans", PLAN)

    async def _keep(self, client: httpx.AsyncClient) -> None:
        if found := await self._ask(client, "/v1/plans", {**PLAN, "keep": True}):
            self.accepted["/v1/plans"].append(found["id"])

    async def _run(self, client: httpx.AsyncClient) -> None:
        body = {**PLAN, "horizon": 6, "aggregation_period": 2}
        if not (made := await self._ask(client, "/v1/runs", body)):
            return
        self.accepted["/v1/runs"].append(made["id"])
        for number in (1, 2):
            report = {"aggregation": number, "gradient_norm": 0.5}
            if await self._ask(client, f"/v1/runs/{made['id']}/aggregations", report):
                self.aggregations[made["id"]] += 1

    async def _validate(self, client: httpx.AsyncClient) -> None:
        made = self.accepted["/v1/validations"]
        if len(made) < _VALIDATIONS and (found := await self._ask(client, "/v1/validations", validation(len(made)))):
            made.append(found["id"])

    async def lost(self, patience: float = 600.0) -> list[str]:
        """What was accepted and is not there, or does not come to its end."""
        missing = []
        async with httpx.AsyncClient(base_url=self.url, timeout=60) as client:
            for kind, ids in self.accepted.items():
                for one in ids:
                    answer = await client.get(f"{kind}/{one}")
                    if answer.status_code != 200:
                        missing.append(f"{kind}/{one} {answer.status_code}")
            for run, count in self.aggregations.items():
                listed = (await client.get(f"/v1/runs/{run}/aggregations")).json()
                if len(listed["aggregations"]) < count:
                    missing.append(f"/v1/runs/{run} has fewer aggregations than were acknowledged")
            deadline = monotonic() + patience
            for one in self.accepted["/v1/validations"]:
                state = "queued"
                while state in OPEN and monotonic() < deadline:
                    state = (await client.get(f"/v1/validations/{one}")).json()["state"]
                    await asyncio.sleep(0.3)
                if state != "succeeded":
                    missing.append(f"/v1/validations/{one} {state}")
        return missing
