"""The health check of a container with workers: it tells the frozen from the living, and asks no database."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from app.settings import Settings
from app.worker.health import DEFAULTS, is_working
from app.worker.scratch import Scratch, pulse_age
from tests.support.crew import Crew
from tests.support.postgres import Postgres
from tests.support.waiting import PATIENCE

# A pulse every 0.2 s; without one for 1 + 3·1 s a worker is taken for frozen.
QUICK = {"worker_timeout": "1", "store_timeout": "1"}


def probe(crew: Crew) -> int:
    return subprocess.run(
        [sys.executable, "-P", "-m", "app.worker.health"], env=crew.environment, check=False
    ).returncode


def test_a_frozen_worker_is_found_and_a_woken_one_is_well_again(tmp_path: Path) -> None:
    with Crew(f"sqlite:///{tmp_path}/fedsift.db", tmp_path, **QUICK) as crew:
        assert probe(crew) == 1
        crew.hire()
        crew.until(lambda: probe(crew) == 0)
        crew.freeze(crew.processes[0].pid)
        crew.until(lambda: probe(crew) == 1)
        crew.thaw()
        crew.until(lambda: probe(crew) == 0)
        crew.processes[0].send_signal(signal.SIGTERM)
        assert crew.processes[0].wait(PATIENCE) == 0
        assert probe(crew) == 1


def test_a_worker_stays_well_without_a_database(postgres_server: Postgres, postgres_url: str, tmp_path: Path) -> None:
    with Crew(postgres_url, tmp_path, **QUICK) as crew:
        crew.hire()
        crew.until(lambda: crew.ready() == 1)
        postgres_server.stop()
        try:
            check_well_for(crew, 6)
            crew.processes[0].send_signal(signal.SIGSTOP)
            crew.hire()  # it has never seen the database
            crew.until(lambda: "the store does not answer" in log(crew, 1))
            check_well_for(crew, 6)
        finally:
            postgres_server.start()
        crew.thaw()
        crew.until(lambda: "worker ready" in log(crew, 1))
        assert crew.wait(crew.submit("ours-offload", aggregations=2)).state == "succeeded"


def test_a_signal_that_comes_with_the_waking_is_obeyed(tmp_path: Path) -> None:
    with Crew(f"sqlite:///{tmp_path}/fedsift.db", tmp_path) as crew:
        crew.hire(4)
        crew.until(lambda: crew.ready() == 4)
        for process in crew.processes:
            process.send_signal(signal.SIGSTOP)
        time.sleep(0.5)
        for process in crew.processes:
            process.send_signal(signal.SIGCONT)
            process.send_signal(signal.SIGTERM)
        assert [process.wait(PATIENCE) for process in crew.processes] == [0] * 4


def check_well_for(crew: Crew, seconds: int) -> None:
    for _ in range(2 * seconds):
        time.sleep(0.5)
        assert probe(crew) == 0
        assert all(process.poll() is None for process in crew.processes)


def log(crew: Crew, number: int) -> str:
    return (crew.folder / f"worker-{number}.log").read_text()


def test_each_of_several_workers_has_a_pulse_of_its_own(tmp_path: Path) -> None:
    name = os.uname().nodename
    assert pulse_age(tmp_path) == float("inf")
    old, new, foreign = (Scratch(tmp_path, f"{host}-1-{host}") for host in (name, f"{name}-2", "elsewhere"))
    for scratch, seconds in ((old, 500), (new, 50), (foreign, 5)):
        then = time.monotonic_ns() - seconds * 10**9
        os.utime(scratch.path / "lock", ns=(then, then))
    assert 50 <= pulse_age(tmp_path) < 500
    assert not is_working(tmp_path, 10, 5)
    new.pulse()
    assert is_working(tmp_path, 10, 5)
    later = time.monotonic_ns() + 10**12  # a pulse from before the machine was started anew
    os.utime(new.path / "lock", ns=(later, later))
    assert not is_working(tmp_path, 10, 5)


def test_the_probe_knows_the_settings_and_loads_nothing_heavy() -> None:
    assert {name: Settings.model_fields[name.lower()].default for name in DEFAULTS} == DEFAULTS
    script = "import app.worker.health, sys; print({'pydantic', 'fastapi', 'numpy'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
