"""`python -m benchmarks.chaos.healing`: long runs under churn, on both databases, with servers killed at random.

Devices are lost and come back, data does not arrive, own data, links and budgets change, and now and then all devices
may be swapped. Two servers share a database, and at random one is killed while it answers; the report is then sent to
the other. Every answer is recomputed from the reports (`benchmarks.reported_run`), every replay is compared byte by
byte, and processor time and bytes of the last third of the aggregations are compared with those of the first. The last
line is one JSON object; the status is 1 if anything broke.
"""

import argparse
import json
import signal
import statistics
import sys
import tempfile
import threading
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from benchmarks.chaos.databases import Postgres, Sqlite, open_database
from benchmarks.chaos.processes import cpu_ms, send
from benchmarks.chaos.site import Service, Site, until
from benchmarks.machine import describe
from benchmarks.reported_run import ReportedRun
from solver.instances import BUDGETS, random_network
from solver.network import DEVICE_COLUMNS, LINK_COLUMNS

__all__ = ["Found", "endure"]

# Chances of a period.
_LOST, _BACK, _UNDELIVERED, _KILLED, _CHANGED = 0.05, 0.3, 0.3, 0.1, 0.2
_ANSWER_SECONDS = 120.0


@dataclass
class Found:
    """What a run under churn came to.

    Times are ms of the server's processor time for an aggregation, bytes by how much the database grows; both are
    medians. `interrupted` is how many of the killed servers had not answered yet.
    """

    database: str
    aggregations: int = 0
    replaced: int = 0
    lost: int = 0
    kills: int = 0
    interrupted: int = 0
    replays: int = 0
    ms_first: float = 0.0
    ms_last: float = 0.0
    bytes_first: float = 0.0
    bytes_last: float = 0.0
    broken: list[str] = field(default_factory=list)


