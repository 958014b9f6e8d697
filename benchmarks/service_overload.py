"""`make bench-overload`: ten times what the service can do, for a minute.

First the capacity, with as many clients as the service has threads. Then ten times that rate, open loop. Reported:
the latency of accepted requests and of refused ones, memory before and after, and the latency of the first request
once the load is gone. The last line is one JSON object.

Limits: clients and server share the machine's cores, so `offered_rps` is the rate that was really offered, and
`times_capacity` how many times the capacity that is.
"""

import asyncio
import json
import os
from statistics import median
from typing import Any

from benchmarks.http_load import Load, closed_loop, message, open_loop, percentile
from benchmarks.machine import describe
from benchmarks.options import parser
from benchmarks.service_process import fedsift_server
from benchmarks.service_speed import request_body


def main() -> int:
    """Measure capacity, overload, look again."""
    command = parser(__doc__)
    command.add_argument("--seconds", type=float, default=60.0)
    command.add_argument("--devices", type=int, default=100)
    chosen = command.parse_args()
    seconds = 2.0 if chosen.smoke else chosen.seconds
    print(describe("fastapi", "uvicorn"))
    request = message("/v1/plans", request_body(chosen.devices))
    with fedsift_server() as server:
        calm = asyncio.run(closed_loop(server.port, request, clients=os.cpu_count() or 1, requests=200))
        capacity = len(calm.seconds[200]) / calm.wall
        before = server.resident_mebibytes()
        rate = 10 * capacity
        load = asyncio.run(open_loop(server.port, request, rate=rate, seconds=seconds))
        after = server.resident_mebibytes()
        recovered = asyncio.run(closed_loop(server.port, request, clients=1, requests=20))
    report = _report(capacity, load, recovered) | {"rss_before_mb": before, "rss_after_mb": after}
    print(json.dumps(report))
    return 0


def _report(capacity: float, load: Load, recovered: Load) -> dict[str, Any]:
    answers = {status: len(seconds) for status, seconds in sorted(load.seconds.items())}
    refused = [s for status in (429, 503) for s in load.seconds.get(status, [])]
    accepted = load.seconds.get(200, [])
    offered = sum(answers.values()) / load.wall
    return {
        "capacity_rps": round(capacity, 1),
        "offered_rps": round(offered, 1),
        "times_capacity": round(offered / capacity, 1),
        "answers": answers,
        "accepted_p50_ms": round(1000 * median(accepted), 1),
        "accepted_p99_ms": round(1000 * percentile(accepted, 0.99), 1),
        "refused_p50_ms": round(1000 * median(refused), 1) if refused else None,
        "refused_p99_ms": round(1000 * percentile(refused, 0.99), 1) if refused else None,
        "recovered_first_ms": round(1000 * recovered.seconds[200][0], 1),
        "recovered_p50_ms": round(1000 * median(recovered.seconds[200]), 1),
    }


if __name__ == "__main__":
    raise SystemExit(main())
