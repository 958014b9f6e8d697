"""`make bench-limits`: how long a plan with a time limit takes, and how soon a thread is free whose client has left.

Every sampler gets the same time limit on three networks: 2,000 devices with few and with many links, of which half are
sampled, and 10⁵ devices with 10⁶ links. The seconds are a client's, from the first byte sent to the last byte read, and
`processor` is what the server has used of its processors meanwhile, which other work does not lengthen. Then clients
leave at different moments of long plans; the seconds are those until no request has a place any more. The last line is
one JSON object.

Limits: one request after another, on loopback; directed Erdős–Rényi graphs; each number is the median of `--repeats`.
"""

import argparse
import http.client
import io
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from app.networks.archived import NPZ
from benchmarks.machine import describe
from benchmarks.options import parser
from benchmarks.service_process import ServerProcess, fedsift_server
from solver.instances import random_network
from solver.network import DEVICE_COLUMNS, LINK_COLUMNS, Network

__all__: list[str] = []

SEED = 7
LIMIT = 0.5
SAMPLERS = (
    "greedy",
    "greedy:coverage",
    "greedy:surrogate",
    "local_search",
    "local_search:coverage",
    "local_search:surrogate",
    "gcn_branch",
    "gcn_rank",
    "heuristic",
    "random",
)
JSON = "application/json"


@dataclass(frozen=True)
class _Network:
    """A random network, how many of its devices are sampled, the route it takes, and the seconds it should take."""

    n_devices: int
    n_links: int
    sample_size: int
    binary: bool
    wanted: float

    def drawn(self) -> Network:
        """The network itself."""
        probability = self.n_links / (self.n_devices * (self.n_devices - 1))
        generator = np.random.default_rng(SEED)
        return random_network(generator, self.n_devices, link_probability=probability, transmit=(0.0004, 0.006))


NETWORKS = {
    "sparse": _Network(2_000, 20_000, 1_000, binary=False, wanted=1.0),
    "dense": _Network(2_000, 400_000, 1_000, binary=False, wanted=1.0),
    "large": _Network(100_000, 1_000_000, 100, binary=True, wanted=2.0),
}

# What runs when the client leaves: the network, the parameters, and the seconds until then.
DEPARTURES: dict[str, tuple[str, dict[str, Any], float]] = {
    "reading JSON": ("dense", {"sampler": "random"}, 0.05),
    "greedy": ("large", {"sampler": "greedy", "sample_size": 5_000}, 1.5),
    "greedy:surrogate": ("large", {"sampler": "greedy:surrogate"}, 1.5),
    "local_search:surrogate": ("sparse", {"sampler": "local_search:surrogate"}, 1.5),
    "gcn_branch": ("large", {"sampler": "gcn_branch", "sample_size": 20_000}, 0.5),
    "gcn_rank, first features": ("large", {"sampler": "gcn_rank"}, 0.5),
    "gcn_rank": ("large", {"sampler": "gcn_rank"}, 3.0),
    "fast solver": ("dense", {"sampler": "random", "horizon": 100}, 2.0),
    "cvxpy": ("sparse", {"sampler": "random", "sample_size": 50, "solver": "cvxpy", "horizon": 1000}, 2.0),
}


def main() -> int:
    """Ask, print; returns the exit code."""
    command = parser(__doc__)
    command.add_argument("--networks", nargs="*", default=list(NETWORKS), choices=NETWORKS)
    command.add_argument("--samplers", nargs="*", default=list(SAMPLERS))
    command.add_argument("--departures", nargs="*", default=list(DEPARTURES), choices=DEPARTURES)
    command.add_argument("--repeats", type=int, default=3)
    chosen = command.parse_args()
    if chosen.smoke:
        chosen.networks, chosen.departures, chosen.repeats = ["sparse"], ["local_search:surrogate"], 1
    print(describe("numba", "numpy"), f"seed {SEED}", sep=", ", flush=True)
    with fedsift_server(max_time_limit="600", memory_budget="3000000000") as server:
        limits = [case for name in chosen.networks for case in _limits(server, name, chosen)]
        left = [_departure(server, name) for name in chosen.departures]
    print(json.dumps({"limits": limits, "departures": left}))
    return 0


