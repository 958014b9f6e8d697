"""Rows in the database that are damaged, or of a newer version."""

import signal
import time

from benchmarks.chaos.exchange import OPEN, result, submit, validation, wait_for
from benchmarks.chaos.processes import send
from benchmarks.chaos.scenario import Outcome, scenario
from benchmarks.chaos.site import Site, end, until

_BODY = validation(5, aggregations=60, schemes=("random",))


@scenario(
    "poison-part",
    "a part whose row makes a worker crash while it claims it",
    "its validation ends with few deaths, and other validations finish",
)
def poison_part(site: Site) -> Outcome:
    """The checkpoint is text where bytes are expected: the worker fails before it counts an attempt."""
    database = site.sqlite()
    with site.service(database.url, workers="1", round_attempts="3", worker_timeout="1") as service:
        send(service.workers(), signal.SIGSTOP)
        poisoned = submit(service, _BODY)
        database.execute("UPDATE validation_parts SET checkpoint = 'poison' WHERE validation_id = ?", poisoned)
        send(service.workers(), signal.SIGCONT)
        healthy = submit(service, validation(6, schemes=("random",)))
        begin = time.monotonic()
        ended = until(lambda: result(service, poisoned)["state"] not in OPEN, 40, look=0.5)
        took = time.monotonic() - begin
        found, deaths = result(service, poisoned), service.deaths()
        other = wait_for(service, healthy)["state"]
    why = found.get("failure", {}).get("type", "no failure")
    words = f"{found['state']} ({why}) after {took:.0f} s, {deaths} workers died; the other validation {other}"
    return Outcome(words, ended and deaths <= 4 and other == "succeeded")


@scenario(
    "damaged-checkpoint",
    "bytes of a stored checkpoint are changed, and the worker is killed",
    "the validation ends with the undisturbed result",
)
def damaged_checkpoint(site: Site) -> Outcome:
    """The rounds before it can be trained again."""
    database = site.sqlite()
    with site.service(database.url, workers="1", worker_timeout="1") as service:
        disturbed = submit(service, _BODY)
        until(lambda: result(service, disturbed)["progress"] > 0.1, 300)
        send(service.workers(), signal.SIGSTOP)
        ((number, checkpoint),) = database.execute(
            "SELECT number, checkpoint FROM validation_parts WHERE validation_id = ?", disturbed
        )
        middle = len(checkpoint) // 2
        changed = checkpoint[:middle] + bytes(255 - byte for byte in checkpoint[middle : middle + 64])
        changed += checkpoint[middle + 64 :]
        sql = "UPDATE validation_parts SET checkpoint = ? WHERE validation_id = ? AND number = ?"
        database.execute(sql, changed, disturbed, number)
        send([*service.workers(), *service.trainers()], signal.SIGKILL)
        found = wait_for(service, disturbed)
        calm = wait_for(service, submit(service, _BODY))
    if found["state"] != "succeeded":
        return Outcome(f"{found['state']}: {found.get('failure', {}).get('type', 'no progress')}", holds=False)
    same = found["schemes"] == calm["schemes"]
    return Outcome("finished with the undisturbed result" if same else "finished with another result", same)


@scenario(
    "newer-schema",
    "the database was migrated by a newer version",
    "the service refuses to work on it",
)
def newer_schema(site: Site) -> Outcome:
    """Writing rows that a newer version understands otherwise is worse than not starting."""
    database = site.sqlite()
    with site.service(database.url):
        pass
    database.execute("INSERT INTO migrations (name) VALUES ('9999_of_a_later_version.sql')")
    service = site.start(database.url)
    try:
        until(lambda: service.process.poll() is not None or _ready(service.port), 30)
        code = service.process.poll()
        ready = code is None and _ready(service.port)
    finally:
        end(service)
    if ready:
        return Outcome("ready, as if nothing were wrong", holds=False)
    return Outcome("not ready" if code is None else f"ends with status {code}", holds=True)


def _ready(port: int) -> bool:
    import httpx  # noqa: PLC0415

    try:
        return httpx.get(f"http://127.0.0.1:{port}/readyz", timeout=5).status_code == 200
    except httpx.HTTPError:
        return False
