"""Every way a job can go wrong ends in a clear state with its reason, or waits until it can go on."""

import ctypes
import json
import os
import signal
import subprocess
import time
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from app.store import StoreError
from app.store.paging import Page
from app.validations.parts import PartStore
from tests.support.crew import Crew
from tests.support.server import running_server


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, with room for two write-ahead logs; mounting it needs root."""
    place = tmp_path / "disk"
    place.mkdir()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"tmpfs", str(place).encode(), b"tmpfs", 0, b"size=32m") != 0:
        pytest.skip(f"a small file system cannot be mounted here: {os.strerror(ctypes.get_errno())}")
    try:
        yield place
    finally:
        libc.umount2(str(place).encode(), 2)


def fill(disk: Path) -> Path:
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file:
        for size in (2**20, 4096, 1):
            with suppress(OSError):
                while file.write(b"\0" * size):
                    pass
    return ballast


def failure(crew: Crew, validation: str) -> dict[str, Any]:
    ended = crew.wait(validation)
    assert ended.state == "failed"
    assert ended.failure is not None
    events = crew.validations.events(validation, 0, limit=10**6)
    told: dict[str, Any] = json.loads(events[-1].body)
    assert told == {"state": "failed", "failure": json.loads(ended.failure)}
    return told["failure"]  # type: ignore[no-any-return]


def test_a_full_scratch_disk_fails_the_validation_and_the_worker_goes_on(small_disk: Path, tmp_path: Path) -> None:
    with Crew(f"sqlite:///{tmp_path}/fedsift.db", tmp_path, scratch_dir=str(small_disk)) as crew:
        crew.hire()
        assert crew.wait(crew.submit("ours", aggregations=3)).state == "succeeded"
        ballast = fill(small_disk)
        broken = failure(crew, crew.submit("ours", "random", aggregations=3, seeds=(7,)))
        assert broken["type"] == "disk"
        assert "No space left" in broken["detail"]
        assert (broken["scheme"], broken["seed"]) == ("ours", 7)
        ballast.unlink()
        assert crew.wait(crew.submit("ours", aggregations=3)).state == "succeeded"


def test_a_full_database_disk_stops_the_work_until_there_is_room(small_disk: Path, tmp_path: Path) -> None:
    url = f"sqlite:///{small_disk}/fedsift.db"
    with (
        Crew(url, tmp_path) as crew,
        running_server(tmp_path, database_url=url, workers="1", scratch_dir=str(tmp_path), disk_reserve="0") as server,
        server.client() as client,
    ):
        undisturbed = crew.submit("ours-offload", aggregations=40)
        crew.wait(undisturbed)
        validation = crew.submit("ours-offload", aggregations=40)
        crew.until_more_rounds(validation, 5)
        ballast = fill(small_disk)
        body = {"source": {"kind": "generator", "devices": 500}, "schemes": ["ours"], "seeds": list(range(200))}
        answers = [client.post("/v1/validations", json=body) for _ in range(5)]
        assert answers[-1].status_code == 507, answers[-1].text
        assert answers[-1].json()["type"] == "urn:fedsift:problem:disk-low"
        assert client.get("/healthz").status_code == 200
        time.sleep(2)
        ballast.unlink()
        for answer in answers:
            if answer.status_code == 202:
                client.delete(answer.headers["location"])
        assert crew.wait(validation).state == "succeeded"
        assert crew.measured(validation) == crew.measured(undisturbed)
        crew.check_events(validation)


def test_a_trainer_that_dies_is_replaced_and_one_that_always_dies_is_given_up(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/fedsift.db"
    with Crew(url, tmp_path, round_attempts="3") as crew:
        crew.hire()
        validation = crew.submit("ours", aggregations=60)
        crew.until_more_rounds(validation, 3)
        os.kill(trainer_of(crew), signal.SIGKILL)
        assert crew.wait(validation).state == "succeeded"
        assert crew.begun(validation) <= 62
        endless = crew.submit("ours", aggregations=100_000)
        crew.until_more_rounds(endless, 1)
        # As a machine short of memory would: whatever trains is killed, again and again.
        while crew.find(endless).state == "running":
            try:
                os.kill(trainer_of(crew), signal.SIGKILL)
            except (IndexError, ProcessLookupError):
                time.sleep(0.01)
        assert failure(crew, endless)["type"] == "exhausted"


def trainer_of(crew: Crew) -> int:
    found = subprocess.run(
        ["pgrep", "-P", str(crew.processes[0].pid)], capture_output=True, text=True, check=False
    ).stdout.split()
    return int(found[0])


def test_bad_parts_name_their_fault(tmp_path: Path) -> None:
    with Crew(f"sqlite:///{tmp_path}/fedsift.db", tmp_path, data_dir=str(tmp_path)) as crew:
        crew.hire()
        (tmp_path / "mnist").mkdir()
        (tmp_path / "mnist" / "train-images-idx3-ubyte.gz").write_bytes(b"no images")
        cases = {
            "data-set": crew.submit("ours", data_set="mnist"),
            "infeasible": crew.submit("ours", sample_size=50),
            "invalid": crew.submit("ours", labels_per_device=99),
        }
        found = {kind: failure(crew, validation) for kind, validation in cases.items()}
        assert {kind: told["type"] for kind, told in found.items()} == {kind: kind for kind in cases}
        assert "damaged" in found["data-set"]["detail"]
        assert "50 devices are to be sampled, 12 can be" in found["infeasible"]["detail"]


@pytest.mark.parametrize(
    ("stored", "said"),
    [
        (zlib.compress(b'{"data_set": "digits", "generator": {"n_devices": "twelve"}}'), "generator.n_devices"),
        (zlib.compress(b"{"), "is not JSON"),
        (b"no bytes of ours", "cannot be decompressed"),
    ],
)
def test_damaged_work_fails_its_validation_and_the_worker_lives(tmp_path: Path, stored: bytes, said: str) -> None:
    with Crew(f"sqlite:///{tmp_path}/fedsift.db", tmp_path) as crew:
        damaged = crew.submit("heuristic", "random", seeds=(7,))
        crew.damage(damaged, stored)
        crew.hire()
        told = failure(crew, damaged)
        assert told["type"] == "damaged"
        assert said in told["detail"]
        assert (told["scheme"], told["seed"], told["draw"]) == ("heuristic", 7, 0)
        crew.check_events(damaged)
        assert crew.wait(crew.submit("heuristic", aggregations=3)).state == "succeeded"
        assert crew.processes[0].poll() is None


def test_ended_validations_go_after_their_time_and_beyond_their_number(tmp_path: Path) -> None:
    with Crew(f"sqlite:///{tmp_path}/fedsift.db", tmp_path) as crew:
        parts = PartStore(crew.store)
        made = [crew.submit("ours") for _ in range(5)]
        running = crew.submit("ours")
        for validation in made:
            crew.validations.cancel("local", validation)
        assert parts.delete_ended(older_than=10, kept_of_owner=2) == 3
        assert [one.id for one in crew.validations.page("local", Page(10))] == [*made[3:], running]
        assert parts.delete_ended(older_than=-1, kept_of_owner=2) == 2
        assert [one.id for one in crew.validations.page("local", Page(10))] == [running]


def test_a_store_that_is_away_is_said_to_be(tmp_path: Path) -> None:
    crew = Crew(f"sqlite:///{tmp_path}/fedsift.db", tmp_path)
    crew.submit("ours")
    crew.store.close()
    for leftover in tmp_path.glob("fedsift.db*"):
        leftover.unlink()
    (tmp_path / "fedsift.db").mkdir()
    with pytest.raises(StoreError):
        crew.submit("ours")
