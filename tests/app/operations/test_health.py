"""The health checks of containers."""

import subprocess
import sys
import threading
from pathlib import Path

from app.store import Store
from app.worker.health import is_working
from app.worker.store import WorkerStore
from tests.support.server import Server, free_port


def probe(port: str) -> int:
    command = [sys.executable, "-m", "app.operations.health"]
    return subprocess.run(command, env={"FEDSIFT_PORT": port}, check=False).returncode


def test_a_ready_service_and_none(server: Server) -> None:
    assert probe(server.url.rpartition(":")[2]) == 0
    assert probe(str(free_port())) == 1


def test_the_probe_loads_nothing_heavy() -> None:
    script = "import app.operations.health, sys; print({'pydantic', 'fastapi', 'numpy'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_a_worker_is_well_while_its_heart_beats(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path}/fedsift.db")
    assert not is_working(store, "here", 10)
    workers = WorkerStore(store)
    workers.register("w", "here", 1)
    assert not is_working(store, "here", 0.5)  # it is in the table, and its heart does not beat
    stop = threading.Event()

    def beat() -> None:
        while not stop.wait(0.2):
            workers.beat("w")

    heart = threading.Thread(target=beat)
    heart.start()
    assert is_working(store, "here", 60)
    assert not is_working(store, "elsewhere", 10)
    stop.set()
    heart.join()
    store.close()


def test_a_store_that_is_away_is_not_well(tmp_path: Path) -> None:
    (tmp_path / "fedsift.db").mkdir()
    assert not is_working(Store(f"sqlite:///{tmp_path}/fedsift.db"), "here", 10)
