"""Disks that fill."""

import os
import random
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.chaos.databases import Sqlite
from benchmarks.chaos.exchange import PLAN, ask
from benchmarks.chaos.hostile import COLUMNS
from benchmarks.chaos.scenario import NotRunError, Outcome, scenario
from benchmarks.chaos.site import Service, Site


@scenario(
    "full-disk",
    "the database's disk is full",
    "readiness says so, DELETE works, and plans are made",
)
def full_disk(site: Site) -> Outcome:
    """A disk of 64 MB, filled by somebody else."""
    with _small_disk(site.folder / "disk") as disk:
        database = Sqlite(disk / "fedsift.db")
        with site.service(database.url, disk_reserve=str(16 * 2**20)) as service:
            with service.client() as client:
                run = client.post("/v1/runs", json=PLAN | {"aggregation_period": 2}).json()["id"]
            _fill(disk / "filler")
            kept = [ask(service, "POST", "/v1/plans", json=PLAN | {"keep": True})[0] for _ in range(40)][-1]
            ready, _ = ask(service, "GET", "/readyz")
            deleted, _ = ask(service, "DELETE", f"/v1/runs/{run}")
            planned, _ = ask(service, "POST", "/v1/plans", json=PLAN)
            (disk / "filler").unlink()
            afterwards, _ = ask(service, "POST", "/v1/plans", json=PLAN | {"keep": True})
    words = f"keep {kept}, /readyz {ready}, DELETE {deleted}, plan {planned}; with space again keep {afterwards}"
    holds = ready == 503 and deleted == 204 and planned == 200 and afterwards == 201 and kept in {201, 503, 507}
    return Outcome(words, holds)


@scenario(
    "endless-runs",
    "one key makes runs without end; quota 2 MB",
    "what is stored for a key stays within its quota",
)
def endless_runs(site: Site) -> Outcome:
    """Runs have a quota in bytes."""
    return _endless(site, "/v1/runs", {"aggregation_period": 2})


@scenario(
    "endless-kept-plans",
    "one key keeps plans without end; quota 2 MB",
    "what is stored for a key stays within its quota",
)
def endless_plans(site: Site) -> Outcome:
    """Kept plans have a quota in bytes."""
    return _endless(site, "/v1/plans", {"keep": True})


def _endless(site: Site, path: str, more: dict[str, object]) -> Outcome:
    database = site.sqlite()
    body = {"network": _network(1000), "sample_size": 3, "horizon": 2, **more}
    with site.service(database.url, key_bytes="2000000") as service:
        statuses = _post(service, path, body)
    both = "LENGTH(request) + LENGTH(answer)"
    columns = {"plans": both, "runs": "LENGTH(request)", "periods": both}
    stored = sum(
        database.execute(f"SELECT COALESCE(SUM({bytes_of}), 0) FROM {table}")[0][0]  # noqa: S608 - our own names
        for table, bytes_of in columns.items()
    )
    words = ", ".join(f"{statuses.count(status)} × {status}" for status in sorted(set(statuses)))
    return Outcome(f"{words}; {stored / 1e6:.1f} MB kept", stored <= 2_000_000)


def _network(n: int) -> dict[str, object]:
    """Random numbers, which no compression makes small."""
    drawn = random.Random(0)
    devices = {name: [round(drawn.uniform(1, 1000), 6) for _ in range(n)] for name in COLUMNS}
    links = {"kind": "links", "source": [], "target": [], "similarity": [], "transmit_cost": []}
    return {"devices": devices | {"processing_cost": [0.01] * n}, "topology": links}


def _post(service: Service, path: str, body: dict[str, object]) -> list[int]:
    with service.client() as client:
        return [client.post(path, json=body).status_code for _ in range(120)]


def _fill(file: Path) -> None:
    with file.open("wb", buffering=0) as stream:
        for size in (2**20, 4096):
            try:
                while True:
                    stream.write(bytes(size))
            except OSError:
                continue


@contextmanager
def _small_disk(folder: Path) -> Iterator[Path]:
    """A file system in memory; only root can mount one."""
    folder.mkdir()
    if os.geteuid() != 0:
        raise NotRunError("needs root, to mount a small disk")
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", folder], check=False, capture_output=True)
    if done.returncode:
        raise NotRunError("this machine does not let root mount a small disk")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)