class _Churn:
    """Reports at random, that fit the run so far."""

    def __init__(self, reported: ReportedRun, seed: int) -> None:
        self._run, self._random = reported, np.random.default_rng(seed)

    def report(self, k: int, period: int) -> dict[str, Any]:
        """What happened before aggregation k."""
        draw, run = self._random, self._run
        n = run.own.size
        lost = [i for i in range(n) if i not in run.lost and draw.random() < _LOST]
        # Somebody must be left to train and to send.
        lost = lost[: max(n - len(run.lost) - n // 2, 0)]
        back = [i for i in sorted(run.lost) if draw.random() < _BACK]
        told: dict[str, Any] = {"aggregation": k, "gradient_norm": float(0.99**k), "lost": lost, "joined": back}
        pairs = np.argwhere(run.sent > 0)
        late = pairs[draw.random(len(pairs)) < 0.1] if draw.random() < _UNDELIVERED else pairs[:0]
        if len(late):
            arrived = [float(run.sent[a, b] * draw.random()) for a, b in late]
            told["delivered"] = {"source": late[:, 0].tolist(), "target": late[:, 1].tolist(), "datapoints": arrived}
        if draw.random() < _CHANGED:
            some = draw.choice(n, 3, replace=False)
            grown = run.own[some] * draw.uniform(0.9, 1.1, 3)
            told["data"] = {"device": some.tolist(), "datapoints": grown.tolist()}
        if draw.random() < _CHANGED:
            ends = np.argwhere(run.linked)
            rows = ends[draw.choice(len(ends), 5, replace=False)].tolist()
            told["links"] = [
                {"source": a, "target": b, "transmit_cost": run.cost[a, b] * draw.uniform(0.9, 1.1)} for a, b in rows
            ]
        if draw.random() < _CHANGED:
            told["resample"] = {"when": "always", "max_swaps": 2}
        if draw.random() < _CHANGED:
            budget = run.columns["transmit_budget"] * draw.uniform(0.8, 1.25, n)
            told["schedule"] = [{"step": k * period + 1, "devices": {"transmit_budget": budget.tolist()}}]
        return told


class _Servers:
    """Two servers on one database, of which one may be killed at any time."""

    def __init__(self, site: Site, url: str, stack: ExitStack) -> None:
        self._site, self._url, self._stack = site, url, stack
        self.running = [self._start(), self._start()]

    def _start(self) -> Service:
        return self._stack.enter_context(self._site.service(self._url))

    def ask(
        self, which: int, place: str, body: dict[str, Any], *, kill_after: float | None
    ) -> tuple[httpx.Response, int]:
        """Post to one server, and if it is killed meanwhile to the other; returns how many were killed too."""
        victim = self.running[which]
        kill = threading.Timer(kill_after or 0.0, send, ([victim.process.pid], signal.SIGKILL))
        if kill_after is not None:
            kill.start()
        try:
            return _post(victim, place, body), 0
        except httpx.HTTPError:
            return _post(self.running[1 - which], place, body), 1
        finally:
            if kill_after is not None:
                kill.join()
                until(lambda: victim.process.poll() is not None, 60)
                self.running[which] = self._start()


def _post(service: Service, place: str, body: dict[str, Any]) -> httpx.Response:
    with service.client(_ANSWER_SECONDS) as client:
        return client.post(f"{place}/aggregations", json=body)


def endure(kind: str, aggregations: int, devices: int, seed: int = 0, *, kills: int | None = None) -> Found:
    """One run of so many aggregations; `kills` is how often a server is killed (default: at random)."""
    found = Found(kind)
    draw = np.random.default_rng([seed, 1])
    at = set(draw.choice(np.arange(1, aggregations + 1), kills, replace=False).tolist()) if kills is not None else None
    request = _request(devices, aggregations, seed)
    with (
        tempfile.TemporaryDirectory(prefix="healing-") as name,
        open_database(kind, Path(name)) as database,
        ExitStack() as s,
    ):
        servers = _Servers(Site(Path(__file__).parents[2], Path(name)), database.url, s)
        with servers.running[0].client(_ANSWER_SECONDS) as client:
            first = client.post("/v1/runs", json=request).raise_for_status()
        reported = ReportedRun(request)
        reported.take(None, first.json())
        churn = _Churn(reported, seed)
        place, times, sizes = first.headers["location"], [], [_stored(database)]
        for k in range(1, aggregations + 1):
            body = churn.report(k, request["aggregation_period"])
            killed = draw.random() < _KILLED if at is None else k in at
            which = int(draw.integers(2))
            begin = cpu_ms(servers.running[which].process.pid)
            delay = float(draw.uniform(0.0, 0.05)) if killed else None
            answer, interrupted = servers.ask(which, place, body, kill_after=delay)
            if not killed:
                times.append(cpu_ms(servers.running[which].process.pid) - begin)
            found.kills += killed
            found.interrupted += interrupted
            try:
                found.replays += 1
                again = _post(servers.running[k % 2], place, body)
                _take(found, reported, body, answer, again)
            except Exception as error:  # whatever it is, the run is broken, and this says where
                found.broken.append(f"aggregation {k}: {error!r}")
                break
            sizes.append(_stored(database))
    _flatness(found, times, sizes)
    return found


def _take(
    found: Found, reported: ReportedRun, body: dict[str, Any], answer: httpx.Response, again: httpx.Response
) -> None:
    answer.raise_for_status()
    if again.content != answer.content:
        raise RuntimeError("the replay differs")
    found.lost += len(set(body["lost"]))
    found.replaced += len(answer.json()["replaced"])
    found.aggregations += 1
    reported.take(body, answer.json())


def _flatness(found: Found, times: list[float], sizes: list[int]) -> None:
    third = max(len(times) // 3, 1)
    found.ms_first, found.ms_last = statistics.median(times[:third]), statistics.median(times[-third:])
    grown = np.diff(sizes)
    found.bytes_first, found.bytes_last = float(np.median(grown[:third])), float(np.median(grown[-third:]))


def _request(n: int, aggregations: int, seed: int) -> dict[str, Any]:
    receive, transmit = BUDGETS["tight"]
    network = random_network(np.random.default_rng(seed), n, link_probability=0.2, receive=receive, transmit=transmit)
    return {
        "network": {
            "devices": {name: getattr(network.devices, name).tolist() for name in DEVICE_COLUMNS},
            "topology": {"kind": "links", **{name: getattr(network.links, name).tolist() for name in LINK_COLUMNS}},
        },
        "sample_size": 5,
        "horizon": 3 * (aggregations + 1),
        "aggregation_period": 3,
    }


def _stored(database: Sqlite | Postgres) -> int:
    """The bytes of all rows of the run, as quotas count them."""
    return int(database.execute("SELECT COALESCE(SUM(bytes), 0) FROM usage")[0][0])


def main() -> int:
    """Run and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aggregations", type=int, default=100)
    parser.add_argument("--devices", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--database", choices=("sqlite", "postgresql", "both"), default="both")
    chosen = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is ended
    print(describe("fastapi", "uvicorn"))
    kinds = ("sqlite", "postgresql") if chosen.database == "both" else (chosen.database,)
    results = [endure(kind, chosen.aggregations, chosen.devices, chosen.seed) for kind in kinds]
    for one in results:
        told = f"{one.aggregations} aggregations, {one.kills} kills ({one.interrupted} before the answer), "
        told += f"{one.replays} replays, {one.lost} devices lost, "
        told += f"{one.replaced} replaced; {one.ms_first:.0f} → {one.ms_last:.0f} ms, "
        print(f"{one.database}: {told}{one.bytes_first:.0f} → {one.bytes_last:.0f} bytes; {one.broken or 'all holds'}")
    print(json.dumps({one.database: asdict(one) for one in results}))
    return int(any(one.broken for one in results))


if __name__ == "__main__":
    sys.exit(main())
