"""`fedsift doctor`: looks at settings, store, disk, clock, workers and kernels, and says plainly what it found."""

import json
import math
import os
import platform
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Literal

import typer

from app.commands.environment import read_settings, unknown_settings
from app.plans.planning import make_plan
from app.plans.request import EXAMPLE, PlanRequest
from app.settings import Settings
from app.store.database import Database, ReadTransaction, StoreError
from app.store.store import applied, explained, open_database, release_migrations
from solver.errors import FedsiftError

__all__ = ["Finding", "doctor"]

_MEBIBYTE = 2**20
# Trainers write their checkpoints there; the largest of the usual models takes a few megabytes.
_SCRATCH_BYTES = 64 * _MEBIBYTE
_CLOCK_SECONDS = 2.0
_SOON_DAYS = 14
# A receiver of webhooks that has failed for so long does not come back by itself.
_STALE_SECONDS = 3600.0
# Reading compiled kernels takes about a second, compiling them a minute and more.
_KERNEL_SECONDS = 15.0


@dataclass(frozen=True)
class Finding:
    """What was looked at, whether it is well, and what to do if not."""

    level: Literal["ok", "warning", "error"]
    about: str
    text: str


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False) -> None:
    """Look at settings, store, disk, clock, workers and kernels. Exit status 1 if something is wrong."""
    findings = []
    for one in _examine():
        findings.append(one)
        if not as_json:
            typer.echo(f"{one.level:8}{one.about}: {one.text}")
    if as_json:
        typer.echo(json.dumps([asdict(one) for one in findings]))
    if any(one.level == "error" for one in findings):
        raise typer.Exit(1)


def _examine() -> Iterator[Finding]:
    yield Finding("ok", "versions", ", ".join(_versions()))
    try:
        settings = read_settings(warn=False)
    except FedsiftError as error:
        yield Finding("error", "settings", str(error))
        return
    yield from _settings(settings)
    yield from _store(settings)
    yield _scratch(settings)
    yield _kernels(settings)


def _versions() -> Iterator[str]:
    yield f"fedsift {version('fedsift')}"
    yield f"Python {platform.python_version()}"
    yield f"SQLite {sqlite3.sqlite_version}"
    for package in ("numba", "psycopg"):
        try:
            yield f"{package} {version(package)}"
        except PackageNotFoundError:
            yield f"no {package}"


def _settings(settings: Settings) -> Iterator[Finding]:
    unknown = unknown_settings()
    for name, near in unknown.items():
        yield Finding("warning", "settings", f"{name} is not a setting" + (f"; did you mean {near}?" if near else ""))
    if settings.time_limit > settings.max_time_limit:
        told = f"FEDSIFT_TIME_LIMIT ({settings.time_limit:g}) is above FEDSIFT_MAX_TIME_LIMIT"
        yield Finding("warning", "settings", f"{told} ({settings.max_time_limit:g})")
    elif not unknown:
        yield Finding("ok", "settings", ", ".join(sorted(settings.model_fields_set)) or "all have their defaults")


def _store(settings: Settings) -> Iterator[Finding]:
    sqlite_path = settings.database_url.removeprefix("sqlite:///")
    if sqlite_path != settings.database_url and not Path(sqlite_path).exists():
        yield _new_store(Path(sqlite_path))
        return
    try:
        database = open_database(settings.database_url, settings.store_timeout)
        try:
            yield from _inside(database, settings)
        finally:
            database.close()
    except StoreError as error:
        yield Finding("error", "store", explained(settings.database_url, error))
    except FedsiftError as error:
        yield Finding("error", "store", str(error))


def _new_store(path: Path) -> Finding:
    folder = next(one for one in path.absolute().parents if one.exists())
    if folder.is_dir() and os.access(folder, os.W_OK):
        return Finding("ok", "store", f"{path} is not there yet; `fedsift serve` makes it")
    return Finding("error", "store", f"{path} is not there, and cannot be made: {folder} is no folder to write to")


def _inside(database: Database, settings: Settings) -> Iterator[Finding]:
    begin = time.monotonic()
    with database.read() as t:
        missing = sorted(set(release_migrations()) - set(applied(database, t)))
        took = time.monotonic() - begin
        if missing:
            told = f"{len(missing)} migrations run at the next start: take a backup first"
            yield Finding("warning", "store", told)
            return
        yield Finding("ok", "store", f"answers in {1000 * took:.0f} ms, {_kept(t)}")
        yield _clock(t, time.time())
        yield from _keys(t, settings)
        yield _webhooks(t, settings)
        ((waiting,),) = t.rows("SELECT COUNT(*) FROM validations WHERE state IN ('queued', 'running')")
    free = database.free_bytes()
    if free is not None:
        level: Literal["ok", "error"] = "ok" if free >= settings.disk_reserve else "error"
        told = f"{free // _MEBIBYTE} MiB free for the store, {settings.disk_reserve // _MEBIBYTE} MiB are kept free"
        yield Finding(level, "disk", told)
    yield _workers(database, settings.worker_timeout, int(waiting))


