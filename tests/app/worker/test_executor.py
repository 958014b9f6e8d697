"""When a worker takes a part: not before its training process can begin it."""

import sys
import time
from pathlib import Path

import pytest

from app.validations.attempts import AttemptLimits
from app.validations.parts import PartStore
from app.worker import trainer_process
from app.worker.executor import Executor
from app.worker.store import WorkerStore
from app.worker.trainer_process import Trainer
from tests.support.crew import Crew
from tests.support.waiting import PATIENCE

# It has loaded once a file is there, and never opens a part.
PROGRAM = """
import pathlib, sys, time
sys.stdin.readline()
while not pathlib.Path(sys.argv[1]).exists():
    time.sleep(0.01)
print('{"loaded": true}', flush=True)
time.sleep(600)
"""


def test_a_part_is_claimed_when_the_training_process_has_loaded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    sign = tmp_path / "loaded"
    monkeypatch.setattr(trainer_process, "_COMMAND", (sys.executable, "-c", PROGRAM, str(sign)))
    with Crew(f"sqlite:///{tmp_path}/fedsift.db", tmp_path) as crew:
        validation = crew.submit("ours")
        WorkerStore(crew.store).register("one", "here", 1)
        limits = AttemptLimits(failed=1, lost=1)
        trainers = [Trainer(tmp_path / name, threads=1, timeout=PATIENCE, data_dir=None) for name in ("a", "b")]
        loading = Executor(PartStore(crew.store), "one", trainers[0], limits)
        loading.start()
        time.sleep(1)
        assert crew.begun(validation) == 0
        # It does not wait for a process that nobody needs any more, and that would never end.
        assert loading.stop(PATIENCE)
        sign.touch()
        ready = Executor(PartStore(crew.store), "one", trainers[1], limits)
        ready.start()
        crew.until(lambda: crew.begun(validation) == 1)
        assert not ready.stop(0.1)
        assert (crew.begun(validation), crew.find(validation).state) == (0, "running")  # given back
