"""A database that is locked or stands still."""

import signal
import subprocess
import time
from typing import Any

from benchmarks.chaos.databases import postgres
from benchmarks.chaos.exchange import PLAN, ask, asked_all_along, result, submit, validation, wait_for
from benchmarks.chaos.processes import is_alive, send
from benchmarks.chaos.scenario import Outcome, scenario
from benchmarks.chaos.site import Service, Site, end, until

_ASKED = (("POST", "/v1/plans"), ("GET", "/healthz"), ("GET", "/readyz"), ("GET", "/metrics"))
_HELD_SECONDS = 20.0
_ANSWER_SECONDS = 10.0  # on two cores with other work; alone it takes a fraction of a second
_GRACE = "5"
_END_SECONDS = 20.0


def _under(service: Service, fault: Any, seconds: float) -> Outcome:
    """Ask all along while the fault lasts; then a validation that was under way must end."""
    running = submit(service, validation(1))
    ask(service, "POST", "/v1/plans", json={})  # so that its key is known
    with fault, asked_all_along(service, *_ASKED, seconds=40) as answers:
        time.sleep(seconds)
    ended = wait_for(service, running)["state"]
    plans = answers["/v1/plans"]
    slowest = max(one.slowest for one in answers.values())
    holds = slowest < _ANSWER_SECONDS and set(plans.statuses) == {200} and ended == "succeeded"
    rest = max(one.slowest for path, one in answers.items() if path != "/v1/plans")
    words = f"plans {plans}; health, readiness and metrics within {rest:.1f} s; then the validation {ended}"
    return Outcome(words, holds)


@scenario(
    "postgres-locked",
    "PostgreSQL: one open transaction locks every table for 20 s",
    "plans are made all along, and every request is answered within 10 s",
)
def postgres_locked(site: Site) -> Outcome:
    """ACCESS EXCLUSIVE: nobody else can even read."""
    with postgres() as database, site.service_with_key(database.url, workers="1", worker_timeout="5") as service:
        return _under(service, database.locked(), _HELD_SECONDS)


@scenario(
    "postgres-hangs",
    "PostgreSQL stands still for 20 s (SIGSTOP), connections stay open",
    "plans are made all along, and every request is answered within 10 s",
)
def postgres_hangs(site: Site) -> Outcome:
    """As if the network swallowed every packet."""
    with postgres() as database, site.service_with_key(database.url, workers="1", worker_timeout="5") as service:
        return _under(service, database.hanging(), _HELD_SECONDS)


@scenario(
    "sigterm-while-database-locked",
    "SIGTERM while an open transaction locks PostgreSQL, with requests and a validation under way; grace 5 s",
    "the service and its workers have ended within 20 s",
    forked=True,
)
def sigterm_while_locked(site: Site) -> Outcome:
    """Threads that wait for the database must not keep the process."""
    with (
        postgres() as database,
        site.service_with_key(database.url, workers="1", shutdown_grace=_GRACE) as service,
    ):
        running = submit(service, validation(1, aggregations=200))
        until(lambda: result(service, running)["progress"] > 0, 60)
        family = [*service.servers(), *service.workers()]
        with database.locked(), asked_all_along(service, *_ASKED, ("GET", "/v1/runs"), seconds=60):
            time.sleep(2)
            begin = time.monotonic()
            service.process.terminate()
            try:
                code = service.process.wait(2 * _END_SECONDS)
            except subprocess.TimeoutExpired:
                service.process.kill()
                service.process.wait()
                return Outcome(f"still running after {2 * _END_SECONDS:.0f} s", holds=False)
            took = time.monotonic() - begin
        left = [pid for pid in family if is_alive(pid)]
        return Outcome(f"ended after {took:.0f} s with status {code}", took < _END_SECONDS and not left)


@scenario(
    "sqlite-writer",
    "SQLite: somebody holds the write lock for 30 s",
    "plans are made all along, and every request is answered within 10 s",
)
def sqlite_writer(site: Site) -> Outcome:
    """Reads need no write lock."""
    database = site.sqlite()
    with site.service_with_key(database.url, workers="1", worker_timeout="5") as service:
        return _under(service, database.locked(), 30)


@scenario(
    "start-while-locked",
    "SQLite: the service starts while somebody holds the write lock",
    "it makes plans before the lock is free",
)
def start_while_locked(site: Site) -> Outcome:
    """The schema is up to date, so that nothing has to be written."""
    database = site.sqlite()
    with site.service_with_key(database.url) as first:
        key = first.key
    with database.locked():
        service = site.start(database.url, auth="required")
        service.key = key
        try:
            begin = time.monotonic()
            planned = until(lambda: ask(service, "POST", "/v1/plans", json=PLAN)[0] == 200, 90, look=0.5)
            took = time.monotonic() - begin
        finally:
            end(service)
    return Outcome(f"first plan after {took:.0f} s" if planned else "no plan within 90 s", planned)


@scenario(
    "worker-frozen-in-a-write",
    "SQLite: a worker is stopped (SIGSTOP) while it holds the write lock, and nobody wakes it",
    "plans are made all along; the worker is ended, and the validation finishes",
)
def worker_frozen(site: Site) -> Outcome:
    """The frozen worker holds the lock until it is ended."""
    database = site.sqlite()
    with site.service_with_key(database.url, workers="1", worker_timeout="3") as service:
        running = submit(service, validation(1, aggregations=400, schemes=("random",)))
        until(lambda: result(service, running)["progress"] > 0, 60)
        if not _freeze_in_write(service, database):
            return Outcome("the worker was never caught in a write", holds=False)
        begin = time.monotonic()
        with asked_all_along(service, ("POST", "/v1/plans"), ("GET", "/readyz"), seconds=40) as answers:
            freed = until(lambda: not database.is_locked(), 40, look=0.5)
            took = time.monotonic() - begin
        ended = wait_for(service, running)["state"] if freed else "stuck"
        plans = answers["/v1/plans"]
        lock = f"lock free after {took:.0f} s" if freed else "locked for 40 s and more"
        slowest = max(one.slowest for one in answers.values())
        holds = freed and ended == "succeeded" and set(plans.statuses) == {200} and slowest < _ANSWER_SECONDS
        return Outcome(f"plans {plans}; {lock}; the validation {ended}", holds)


def _freeze_in_write(service: Service, database: Any) -> bool:
    for _ in range(400):
        workers = service.workers()
        send(workers, signal.SIGSTOP)
        if workers and database.is_locked():
            return True
        send(workers, signal.SIGCONT)
        time.sleep(0.013)
    return False
