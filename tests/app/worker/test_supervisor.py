"""The supervisor and processes that freeze: it ends those that are silent, and only those."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app.worker import supervisor
from app.worker.supervisor import Supervisor
from tests.support.waiting import PATIENCE, lives, until

# As a worker does: a pulse to the pipe that it is given. The first one then freezes within a write to the database,
# with a child of its own, as a trainer is.
FREEZING = """
import os, signal, sqlite3, subprocess, sys, time
folder, pulse = sys.argv[1], int(sys.argv[2])
first = not os.path.exists(folder + "/pids")
os.write(pulse, b".")
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
connection = sqlite3.connect(folder + "/fedsift.db", isolation_level=None)
if first:
    connection.execute("BEGIN IMMEDIATE")
with open(folder + "/pids", "a") as pids:
    print(os.getpid(), child.pid, file=pids, flush=True)
if first:
    os.kill(child.pid, signal.SIGSTOP)
    os.kill(os.getpid(), signal.SIGSTOP)
while True:
    os.write(pulse, b".")
    time.sleep(0.1)
"""

SUPERVISING = """
import sys, time
from app.worker import supervisor
supervisor._COMMAND = (sys.executable, "-c", sys.argv[1], sys.argv[2])
kept = supervisor.Supervisor(1, 0, timeout=2)
kept.start()
sys.stdin.read()
kept.kill()
"""


def pids(folder: Path) -> list[list[int]]:
    path = folder / "pids"
    return [[int(word) for word in line.split()] for line in path.read_text().splitlines()] if path.exists() else []


def test_a_worker_that_froze_within_a_write_is_ended_with_its_trainer(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(supervisor, "_COMMAND", (sys.executable, "-c", FREEZING, str(tmp_path)))
    kept = Supervisor(1, 0, timeout=2)
    kept.start()
    try:
        until(lambda: len(pids(tmp_path)) == 2)
        first, second = pids(tmp_path)
        assert not any(lives(pid) for pid in first)
        connection = sqlite3.connect(tmp_path / "fedsift.db", timeout=1, isolation_level=None)
        connection.execute("BEGIN IMMEDIATE")  # the lock went with the frozen process
        connection.close()
        time.sleep(3)  # more than the timeout: whoever sends a pulse is left alone
        assert (pids(tmp_path), lives(second[0])) == ([first, second], True)
    finally:
        kept.kill()
        kept.stop()
    assert not lives(second[0])


def test_a_supervisor_that_froze_with_its_worker_kills_nobody(tmp_path: Path) -> None:
    (tmp_path / "pids").touch()  # so that no process freezes itself
    command = [sys.executable, "-c", SUPERVISING, FREEZING, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        until(lambda: pids(tmp_path))
        ((worker, _),) = pids(tmp_path)
        time.sleep(1)
        for pid in (worker, process.pid):
            os.kill(pid, signal.SIGSTOP)
        time.sleep(4)  # two timeouts
        os.kill(process.pid, signal.SIGCONT)
        time.sleep(0.3)  # it looks before the worker can send a pulse
        os.kill(worker, signal.SIGCONT)
        time.sleep(1)
        assert lives(worker)
        assert len(pids(tmp_path)) == 1
        assert process.stdin is not None
        process.stdin.close()
        process.wait(PATIENCE)
    until(lambda: not lives(worker))
