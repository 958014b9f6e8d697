"""`make bench-service`: the service beside the bare sampler and solver, and beside an empty FastAPI endpoint.

Correctness first: an answer of each size is compared with the plan made in this process. Then, for each size, the
time of the bare sampler and solver in this process, of an empty endpoint that is sent the same body, and of the
service, with 1 and with 32 clients on loopback. `overhead_ratio` is the service's median with this many clients over
the bare time. `scaling` has the throughput of 8 clients over that of one, the median of several rounds, with the
server's processor time for a request and the cores that it used in both: where 8 clients do not bring it to use all
cores, others had them. `front` has the throughput behind our limits on connections over that behind uvicorn's own
protocol, for one process each. `patches` has what it takes to patch a stored network of 10⁵ devices and to plan for it
again, beside sending it anew (`benchmarks.service_patches`). `ready_s` is from process start to a ready `/readyz`,
`rest_mb` the memory of all processes then, `rss_mb` the same at the end; what processes share counts once. The last
line is one JSON object.

Limits: clients and server share the machine's cores; random networks of `solver.instances` (link probability 0.1,
similarities and costs with four decimals, as a caller would send them); links in and out.
"""

import asyncio
import json
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from app.plans.planning import make_plan
from app.plans.request import PlanRequest
from app.settings import Settings
from app.wire.arrays import read_model
from benchmarks.http_load import Load, closed_loop, exchange, message, percentile
from benchmarks.machine import describe
from benchmarks.options import parser
from benchmarks.service_patches import DEVICES, MEMORY, patch_figures
from benchmarks.service_process import ServerProcess, empty_server, fedsift_server, plain_server
from sampler.warm_up import warm_up
from solver.instances import random_network
from solver.network import DEVICE_COLUMNS

__all__ = ["request_body"]

SIZES = (10, 100, 800)
CLIENTS = (1, 32)
MANY = 8
ROUNDS = 5
SEED = 7


