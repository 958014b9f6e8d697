"""`python -m benchmarks.run_growth`: what an aggregation of a large run costs as the run goes on.

The topology changes at every aggregation: a few links by `patch`, or the whole of it. Prints the server's processor
time and the bytes by which the run grew, for each aggregation, and the medians of the first and the last third. The
last line is one JSON object.
"""

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from benchmarks.chaos.databases import Sqlite
from benchmarks.chaos.processes import cpu_ms
from benchmarks.chaos.site import Site
from benchmarks.machine import describe
from solver.instances import BUDGETS, random_network
from solver.network import DEVICE_COLUMNS, LINK_COLUMNS, Links

__all__ = ["main"]

_SECONDS = 600.0


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--devices", type=int, default=20_000)
    parser.add_argument("--degree", type=float, default=5.0, help="links into a device, on average")
    parser.add_argument("--aggregations", type=int, default=15)
    chosen = parser.parse_args()
    print(describe("fastapi", "uvicorn"))
    found: dict[str, list[dict[str, float]]] = {}
    for kind in ("patch", "topology"):
        with tempfile.TemporaryDirectory(prefix="growth-") as name:
            site = Site(Path(__file__).parents[1], Path(name))
            database = site.sqlite()
            with site.service(database.url) as service, service.client(_SECONDS) as client:
                found[kind] = _grow(client, service.process.pid, database, kind, chosen)
        for k, one in enumerate(found[kind], start=1):
            print(f"{kind} {k}: {one['cpu_ms']:.0f} ms of processor time, {one['bytes']:,} bytes")
        third = max(len(found[kind]) // 3, 1)
        first, last = (
            {name: statistics.median(one[name] for one in part) for name in ("cpu_ms", "bytes")}
            for part in (found[kind][:third], found[kind][-third:])
        )
        print(f"{kind}: {first['cpu_ms']:.0f} → {last['cpu_ms']:.0f} ms, {first['bytes']:,} → {last['bytes']:,} bytes")
    print(json.dumps(found))
    return 0


def _grow(
    client: httpx.Client, pid: int, database: Sqlite, kind: str, chosen: argparse.Namespace
) -> list[dict[str, float]]:
    draw = np.random.default_rng(0)
    receive, transmit = BUDGETS["tight"]
    share = chosen.degree / chosen.devices
    network = random_network(draw, chosen.devices, link_probability=share, receive=receive, transmit=transmit)
    devices = {name: getattr(network.devices, name).tolist() for name in DEVICE_COLUMNS}
    body = {
        "network": {"devices": devices, "topology": _topology(network.links)},
        "sample_size": 10,
        "aggregation_period": 2,
        "horizon": 2 * (chosen.aggregations + 1),
    }
    first = client.post("/v1/runs", json=body).raise_for_status()
    before, found = _stored(database), []
    for k in range(1, chosen.aggregations + 1):
        change = {"step": 2 * k + 1, **_change(kind, network.links, draw)}
        report = {"aggregation": k, "gradient_norm": 1.0, "schedule": [change]}
        begin = cpu_ms(pid)
        answer = client.post(f"{first.headers['location']}/aggregations", json=report).raise_for_status().json()
        spent, after = cpu_ms(pid) - begin, _stored(database)
        found.append({**answer["timing_ms"], "cpu_ms": spent, "bytes": after - before})
        before = after
    return found


def _change(kind: str, links: Links, draw: np.random.Generator) -> dict[str, Any]:
    if kind == "topology":
        return {"topology": {**_topology(links), "transmit_cost": draw.uniform(0.1, 1.0, len(links)).tolist()}}
    some = draw.choice(len(links), 100, replace=False)
    ends = zip(links.source[some].tolist(), links.target[some].tolist(), strict=True)
    rows = [{"source": a, "target": b, "transmit_cost": float(draw.uniform(0.1, 1.0))} for a, b in ends]
    return {"patch": {"links": rows}}


def _topology(links: Links) -> dict[str, Any]:
    return {"kind": "links", **{name: getattr(links, name).tolist() for name in LINK_COLUMNS}}


def _stored(database: Sqlite) -> int:
    return int(database.execute("SELECT COALESCE(SUM(bytes), 0) FROM usage")[0][0])


if __name__ == "__main__":
    sys.exit(main())
