"""`python -m benchmarks.service_memory`: how far requests that just fit the memory budget raise a real server.

Each shape of request grows until the server refuses it (413). The largest that was answered is sent once more to a
fresh server. With the default budget its peak above rest must stay within 400 MB; with another one (`--budget`), within
as much above the budget. The last line is one JSON object; the status is 1 if a shape passes its bound.

Limits: one request at a time, on loopback; a refusal says what was estimated, an answer only that it fitted.
"""

import argparse
import json
import sys
import time
import urllib.error
import urllib.request
from typing import Any

from app.settings import Settings
from benchmarks.machine import describe
from benchmarks.request_shapes import SHAPES, Sent
from benchmarks.service_process import ServerProcess, fedsift_server

__all__: list[str] = []

DEFAULT = Settings.model_fields["memory_budget"].default
# What may be above rest: the budget, and what no estimate covers.
MOST_ABOVE_BUDGET = 400e6 - DEFAULT
# The search ends when the smallest refused request is at most so much larger than the largest answered one.
CLOSE = 1.2


def main() -> int:
    """Grow, measure, print; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shapes", nargs="*", default=list(SHAPES), metavar="SHAPE", help=f"of {', '.join(SHAPES)}")
    parser.add_argument("--budget", type=int, default=DEFAULT, help="FEDSIFT_MEMORY_BUDGET")
    chosen = parser.parse_args()
    print(describe("numpy", "numba"), f"budget {chosen.budget}", sep=", ")
    most = round((chosen.budget + MOST_ABOVE_BUDGET) / 1e6)
    rows = [_measure(name, str(chosen.budget)) for name in chosen.shapes]
    print("| request | largest that fits | answer | MB above rest |\n|---|---|---|---|")
    for row in rows:
        print(f"| {row['request']} | {row['size']} | {row['status']} in {row['seconds']} s | {row['megabytes']} |")
    held = all(row["megabytes"] <= most for row in rows)
    print(json.dumps({"rows": rows, "most_megabytes": most, "holds": held}))
    return 0 if held else 1


def _measure(name: str, budget: str) -> dict[str, Any]:
    shape = SHAPES[name]
    with fedsift_server(memory_budget=budget) as server:
        size = shape.smallest
        while (bigger := 2 * size) <= shape.largest and _post(server, shape.make(bigger))[0] != 413:
            size = bigger
        refused = bigger
        while refused > CLOSE * size and refused > size + 1:
            middle = int((size * refused) ** 0.5)
            if _post(server, shape.make(middle))[0] == 413:
                refused = middle
            else:
                size = middle
    with fedsift_server(memory_budget=budget) as server:
        _post(server, shape.make(shape.smallest))  # what is loaded or compiled at first use is part of the rest
        server.reset_peak()
        rest = server.peak_mebibytes() or 0.0
        status, seconds = _post(server, shape.make(size))
        more = ((server.peak_mebibytes() or 0.0) - rest) * 2**20 / 1e6
    print(f"{name}: {size}, {status}, {more:.0f} MB", file=sys.stderr, flush=True)
    what = shape.what.format(f"{size:,}")
    return {
        "name": name,
        "request": shape.words,
        "size": what,
        "status": status,
        "seconds": seconds,
        "megabytes": round(more),
    }


def _post(server: ServerProcess, sent: Sent) -> tuple[int, float]:
    """The status of the answer, and the seconds until it was read."""
    url = f"http://127.0.0.1:{server.port}{sent.path}"
    request = urllib.request.Request(url, sent.body, {"content-type": sent.content_type})
    begin = time.perf_counter()
    try:
        with urllib.request.urlopen(request, timeout=300) as answer:  # noqa: S310
            while answer.read(2**20):
                pass
            status = int(answer.status)
    except urllib.error.HTTPError as error:
        error.read()
        status = error.code
    return status, round(time.perf_counter() - begin, 1)


if __name__ == "__main__":
    sys.exit(main())
