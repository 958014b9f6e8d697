"""`make capacity`: what plans of different sizes cost a server, and what it answers beyond each limit.

For each size one client asks a server of one process for the same plan again and again, for some seconds. `seconds` is
the median that the client waits. A core makes one plan in `processor_seconds`, so `per_second_and_core` is its inverse.
The memory is the server's peak above what it has at rest. Then each limit is set low and passed; the answer is kept.

It writes docs/results/capacity/capacity.json and the tables of docs/deployment.md. It needs a machine with nothing else
to do, and less than ten minutes there; `--only limits` leaves the measured numbers as they are.

Limits: random networks (directed Erdős–Rényi), the default sampler, on loopback, client and server on one machine.
"""

import json
from collections.abc import Sequence
from typing import Any

from benchmarks.capacity.limits import beyond
from benchmarks.capacity.sizes import costs
from benchmarks.machine import describe
from benchmarks.options import DOCS, parser
from fedl_sim.reproduce.document import filled

__all__ = ["DOCUMENT", "RESULTS", "tables"]

DOCUMENT = DOCS / "deployment.md"
RESULTS = DOCS / "results" / "capacity"


def tables(results: dict[str, Any]) -> dict[str, str]:
    """The tables by the names of their files."""
    sizes = [
        [
            f"{row['n_devices']:,}",
            f"{row['n_links']:,}",
            str(row["sample_size"]),
            str(row["horizon"]),
            f"{row['body_mb']:.3g} ({row['body']})",
            f"{row['seconds']:.3g}",
            str(row["more_mb"]),
            f"{row['per_second_and_core']:.3g}",
        ]
        for row in results["sizes"]
    ]
    columns = ["N", "links", "S", "T", "MB of the body", "seconds", "MB above rest", "requests a second and core"]
    rest = max(row["rest_mb"] for row in results["sizes"])
    machine = f"A server of one process takes {rest} MB at rest at most. {results['machine']}.\n"
    limits = [
        [
            f"`FEDSIFT_{row['setting'].upper()}`",
            row["default"],
            row["passed"],
            f"{row['status']} {row['type']}".strip()
            + (f", Retry-After {row['retry_after']}" if row["retry_after"] else ""),
            row["detail"].replace("|", "\\|"),
        ]
        for row in results["limits"]
    ]
    answers = _table(["limit", "default", "beyond it", "answer", "its detail, with a lower limit"], limits)
    return {"sizes.md": f"{_table(columns, sizes)}\n{machine}", "limits.md": answers}


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join("| " + " | ".join(line) + " |" for line in [columns, ["---"] * len(columns), *rows]) + "\n"


def main() -> int:
    """Measure, write; returns the exit code."""
    command = parser(__doc__, writes=True)
    command.add_argument("--only", choices=["sizes", "limits"])
    arguments = command.parse_args()
    only, smoke = arguments.only, arguments.smoke
    document, folder = (arguments.docs / path.relative_to(DOCS) for path in (DOCUMENT, RESULTS))
    file = folder / "capacity.json"
    results: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    if only != "limits":
        results |= {"machine": describe("numba", "numpy"), "sizes": costs(smoke=smoke)}
    if only != "sizes":
        results["limits"] = beyond(smoke=smoke)
    folder.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    for name, text in tables(results).items():
        (folder / name).write_text(text, encoding="utf-8")
    document.write_text(filled(document), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
