"""A disk that is really full: a small file system of its own, which takes the right to mount one (root)."""

import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.support.requests import random_request
from tests.support.server import running_server

pytestmark = pytest.mark.chaos

MEBIBYTE = 2**20


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=48m", "tmpfs", str(place)], check=True)
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def fill(path: Path) -> None:
    """Write until nothing more fits."""
    with path.open("wb", buffering=0) as stream:
        for size in (MEBIBYTE, 4096):
            try:
                while stream.write(b"\0" * size) == size:
                    pass
            except OSError:
                continue


def loaded(readiness: httpx.Response) -> bool:
    return bool(readiness.json()["solver"] == "ok")


def test_deleting_works_on_a_full_disk_and_brings_the_space_back(tmp_path: Path, small_disk: Path) -> None:
    request = random_request(1, 60, aggregation_period=1, horizon=6)
    settings = {"database_url": f"sqlite:///{small_disk}/fedsift.db", "disk_reserve": str(8 * MEBIBYTE)}
    told = {"aggregation": 1, "gradient_norm": 0.5}
    with running_server(tmp_path, **settings) as server, server.client() as c:
        runs = [c.post("/v1/runs", json=request).headers["location"] for _ in range(4)]
        assert (small_disk / "fedsift.db-reserve").exists()
        fill(small_disk / "ballast")
        assert shutil.disk_usage(small_disk).free == 0
        low = c.get("/readyz")
        assert (low.status_code, low.json()["disk"]) == (503, "low")
        assert c.post("/v1/runs", json=request).status_code == 507
        assert c.post("/v1/plans", json=request).status_code == 200
        assert c.delete(runs[0]).status_code == 204
        assert c.get(runs[0]).status_code == 404
        # What was accepted goes on in the space that came back.
        assert c.post(f"{runs[1]}/aggregations", json=told).status_code == 200
    (small_disk / "ballast").unlink()
    with running_server(tmp_path, **settings):  # takes the reserve up again
        deadline = time.monotonic() + 60
        while not (small_disk / "fedsift.db-reserve").exists():
            assert time.monotonic() < deadline
            time.sleep(0.1)
    fill(small_disk / "ballast")
    # Opened anew on a full disk.
    with running_server(tmp_path, loaded, **settings) as server, server.client() as c:
        assert c.delete(runs[2]).status_code == 204
        (small_disk / "ballast").unlink()
        assert c.get("/readyz").json()["disk"] == "ok"
        assert c.post("/v1/runs", json=request).status_code == 201
        assert c.get(f"{runs[1]}/aggregations/1").status_code == 200
