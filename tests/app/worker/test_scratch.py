"""Scratch folders: of the living none is touched, of the killed none stays."""

import signal
import subprocess
import sys
from pathlib import Path

from app.worker.scratch import Scratch, sweep

HOLD = """
import sys, time
from pathlib import Path
from app.worker.scratch import Scratch
held = Scratch(Path(sys.argv[1]), sys.argv[2])
(held.path / "checkpoint.npz").write_bytes(b"x")
print("ready", flush=True)
time.sleep(600)
"""


def test_a_killed_workers_folder_is_swept_and_a_living_ones_is_not(tmp_path: Path) -> None:
    started = [
        subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path), name], stdout=subprocess.PIPE)
        for name in ("host-1-killed", "host-2-frozen")
    ]
    try:
        for process in started:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
        foreign = tmp_path / "fedsift-notes"
        foreign.mkdir()
        assert sweep(tmp_path) == 0
        started[1].send_signal(signal.SIGSTOP)
        started[0].kill()
        started[0].wait()
        assert sweep(tmp_path) == 1
        assert sorted(path.name for path in tmp_path.iterdir()) == ["fedsift-host-2-frozen", "fedsift-notes"]
    finally:
        for process in started:
            process.kill()
            process.communicate()
    assert sweep(tmp_path) == 1


def test_a_worker_that_leaves_takes_its_folder_along(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path, "host-3-leaves")
    assert (scratch.path / "lock").is_file()
    scratch.remove()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_no_reason_to_stop(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    scratch = Scratch(tmp_path / "file", "host-4-odd")
    assert not scratch.path.exists()
    assert sweep(tmp_path / "file") == 0
    scratch.remove()
