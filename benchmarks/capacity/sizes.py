"""What plans of different sizes cost: seconds, memory, and how many a core makes in a second."""

import io
import json
import urllib.request
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from app.networks.archived import NPZ
from benchmarks.service_process import ServerProcess, fedsift_server
from solver.instances import random_network
from solver.network import DEVICE_COLUMNS, LINK_COLUMNS, Network

__all__ = ["costs"]

# Devices, links into each, devices that train, steps: one of them changes at a time.
SIZES = (
    (10, 3, 3, 10),
    (100, 10, 6, 10),
    (100, 10, 6, 75),
    (100, 10, 30, 10),
    (1_000, 10, 6, 10),
    (1_000, 10, 6, 75),
    (1_000, 10, 100, 10),
    (1_000, 100, 6, 10),
    (10_000, 10, 20, 10),
    (100_000, 10, 20, 10),
)
SEED = 7
SECONDS = 4.0
MOST = 200
# More than this is sent as an archive: JSON of it would pass the limit on bodies.
JSON_LINKS = 200_000


def costs(*, smoke: bool) -> list[dict[str, Any]]:
    """A row for each size. Each has a server of its own, so that no memory of another one counts."""
    rows = []
    for size in SIZES[: 1 if smoke else None]:
        # The default budget of memory is for edge sites.
        with fedsift_server(processes="1", memory_budget=str(2**31), max_time_limit="600") as server:
            rows.append(_cost(server, *size))
            print(", ".join(f"{name} {value}" for name, value in rows[-1].items()), flush=True)
    return rows


def _cost(server: ServerProcess, n: int, links: int, sample_size: int, horizon: int) -> dict[str, Any]:
    transmit = (0.0004, 0.006) if n > 10_000 else (0.5, 1.5)
    network = random_network(np.random.default_rng(SEED), n, link_probability=min(1.0, links / n), transmit=transmit)
    asked = {"sample_size": sample_size, "horizon": horizon, "time_limit": 600.0, "seed": SEED}
    request = _request(server.port, network, asked)
    status = _ask(request)  # also loads what the first request loads
    rest = server.resident_mebibytes() or 0.0
    server.reset_peak()
    lowest = server.peak_mebibytes() or 0.0
    seconds: list[float] = []
    before, begin = server.processor_seconds() or 0.0, perf_counter()
    while len(seconds) < 2 or (perf_counter() - begin < SECONDS and len(seconds) < MOST):
        since = perf_counter()
        _ask(request)
        seconds.append(perf_counter() - since)
    used = ((server.processor_seconds() or 0.0) - before) / len(seconds)
    return {
        "n_devices": n,
        "n_links": len(network.links),
        "sample_size": sample_size,
        "horizon": horizon,
        "body": "JSON" if len(network.links) <= JSON_LINKS else "archive",
        "body_mb": round(len(request.data) / 1e6, 3),  # type: ignore[arg-type]
        "status": status,
        "seconds": float(f"{median(seconds):.3g}"),
        "processor_seconds": float(f"{used:.3g}"),
        "rest_mb": round(rest * 1.048576),
        "more_mb": max(0, round(((server.peak_mebibytes() or 0.0) - lowest) * 1.048576)),
        "per_second_and_core": float(f"{1 / max(used, 1e-3):.3g}"),
    }


def _request(port: int, network: Network, asked: dict[str, Any]) -> urllib.request.Request:
    place, kind, body = "/v1/plans", "application/json", b""
    if len(network.links) > JSON_LINKS:
        place, kind = "/v1/plans/binary", NPZ
        arrays = {name: getattr(network.devices, name) for name in DEVICE_COLUMNS}
        arrays |= {name: getattr(network.links, name) for name in LINK_COLUMNS}
        stream = io.BytesIO()
        np.savez(stream, parameters=np.frombuffer(json.dumps(asked).encode(), np.uint8), **arrays)
        body = stream.getvalue()
    else:
        columns = {name: getattr(network.devices, name).round(4).tolist() for name in DEVICE_COLUMNS}
        rows = {name: np.round(getattr(network.links, name), 4).tolist() for name in LINK_COLUMNS}
        document = {"network": {"devices": columns, "topology": {"kind": "links", **rows}}, **asked}
        body = json.dumps(document, separators=(",", ":")).encode()
    return urllib.request.Request(f"http://127.0.0.1:{port}{place}", data=body, headers={"Content-Type": kind})


def _ask(request: urllib.request.Request) -> int:
    with urllib.request.urlopen(request, timeout=600) as answer:  # noqa: S310 - our own server
        answer.read()
        return int(answer.status)
