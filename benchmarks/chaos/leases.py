"""Workers that pause, die, or live by a clock that is stepped."""

import signal
import time

from benchmarks.chaos.clock import stepped_clock
from benchmarks.chaos.exchange import result, submit, validation, wait_for
from benchmarks.chaos.processes import send
from benchmarks.chaos.scenario import Outcome, scenario
from benchmarks.chaos.site import Service, Site, until

_BODY = validation(3, aggregations=25, schemes=("ours-offload", "random-offload", "random"))


def _compared(service: Service, disturbed: str) -> Outcome:
    """Wait for a disturbed validation, then hold it against the same one undisturbed."""
    begin = time.monotonic()
    found = wait_for(service, disturbed)
    took = time.monotonic() - begin
    if found["state"] != "succeeded":
        why = found.get("failure", {}).get("type", f"stuck at {found['progress']:.0%}, no progress for three minutes")
        return Outcome(f"{found['state']}: {why}", holds=False)
    calm = wait_for(service, submit(service, _BODY))
    if calm["state"] != "succeeded":
        return Outcome(f"it finished, and the next one did not: {calm['state']}", holds=False)
    same = calm["schemes"] == found["schemes"]
    deaths = service.deaths()
    words = "the undisturbed result" if same else "another result than undisturbed"
    return Outcome(f"finished {took:.0f} s after the last fault with {words}, {deaths} restarts", same)


@scenario(
    "two-workers-paused-together",
    "two workers stand still together, longer than their timeout, five times",
    "the validation ends with the undisturbed result",
)
def two_workers_paused(site: Site) -> Outcome:
    """Each may take the other for dead when both wake."""
    with site.service(site.sqlite().url, workers="2", worker_timeout="1") as service:
        running = submit(service, _BODY)
        until(lambda: result(service, running)["progress"] > 0, 60)
        for _ in range(5):
            workers = service.workers()
            send(workers, signal.SIGSTOP)
            time.sleep(2.5)
            send(workers, signal.SIGCONT)
            time.sleep(1.5)
            if result(service, running)["state"] not in {"queued", "running"}:
                running = submit(service, _BODY)
        return _compared(service, running)


@scenario(
    "workers-killed",
    "kill -9 of a worker or its trainer, six times",
    "the validation ends with the undisturbed result",
)
def workers_killed(site: Site) -> Outcome:
    """By turns both workers, one worker, one trainer."""
    with site.service(site.sqlite().url, workers="2", worker_timeout="2") as service:
        running = submit(service, _BODY)
        for turn in range(6):
            time.sleep(0.7)
            victims = (service.workers(), service.workers()[:1], service.trainers()[:1])[turn % 3]
            send(victims, signal.SIGKILL)
        return _compared(service, running)


@scenario(
    "clock-steps",
    "the wall clock jumps by minutes and hours, forward and back, six times",
    "the validation ends with the undisturbed result",
)
def clock_steps(site: Site) -> Outcome:
    """Heartbeats are compared with the wrong time."""
    clock = stepped_clock(site.folder)
    site.environment.update(clock.environment)
    with site.service(site.sqlite().url, workers="2", worker_timeout="2") as service:
        running = submit(service, _BODY)
        until(lambda: result(service, running)["progress"] > 0, 60)
        for offset in (120, -7200, 60, 86400, 0, -90):
            clock.step_to(offset)
            time.sleep(1.5)
            if result(service, running)["state"] not in {"queued", "running"}:
                running = submit(service, _BODY)
        return _compared(service, running)


@scenario(
    "scratch-after-kills",
    "kill -9 of both workers, twice",
    "no scratch folder stays behind",
)
def scratch_after_kills(site: Site) -> Outcome:
    """A killed worker cannot remove its folder."""
    with site.service(site.sqlite().url, workers="2", worker_timeout="1") as service:
        for seed in range(2):
            running = submit(service, validation(seed, aggregations=25))
            until(lambda running=running: result(service, running)["progress"] > 0, 60)  # type: ignore[misc]
            send(service.workers(), signal.SIGKILL)
            wait_for(service, running)
        scratch = site.folder / "scratch"
        until(lambda: len(list(scratch.iterdir())) <= 2, 10)
        left = len(list(scratch.iterdir()))
        return Outcome(f"{left} folders for 2 workers", left <= 2)
