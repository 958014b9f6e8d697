"""`make soak`: random pauses, kills, clock steps, locks, slow clients and hostile bodies, all at once, for a while.

First every validation is run undisturbed. Then faults and clients go on for SECONDS. Then the service is left alone,
and everything that it accepted must end with the undisturbed result. The last line is one JSON object; the status is 1
if something that must hold does not.
"""

import argparse
import json
import signal
import sys
import tempfile
import threading
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.chaos.clients import Clients
from benchmarks.chaos.clock import Clock, stepped_clock
from benchmarks.chaos.databases import open_database
from benchmarks.chaos.exchange import OPEN, Answers, ask, submit, validation, wait_for
from benchmarks.chaos.faults import Faults
from benchmarks.chaos.memory_watch import MemoryWatch, flatness
from benchmarks.chaos.scenario import NotRunError
from benchmarks.chaos.site import Service, Site, until
from benchmarks.machine import describe
from benchmarks.options import parser

_ANSWER_SECONDS = 30.0  # a plan, a read or a refusal; clients, faults and training share two cores
_GROWTH_MEGABYTES = 150.0  # of a server, from the first fifth of the soak to the last
_REFUSALS = {429, 503}


def main() -> int:
    """Soak, then judge."""
    command = parser(__doc__)
    command.add_argument("--seconds", type=float, default=900)
    command.add_argument("--database", choices=("sqlite", "postgres"), default="sqlite")
    command.add_argument("--workers", type=int, default=3)
    command.add_argument("--validations", type=int, default=4, help="how many different ones are submitted")
    command.add_argument("--seed", type=int, default=0)
    command.add_argument("--against", type=Path, default=Path(__file__).parents[2], metavar="FOLDER")
    chosen = command.parse_args()
    if chosen.smoke:
        chosen.seconds, chosen.validations = 5.0, 1
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is ended
    print(describe("fastapi", "uvicorn"))
    with tempfile.TemporaryDirectory(prefix="soak-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        site = Site(chosen.against.resolve(), folder)
        site.compile()
        clock = _clock(folder)
        if clock is not None:
            site.environment.update(clock.environment)
        with open_database(chosen.database, folder) as database:
            settings = {"workers": str(chosen.workers), "worker_timeout": "3", "shutdown_grace": "10"}
            with site.service_with_key(database.url, **settings) as service:
                faults = Faults(service, database, clock, chosen.seed)
                report = _soak(service, faults, chosen)
            report["status_at_end"] = service.process.returncode
    report = {"database": chosen.database, "seconds": chosen.seconds, "seed": chosen.seed, **report}
    report["clock_steps"] = "with" if clock else "without: no libfaketime here"
    failures = [*report.pop("failures"), *([] if report["status_at_end"] == 0 else ["the service did not end well"])]
    print(json.dumps(report | {"holds": not failures, "failures": failures}))
    return int(bool(failures))


def _clock(folder: Path) -> Clock | None:
    try:
        return stepped_clock(folder)
    except NotRunError:
        return None


def _soak(service: Service, faults: Faults, chosen: argparse.Namespace) -> dict[str, Any]:
    bodies = [validation(number, aggregations=8 + 6 * number) for number in range(chosen.validations)]
    calm = [wait_for(service, submit(service, body))["schemes"] for body in bodies]
    clients = Clients(service, bodies, chosen.seed)
    watch = MemoryWatch(service)
    stop = threading.Event()
    tasks = (clients.submit, clients.plan, clients.read, clients.dawdle, clients.attack, faults.go_on, watch.go_on)
    threads = [threading.Thread(target=task, args=(stop,), daemon=True) for task in tasks]
    for thread in threads:
        thread.start()
    time.sleep(chosen.seconds)
    stop.set()
    for thread in threads:
        thread.join()
    begin = time.monotonic()
    ready = until(lambda: ask(service, "GET", "/readyz")[0] == 200, 60)
    ended = _ends(service, list(clients.accepted))
    settled = time.monotonic() - begin
    states = [one["state"] for one in ended.values()]
    succeeded = {one: number for one, number in clients.accepted.items() if ended[one]["state"] == "succeeded"}
    differing = [one for one, number in succeeded.items() if ended[one]["schemes"] != calm[number]]
    report: dict[str, Any] = {
        "validations_accepted": len(ended),
        "validations_by_state": {state: states.count(state) for state in sorted(set(states))},
        "validations_with_another_result": len(differing),
        "submissions_refused": clients.refused,
        "settled_after_seconds": round(settled, 1),
        "plans": _summary(clients.plans),
        "reads": _summary(clients.reads),
        "attacks": {name: _summary(found) for name, found in sorted(clients.attacks.items())},
        "faults": dict(faults.made),
        "worker_restarts": service.deaths(),
        "server_mb": asdict(flatness(watch.server)),
        "worker_mb": asdict(flatness(watch.largest_worker)),
        "trainer_mb": asdict(flatness(watch.largest_trainer)),
        "server_descriptors": asdict(flatness([float(count) for count in watch.descriptors])),
    }
    kinds = {one.get("failure", {}).get("type", "stuck") for one in ended.values() if one["state"] != "succeeded"}
    report["failures"] = _failures(report, clients, ready=ready, kinds=kinds)
    return report


def _ends(service: Service, accepted: list[str]) -> dict[str, dict[str, Any]]:
    """Wait for all of them; once one made no progress for two minutes the others are only looked at."""
    patience = 120.0
    ended = {}
    for one in accepted:
        ended[one] = wait_for(service, one, patience)
        if ended[one]["state"] in OPEN:
            patience = 5.0
    return ended


def _summary(answers: Answers) -> dict[str, Any]:
    counts = {str(status): answers.statuses.count(status) for status in sorted(set(answers.statuses))}
    ordered = sorted(answers.seconds) or [0.0]
    return {"answers": counts, "p50": round(ordered[len(ordered) // 2], 2), "slowest": round(ordered[-1], 2)}


def _failures(report: dict[str, Any], clients: Clients, *, ready: bool, kinds: set[str]) -> list[str]:
    """What should hold and does not."""
    attacks = [
        (status, took)
        for one in clients.attacks.values()
        for status, took in zip(one.statuses, one.seconds, strict=True)
    ]
    checks = {
        "no validation was accepted": report["validations_accepted"] > 0,
        f"validations did not succeed: {', '.join(sorted(kinds))}": not kinds,
        "validations ended with another result": report["validations_with_another_result"] == 0,
        "plans were neither made nor refused": set(clients.plans.statuses) <= {200, 201, *_REFUSALS},
        "a plan took too long": clients.plans.slowest <= _ANSWER_SECONDS,
        "reads were neither answered nor refused": set(clients.reads.statuses) <= {200, *_REFUSALS},
        "a read took too long": clients.reads.slowest <= _ANSWER_SECONDS,
        "a hostile body was not refused": all(400 <= status < 500 or status == 503 for status, _ in attacks),
        "refusing a hostile body took too long": all(took <= _ANSWER_SECONDS for _, took in attacks),
        "the service was not ready a minute after the last fault": ready,
        **{f"memory of a {name} grew": _flat(report[f"{name}_mb"]) for name in ("server", "worker", "trainer")},
        "descriptors leaked": report["server_descriptors"]["last"] <= report["server_descriptors"]["first"] + 100,
    }
    return [failure for failure, holds in checks.items() if not holds]


def _flat(found: dict[str, float]) -> bool:
    return found["last"] - found["first"] <= _GROWTH_MEGABYTES


if __name__ == "__main__":
    sys.exit(main())