def main() -> int:
    """Check, time, print; returns the exit code."""
    smoke = parser(__doc__).parse_args().smoke
    share, rounds, sizes = (100, 1, SIZES[:1]) if smoke else (1, ROUNDS, SIZES)
    print(describe("fastapi", "numba", "numpy", "pydantic", "uvicorn"), f"seed {SEED}", sep=", ")
    warm_up()  # while kernels load, a search in this process may be cut short by its time limit
    with fedsift_server() as server:
        rest = server.resident_mebibytes()
        with empty_server() as empty:
            cases = [case for n in sizes for case in _cases(server, empty, n, max(20, 4000 // (n + 10)) // share)]
        scaling = [_scaling(server, n, max(4 * MANY, 6000 // (n + 10) // share), rounds) for n in sizes]
        resident = server.resident_mebibytes()
    with fedsift_server(processes="1") as ours, plain_server() as plain:
        front = [_front(ours, plain, name, request, 400 // share, rounds=rounds) for name, request in _front_requests()]
    with fedsift_server(memory_budget=MEMORY) as storing:
        patches = patch_figures(storing, rounds, 1_000 if smoke else DEVICES)
    _print_table(cases)
    for row in (*scaling, *front, *patches):
        print(", ".join(f"{name} {value}" for name, value in row.items()))
    report = {
        "cases": cases,
        "scaling": scaling,
        "front": front,
        "patches": patches,
        "ready_s": round(server.ready_seconds, 2),
        "rest_mb": rest,
        "rss_mb": resident,
    }
    print(json.dumps(report))
    return 0


def _scaling(server: ServerProcess, n_devices: int, requests: int, count: int) -> dict[str, Any]:
    """Rounds of one client and of many in turn, so that both see the same machine."""
    request = message("/v1/plans", request_body(n_devices))
    rounds = [(_busy(server, request, 1, requests), _busy(server, request, MANY, requests)) for _ in range(count)]
    one, many = ([pair[i] for pair in rounds] for i in (0, 1))
    figures: dict[str, Any] = {
        "n_devices": n_devices,
        "clients": MANY,
        "rps_of_one": round(median(rps for rps, _ in one), 1),
        "rps": round(median(rps for rps, _ in many), 1),
        "scaling": round(median(b / a for (a, _), (b, _) in rounds), 2),
    }
    for name, row in (("of_one", one), ("of_many", many)):
        used = [(seconds, rps) for rps, seconds in row if seconds is not None]
        if used:
            figures[f"cpu_ms_{name}"] = round(1000 * median(seconds for seconds, _ in used), 1)
            figures[f"cores_{name}"] = round(median(seconds * rps for seconds, rps in used), 2)
    return figures


def _busy(server: ServerProcess, request: bytes, clients: int, requests: int) -> tuple[float, float | None]:
    """Requests a second, and the server's processor time for each."""
    before = server.processor_seconds()
    rps = _throughput(server, request, clients, requests)
    after = server.processor_seconds()
    return rps, None if before is None or after is None else (after - before) / max(1, requests)


def _front_requests() -> list[tuple[str, bytes]]:
    healthy = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    return [("/healthz", healthy), ("/v1/plans", message("/v1/plans", request_body(SIZES[0])))]


def _front(
    ours: ServerProcess, plain: ServerProcess, name: str, request: bytes, requests: int, *, rounds: int
) -> dict[str, Any]:
    pairs = [
        (_throughput(ours, request, MANY, requests), _throughput(plain, request, MANY, requests)) for _ in range(rounds)
    ]
    return {
        "request": name,
        "rps": round(median(a for a, _ in pairs), 1),
        "plain_rps": round(median(b for _, b in pairs), 1),
        "ratio": round(median(a / b for a, b in pairs), 3),
    }


def _throughput(server: ServerProcess, request: bytes, clients: int, requests: int) -> float:
    load = asyncio.run(closed_loop(server.port, request, clients=clients, requests=max(1, requests)))
    if set(load.seconds) != {200}:
        raise RuntimeError(f"answers other than 200: { {s: len(v) for s, v in load.seconds.items()} }")
    return len(load.seconds[200]) / load.wall


def request_body(n_devices: int, sample_size: int = 6, horizon: int = 75) -> bytes:
    """The JSON of a random network's request."""
    network = random_network(np.random.default_rng(SEED), n_devices)
    links = network.links
    topology = {
        "kind": "links",
        "source": links.source.tolist(),
        "target": links.target.tolist(),
        "similarity": links.similarity.round(4).tolist(),
        "transmit_cost": links.transmit_cost.round(4).tolist(),
    }
    columns = {name: getattr(network.devices, name).round(4).tolist() for name in DEVICE_COLUMNS}
    request = {"network": {"devices": columns, "topology": topology}, "sample_size": sample_size, "horizon": horizon}
    return json.dumps(request, separators=(",", ":")).encode()


def _cases(server: ServerProcess, empty: ServerProcess, n_devices: int, requests: int) -> list[dict[str, Any]]:
    body = request_body(n_devices)
    query = read_model(PlanRequest, body).to_domain(Settings())
    expected = make_plan(query).plan
    answer = json.loads(asyncio.run(_ask(server.port, body)))
    if answer["sampled"] != expected.sampled.tolist() or not np.isclose(
        answer["objective"], expected.objective or np.nan
    ):
        raise RuntimeError(f"the service answers N={n_devices} with another plan")
    solver_ms = _milliseconds(lambda: make_plan(query))
    cases = []
    for clients in CLIENTS:
        count = max(requests, 4 * clients)
        nothing = asyncio.run(closed_loop(empty.port, message("/", body), clients=clients, requests=count))
        load = asyncio.run(closed_loop(server.port, message("/v1/plans", body), clients=clients, requests=count))
        cases.append(_figures(n_devices, clients, len(body), solver_ms, nothing=nothing, load=load))
    return cases


def _figures(n: int, clients: int, size: int, solver_ms: float, *, nothing: Load, load: Load) -> dict[str, Any]:
    if set(load.seconds) != {200}:
        raise RuntimeError(f"N={n}: answers other than 200: { {s: len(v) for s, v in load.seconds.items()} }")
    seconds = load.seconds[200]
    p50 = 1000 * median(seconds)
    return {
        "n_devices": n,
        "clients": clients,
        "body_kb": round(size / 1024, 1),
        "p50_ms": round(p50, 2),
        "p99_ms": round(1000 * percentile(seconds, 0.99), 2),
        "rps": round(len(seconds) / load.wall, 1),
        "solver_ms": round(solver_ms, 2),
        "empty_ms": round(1000 * median(nothing.seconds[200]), 2),
        "overhead_ratio": round(p50 / solver_ms, 2),
    }


async def _ask(port: int, body: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**26)
    _, answer = await exchange(reader, writer, message("/v1/plans", body))
    writer.close()
    return answer


def _milliseconds(run: Callable[[], object]) -> float:
    times = []
    for _ in range(15):
        begin = perf_counter()
        run()
        times.append(perf_counter() - begin)
    return 1000 * median(times)


def _print_table(cases: list[dict[str, Any]]) -> None:
    print("  N   clients   p50 ms   p99 ms   requests/s   bare ms   empty ms   ratio")
    for c in cases:
        print(
            f"{c['n_devices']:4d}  {c['clients']:6d} {c['p50_ms']:9.2f} {c['p99_ms']:8.2f} {c['rps']:11.1f} "
            f"{c['solver_ms']:10.2f} {c['empty_ms']:9.2f} {c['overhead_ratio']:8.2f}"
        )


if __name__ == "__main__":
    raise SystemExit(main())