def _kept(t: ReadTransaction) -> str:
    counts = (f"{t.rows(f'SELECT COUNT(*) FROM {name}')[0][0]} {name}" for name in _THINGS)  # noqa: S608 - ours
    return "keeps " + ", ".join(counts)


_THINGS = ("plans", "runs", "validations", "networks")


def _clock(t: ReadTransaction, here: float) -> Finding:
    if abs(t.now - here) > _CLOCK_SECONDS:
        return Finding("warning", "clock", f"the database's clock is {t.now - here:+.1f} s from this machine's")
    newest = max(t.rows(f"SELECT COALESCE(MAX(created_at), 0) FROM {name}")[0][0] for name in _THINGS)  # noqa: S608
    if newest > t.now + _CLOCK_SECONDS:
        return Finding("warning", "clock", f"rows are dated {newest - t.now:.0f} s in the future: a clock was wrong")
    return Finding("ok", "clock", f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(here))}, as the database's")


def _keys(t: ReadTransaction, settings: Settings) -> Iterator[Finding]:
    now = t.now
    ends = [(name, math.inf if at is None else at) for name, at in t.rows("SELECT name, expires_at FROM api_keys")]
    valid = [name for name, at in ends if at > now]
    soon = sorted(name for name, at in ends if now < at < now + _SOON_DAYS * 86400)
    if soon:
        told = f"{', '.join(soon)}: less than {_SOON_DAYS} days until they expire: `fedsift keys rotate ID`"
        yield Finding("warning", "expiring keys", told)
    if settings.needs_key and not valid and not settings.gateway_header:
        yield Finding("error", "keys", f"{settings.host} needs keys, none is valid: `fedsift keys create NAME`")
    elif not settings.needs_key and settings.auth == "off":
        yield Finding("warning", "keys", "FEDSIFT_AUTH=off: whoever reaches the port may do everything")
    else:
        told = f"{len(valid)}, {'required' if settings.needs_key else 'not required on loopback'}"
        yield Finding("ok", "keys", told + (f", or {settings.gateway_header}" if settings.gateway_header else ""))


def _webhooks(t: ReadTransaction, settings: Settings) -> Finding:
    ((count,),) = t.rows("SELECT COUNT(*) FROM webhooks")
    ((waiting, first),) = t.rows(
        "SELECT COUNT(*), COALESCE(MIN(created_at), 0) FROM webhook_deliveries WHERE delivered_at IS NULL"
    )
    told = f"{count}, {waiting} events wait"
    if count and not settings.webhook_targets:
        return Finding("warning", "webhooks", f"{told}, and FEDSIFT_WEBHOOK_TARGETS lists no target here")
    if waiting and t.now - first > _STALE_SECONDS:
        why = f"the first for {(t.now - first) / 3600:.0f} h: `fedsift webhooks deliveries ID` says why"
        return Finding("warning", "webhooks", f"{told}, {why}")
    return Finding("ok", "webhooks", told)


def _workers(database: Database, timeout: float, waiting: int) -> Finding:
    """A worker counts its heartbeats five times in the timeout; whoever counts none is not there."""
    first = beats = _beats(database)
    until = time.monotonic() + timeout
    while any(beats.get(name) == count for name, count in first.items()) and time.monotonic() < until:
        time.sleep(min(0.2, timeout / 10))
        beats = _beats(database)
    silent = sum(first.get(name) == count for name, count in beats.items())
    alive = len(beats) - silent
    if waiting and not alive:
        return Finding("error", "workers", f"none is alive, and {waiting} validations wait: start `fedsift worker`")
    told = f"{alive} alive" + (f", {silent} silent for {timeout:g} s" if silent else "")
    return Finding("warning" if silent else "ok", "workers", f"{told}, {waiting} validations wait or run")


def _beats(database: Database) -> dict[str, int]:
    with database.read() as t:
        return {name: int(beats) for name, beats in t.rows("SELECT id, beats FROM workers")}


def _scratch(settings: Settings) -> Finding:
    folder = Path(settings.scratch_dir or tempfile.gettempdir())
    try:
        free = shutil.disk_usage(folder).free
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        return Finding("error", "scratch", f"workers cannot write to {folder}: {error.strerror}")
    level: Literal["ok", "warning"] = "ok" if free >= _SCRATCH_BYTES else "warning"
    return Finding(level, "scratch", f"{folder} has {free // _MEBIBYTE} MiB free")


def _kernels(settings: Settings) -> Finding:
    begin = time.monotonic()
    try:
        make_plan(PlanRequest.model_validate(EXAMPLE).to_domain(settings))
    except Exception as error:  # whatever it is, this installation cannot plan
        return Finding("error", "kernels", f"a small plan fails: {type(error).__name__}: {error}")
    took = time.monotonic() - begin
    if took > _KERNEL_SECONDS:
        told = "they were not compiled before; `python -m sampler.warm_up` compiles them once"
        return Finding("warning", "kernels", f"a small plan took {took:.0f} s: {told}")
    return Finding("ok", "kernels", f"a small plan took {took:.1f} s")
