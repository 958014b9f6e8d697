"""`make bench-large`: networks of 10⁵ and 10⁶ devices through the binary route, beside the bare sampler and solver.

Correctness first: the answer's transfers are held to the request's budgets, recomputed here, and its objective to the
plan made in this process. Then the service's seconds over the bare ones, and over those that are not sampling, solving
or bounding (`read_parse_s`: the body is sent, read and parsed, and the answer comes back); the stages as the service
saw them; and the peak memory of all its processes, each with what it shares. The last line is one JSON object.

Limits: one request of each size, on loopback; a directed Erdős–Rényi graph with ten links per device; S = 20, T = 10.
"""

import io
import json
import urllib.request
from collections.abc import Mapping
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.networks.archived import NPZ
from app.plans.planning import make_plan
from app.plans.request import BinaryParameters
from app.settings import Settings
from benchmarks.machine import describe
from benchmarks.options import parser
from benchmarks.service_process import ServerProcess, fedsift_server
from solver.instances import random_network
from solver.network import DEVICE_COLUMNS, LINK_COLUMNS, Network

__all__: list[str] = []

SIZES = (100_000, 1_000_000)
LINKS_PER_DEVICE = 10
SEED = 7
# 10⁶ devices with 10⁷ links do not fit the default, which is for edge sites.
MEMORY_BUDGET = 6_000_000_000
# Both plans must come to their own end, or they need not be equal.
PARAMETERS = {"sample_size": 20, "horizon": 10, "seed": SEED, "time_limit": 600.0}


def main() -> int:
    """Ask, check, print; returns the exit code."""
    command = parser(__doc__)
    command.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    command.add_argument("--sampler", default="greedy")
    chosen = command.parse_args()
    sizes = (1_000,) if chosen.smoke else chosen.sizes
    print(describe("numba", "numpy"), f"seed {SEED}", sep=", ")
    with fedsift_server(memory_budget=str(MEMORY_BUDGET), max_time_limit="600") as server:
        cases = [_case(server, n, chosen.sampler) for n in sizes]
    for case in cases:
        print(", ".join(f"{name} {value}" for name, value in case.items()))
    print(json.dumps({"cases": cases}))
    return 0


def _case(server: ServerProcess, n_devices: int, sampler: str) -> dict[str, Any]:
    network = random_network(
        np.random.default_rng(SEED), n_devices, link_probability=LINKS_PER_DEVICE / n_devices, transmit=(0.0004, 0.006)
    )
    parameters = {**PARAMETERS, "sampler": sampler}
    body = _archive(network, parameters)
    begin = perf_counter()
    answer = _ask(server.port, body)
    seconds = perf_counter() - begin
    summary = json.loads(answer["summary"].tobytes())
    _check_budgets(network, answer)
    query = BinaryParameters.model_validate(parameters).query(network, Settings(max_time_limit=600))
    begin = perf_counter()
    expected = make_plan(query).plan
    bare = perf_counter() - begin
    if answer["sampled"].tolist() != expected.sampled.tolist() or not np.isclose(
        summary["objective"], expected.objective or np.nan
    ):
        raise RuntimeError(f"the service answers N={n_devices} with another plan")
    timing = summary["timing_ms"]
    read_parse = seconds - sum(timing[stage] for stage in ("sample", "solve", "bound")) / 1000
    return {
        "n_devices": n_devices,
        "n_links": len(network.links),
        "body_mb": round(len(body) / 2**20, 1),
        "transfers": int(answer["source"].size),
        "status": summary["status"],
        "relative_gap": summary["relative_gap"],
        "seconds": round(seconds, 2),
        "bare_seconds": round(bare, 2),
        "overhead_ratio": round(seconds / bare, 2),
        "read_parse_s": round(read_parse, 2),
        "over_read_parse": round(seconds / read_parse, 2),
        "timing_ms": timing,
        "peak_mb": server.peak_mebibytes(),
    }


def _archive(network: Network, parameters: Mapping[str, Any]) -> bytes:
    arrays = {name: getattr(network.devices, name) for name in DEVICE_COLUMNS}
    arrays |= {name: getattr(network.links, name) for name in LINK_COLUMNS}
    stream = io.BytesIO()
    np.savez(stream, parameters=np.frombuffer(json.dumps(parameters).encode(), np.uint8), **arrays)
    return stream.getvalue()


def _ask(port: int, body: bytes) -> dict[str, NDArray[Any]]:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/v1/plans/binary", data=body, headers={"Content-Type": NPZ}
    )
    with urllib.request.urlopen(request, timeout=600) as answer:  # noqa: S310
        content = answer.read()
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        return dict(archive)


def _check_budgets(network: Network, answer: Mapping[str, NDArray[Any]]) -> None:
    """Every step's transfers against eqs. (5)-(8), from the request's own numbers."""
    n = len(network)
    devices, links = network.devices, network.links
    key = links.target * n + links.source
    sampled = answer["sampled"]
    for t, (begin, end) in enumerate(zip(answer["offsets"], answer["offsets"][1:], strict=False)):
        source, target, fraction = (answer[name][begin:end] for name in ("source", "target", "fraction"))
        link = np.searchsorted(key, target * n + source)
        if not np.array_equal(key[link], target * n + source) or not np.isin(target, sampled).all():
            raise RuntimeError(f"step {t + 1} sends where there is no link")
        sent = np.bincount(source, fraction, n)
        spent = np.bincount(source, fraction * devices.data[source] * links.transmit_cost[link], n)
        received = answer["received"][t]
        held = answer["sampled_data"][t]
        broken = (
            (sent > 1 + 1e-6).any()
            or (spent > devices.transmit_budget * (1 + 1e-6) + 1e-6).any()
            or (received > devices.receive_capacity[sampled] * (1 + 1e-6)).any()
            or (devices.processing_cost[sampled] * held > devices.processing_capacity[sampled] * (1 + 1e-6)).any()
        )
        if broken:
            raise RuntimeError(f"step {t + 1} breaks a budget")


if __name__ == "__main__":
    raise SystemExit(main())
