"""Workers as processes, and validations put straight into the store."""

import json
import os
import secrets
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from app.store import Store
from app.store.about import About
from app.validations.records import EventRecord, ValidationRecord
from app.validations.store import NewPart, NewValidation, ValidationStore
from fedl_sim.contract import Work
from tests.support.command import environment
from tests.support.kernels import compile_kernels
from tests.support.leftovers import ends_with_this_process
from tests.support.waiting import PATIENCE, until

# A worker whose training process loads, and answers nothing more.
NEVER_TRAINING = """
import sys
from app.worker import main, trainer_process
program = "import time; input(); print('{\\"loaded\\": true}', flush=True); time.sleep(600)"
trainer_process._COMMAND = (sys.executable, "-c", program)
main.main()
"""

WORK: dict[str, Any] = {
    "data_set": "digits",
    "model": None,
    "generator": {"n_devices": 12, "mean_datapoints": 20, "link_probability": 0.4},
    "labels_per_device": 3,
    "sample_size": 3,
    "aggregations": 10,
    "aggregation_period": 2,
    "learning_rate": 0.01,
    "batch_size": 10,
    "target": 0.5,
    "tolerance": 0.1,
}


class Crew:
    def __init__(self, database_url: str, folder: Path, **settings: str) -> None:
        self.url = database_url
        self.folder = folder
        self.settings = settings
        self.store = Store(database_url)
        self.store.check()  # workers wait for a database, and make none
        self.validations = ValidationStore(self.store)
        self.processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> "Crew":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.terminate()
        for process in self.processes:
            process.wait(PATIENCE)
        self.store.close()
        if kind is not None:
            sys.stdout.writelines(log.read_text()[-4000:] for log in self.folder.glob("worker-*.log"))

    @property
    def environment(self) -> dict[str, str]:
        settings = {"database_url": self.url, "scratch_dir": str(self.folder)} | self.settings
        return environment(self.folder, **settings)

    def hire(self, count: int = 1, *, never_training: bool = False) -> None:
        """Start workers; those that never train hold the part that they take until they are killed."""
        compile_kernels()
        command = [sys.executable, *(("-c", NEVER_TRAINING) if never_training else ("-m", "app.worker.main"))]
        for _ in range(count):
            with (self.folder / f"worker-{len(self.processes)}.log").open("wb") as log:
                process = subprocess.Popen(command, env=self.environment, stdout=log, stderr=log)
            ends_with_this_process(process)
            self.processes.append(process)

    def submit(self, *schemes: str, seeds: tuple[int, ...] = (0,), owner: str = "local", **changes: Any) -> str:
        work = {**WORK, **changes}
        parts = tuple(NewPart(scheme, seed, 0, work["aggregations"] + 1) for seed in seeds for scheme in schemes)
        new = NewValidation(f"val_{secrets.token_hex(16)}", owner, About(), b"{}", Work.from_json(work), parts)
        assert self.validations.adding(new, most_open=10**6, most_open_of_owner=10**6, most_bytes=10**12)().new
        return new.id

    def damage(self, validation_id: str, stored: bytes) -> None:
        """Put other bytes where the store keeps what is to be trained."""
        with self.store.write() as t:
            t.change("UPDATE validations SET work = ? WHERE id = ?", stored, validation_id)

    def find(self, validation_id: str) -> ValidationRecord:
        record = self.validations.find("local", validation_id)
        assert record is not None
        return record

    def wait(self, validation_id: str) -> ValidationRecord:
        self.until(lambda: self.find(validation_id).state not in {"queued", "running"})
        return self.find(validation_id)

    def until(self, true: Callable[[], object]) -> None:
        until(true, self.validations.counts)

    def until_more_rounds(self, validation_id: str, count: int) -> None:
        """Until so many more rounds are kept, or all of them."""
        before = self.find(validation_id).rounds_done

        def more() -> bool:
            now = self.find(validation_id)
            return now.rounds_done >= before + count or now.finished_at is not None

        self.until(more)

    def ready(self) -> int:
        """How many workers say that they are ready."""
        return sum("worker ready" in log.read_text() for log in self.folder.glob("worker-*.log"))

    def measured(self, validation_id: str) -> dict[tuple[str, int, int], dict[str, Any]]:
        """Every round's record by scheme, seed and aggregation; no round is kept twice."""
        sql = "SELECT p.scheme, p.seed, r.aggregation, r.record FROM validation_rounds r "
        sql += "JOIN validation_parts p ON p.id = r.part_id WHERE p.validation_id = ?"
        with self.store.read() as t:  # not by the store's own methods, which refuse damaged work
            rows = t.rows(sql, validation_id)
        found = {(scheme, seed, aggregation): json.loads(record) for scheme, seed, aggregation, record in rows}
        assert len(found) == len(rows)
        return found

    def begun(self, validation_id: str) -> int:
        """How many times a round's training was begun."""
        with self.store.read() as t:
            ((count,),) = t.rows("SELECT COUNT(*) FROM validation_attempts WHERE part_id LIKE ?", f"{validation_id}-%")
        return int(count)

    def at_work(self, validation_id: str) -> int | None:
        """A process that has a part of it in hand; those killed already may be in the books a while longer."""
        with self.store.read() as t:
            rows = t.rows(
                "SELECT w.pid FROM validation_parts p JOIN workers w ON w.id = p.worker "
                "WHERE p.validation_id = ? AND p.state = 'running'",
                validation_id,
            )
        living = {process.pid for process in self.processes if process.poll() is None}
        return next((int(pid) for (pid,) in rows if int(pid) in living), None)

    def freeze(self, pid: int) -> None:
        """Stop a process between its writes: whoever is frozen within one keeps its locks from everybody."""
        for _ in range(100):
            os.kill(pid, signal.SIGSTOP)
            if not self._locked():
                return
            os.kill(pid, signal.SIGCONT)
            time.sleep(0.02)
        raise AssertionError("the process was never found outside a write")

    def thaw(self) -> None:
        """Let all processes go on."""
        for process in self.processes:
            process.send_signal(signal.SIGCONT)

    def _locked(self) -> bool:
        if not self.url.startswith("sqlite:///"):
            time.sleep(0.6)
            with self.store.read() as t:
                ((open_since,),) = t.rows(
                    "SELECT COUNT(*) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
                    "AND backend_type = 'client backend' AND xact_start < clock_timestamp() - interval '0.5 seconds'"
                )
            return bool(open_since)
        connection = sqlite3.connect(self.url.removeprefix("sqlite:///"), timeout=2, isolation_level=None)
        try:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")
        except sqlite3.OperationalError:
            return True
        finally:
            connection.close()
        return False

    def check_events_so_far(self, validation_id: str) -> list[EventRecord]:
        """Numbered without gaps; one for every round kept."""
        events = self.validations.events(validation_id, 0, limit=10**6)
        assert [event.number for event in events] == list(range(1, len(events) + 1))
        assert sum(event.kind == "round" for event in events) == len(self.measured(validation_id))
        return events

    def check_events(self, validation_id: str) -> None:
        """As above, and the last tells the end."""
        events = self.check_events_so_far(validation_id)
        assert json.loads(events[-1].body)["state"] == self.find(validation_id).state