def _limits(server: ServerProcess, name: str, chosen: argparse.Namespace) -> list[dict[str, Any]]:
    shape = NETWORKS[name]
    network = shape.drawn()
    cases = []
    for sampler in chosen.samplers:
        body = _body(network, shape, {"sampler": sampler, "time_limit": LIMIT})
        found = [_timed(server, shape, body) for _ in range(chosen.repeats)]
        case = {"network": name, "n_devices": len(network), "links": len(network.links), "sampler": sampler}
        case |= {"time_limit": LIMIT, "seconds": round(median(seconds for seconds, _ in found), 3)}
        case |= {"longest": round(max(seconds for seconds, _ in found), 3), "wanted": shape.wanted, **found[-1][1]}
        print(", ".join(f"{key} {value}" for key, value in case.items()), flush=True)
        cases.append(case)
    return cases


def _body(network: Network, shape: _Network, changes: Mapping[str, Any]) -> bytes:
    parameters = {"sample_size": shape.sample_size, "horizon": 10, "seed": SEED, **changes}
    devices = {name: getattr(network.devices, name) for name in DEVICE_COLUMNS}
    links = {name: getattr(network.links, name) for name in LINK_COLUMNS}
    if shape.binary:
        stream = io.BytesIO()
        np.savez(stream, parameters=np.frombuffer(json.dumps(parameters).encode(), np.uint8), **devices, **links)
        return stream.getvalue()
    lists = [{name: column.tolist() for name, column in columns.items()} for columns in (devices, links)]
    return json.dumps(
        {"network": {"devices": lists[0], "topology": {"kind": "links", **lists[1]}}, **parameters}
    ).encode()


def _head(shape: _Network) -> tuple[str, dict[str, str]]:
    return ("/v1/plans/binary", {"Content-Type": NPZ}) if shape.binary else ("/v1/plans", {"Content-Type": JSON})


def _timed(server: ServerProcess, shape: _Network, body: bytes) -> tuple[float, dict[str, Any]]:
    """The seconds of a request, and what its answer says of them."""
    path, headers = _head(shape)
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=600)
    used = server.processor_seconds()
    begin = time.perf_counter()
    connection.request("POST", path, body, headers)
    answer = connection.getresponse()
    content = answer.read()
    seconds = time.perf_counter() - begin
    connection.close()
    if answer.status != 200:
        raise RuntimeError(f"the service answers {answer.status}: {content[:500]!r}")
    if shape.binary:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            content = archive["summary"].tobytes()
    told = json.loads(content)
    names = ("sampler_status", "status", "objective", "relative_gap", "set_gap", "timing_ms")
    return seconds, {"processor": _since(server, used), **{name: told[name] for name in names}}


def _since(server: ServerProcess, before: float | None) -> float | None:
    now = server.processor_seconds()
    return None if now is None or before is None else round(now - before, 2)


def _departure(server: ServerProcess, name: str) -> dict[str, Any]:
    """Post a long plan, leave, and wait until no request has a place."""
    port = server.port
    network_name, parameters, after = DEPARTURES[name]
    shape = NETWORKS[network_name]
    path, headers = _head(shape)
    body = _body(shape.drawn(), shape, {"time_limit": 600.0, **parameters})
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    connection.request("POST", path, body, headers)
    _wait(port, lambda admitted: admitted > 0)
    time.sleep(after)
    was = _admitted(port)
    used = server.processor_seconds()
    begin = time.perf_counter()
    connection.close()
    _wait(port, lambda admitted: admitted == 0)
    case = {"running": name, "network": network_name, "left_after": after, "was_running": was > 0}
    case |= {"seconds": round(time.perf_counter() - begin, 3), "processor": _since(server, used)}
    print(", ".join(f"{key} {value}" for key, value in case.items()), flush=True)
    return case


def _wait(port: int, wanted: Callable[[float], bool]) -> None:
    """Ask now and then: each question takes the server some milliseconds of its processors."""
    while not wanted(_admitted(port)):
        time.sleep(0.02)


def _admitted(port: int) -> float:
    """How many requests have a place, in all processes."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    connection.request("GET", "/metrics")
    lines = connection.getresponse().read().decode().splitlines()
    connection.close()
    return next(float(line.split()[1]) for line in lines if line.startswith("fedsift_admitted "))


if __name__ == "__main__":
    raise SystemExit(main())
