"""The worker's side of the training process, against programs that reply well, badly or not at all."""

import ast
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from app.worker import trainer_process
from app.worker.trainer_process import Trainer, TrainerDiedError, TrainingError
from fedl_sim.contract import Failure, Opened
from tests.support.parts import PART, make_part
from tests.support.stored_work import RECORD

OPENED = json.dumps({"opened": {"next": 0, "sampled": [2, 1]}})
ADVANCED = {"record": json.loads(RECORD), "worst_relative_gap": 1e-8}


@contextmanager
def replying(monkeypatch: pytest.MonkeyPatch, folder: Path, *lines: str, timeout: float = 30) -> Iterator[Trainer]:
    """A trainer whose process writes down each request and replies with the next of these lines."""
    program = (
        f"import sys\nlog = open({str(folder / 'requests')!r}, 'a')\n"
        f"for line, reply in zip(sys.stdin, {lines!r}):\n"
        "    log.write(line); log.flush(); print(reply, flush=True)\n"
    )
    monkeypatch.setattr(trainer_process, "_COMMAND", (sys.executable, "-c", program))
    trainer = Trainer(folder, threads=1, timeout=timeout, data_dir=None)
    try:
        yield trainer
    finally:
        trainer.stop()


def test_requests_and_replies_are_those_of_the_contract(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    written = tmp_path / "checkpoint.npz"
    written.write_bytes(b"after")
    advanced = json.dumps({**ADVANCED, "checkpoint": str(written)})
    with replying(monkeypatch, tmp_path, OPENED, advanced) as trainer:
        assert trainer.open(make_part(), b"before") == Opened(0, (2, 1))
        trained, checkpoint = trainer.advance(0)
    assert trained.record.to_json() == json.loads(RECORD)
    assert (trained.facts.worst_relative_gap, checkpoint) == (1e-8, b"after")
    first, second = map(json.loads, (tmp_path / "requests").read_text().splitlines())
    given = tmp_path / "given.npz"
    assert (first["checkpoint"], first["folder"], given.read_bytes()) == (str(given), str(tmp_path), b"before")
    assert make_part(**first["open"]) == make_part()
    assert set(first["open"]) == set(PART)
    assert second == {"advance": 0}


def test_a_failure_keeps_the_process_for_the_next_part(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    failed = json.dumps({"error": {"type": "infeasible", "detail": "too few devices"}})
    with replying(monkeypatch, tmp_path, failed, OPENED) as trainer:
        with pytest.raises(TrainingError, match="too few devices") as caught:
            trainer.open(make_part(), None)
        assert caught.value.failure == Failure("infeasible", "too few devices")
        assert trainer.open(make_part(), None).sampled == (2, 1)


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("Segmentation fault", "is not JSON"),
        ('{"opened": {"next": "0", "sampled": []}}', "opened.next: must be an integer, is a text"),
        (json.dumps({**ADVANCED, "checkpoint": "x"}), "replied Advanced to Open"),
        ("[]", "must be an object"),
    ],
)
def test_after_what_is_no_reply_a_new_process_is_asked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, reply: str, said: str
) -> None:
    with replying(monkeypatch, tmp_path, reply, "never read") as trainer:
        with pytest.raises(TrainerDiedError, match=said):
            trainer.open(make_part(), None)
        with pytest.raises(TrainerDiedError, match=said):  # the first line of another process
            trainer.open(make_part(), None)


def test_a_process_that_ends_or_is_silent_is_said_to_be(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with (
        replying(monkeypatch, tmp_path) as trainer,
        pytest.raises(TrainerDiedError, match="ended with 0|is gone"),
    ):
        trainer.open(make_part(), None)
    monkeypatch.setattr(trainer_process, "_COMMAND", (sys.executable, "-c", "import time; time.sleep(60)"))
    silent = Trainer(tmp_path, threads=1, timeout=0.2, data_dir=None)
    with pytest.raises(TrainerDiedError, match=r"more than 0.2 seconds"):
        silent.open(make_part(), None)


def test_a_checkpoint_that_is_gone_is_a_failure_of_the_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    gone = json.dumps({**ADVANCED, "checkpoint": str(tmp_path / "nowhere.npz")})
    with replying(monkeypatch, tmp_path, gone) as trainer, pytest.raises(TrainingError, match="nowhere") as caught:
        trainer.advance(0)
    assert caught.value.failure.type == "disk"


def test_a_process_that_died_between_two_rounds_is_not_replaced_by_one_without_a_part(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with replying(monkeypatch, tmp_path, OPENED) as trainer:
        trainer.open(make_part(), None)
        assert trainer._process is not None
        trainer._process.kill()
        trainer._process.wait()
        with pytest.raises(TrainerDiedError, match="ended with -9|is gone"):
            trainer.advance(0)
        assert trainer.open(make_part(), None).next == 0  # another process, from the part's last stored round


def test_the_process_inherits_neither_database_nor_secrets(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    secrets = {
        "FEDSIFT_DATABASE_URL": "postgresql://u:secret@host/db",
        "PGPASSWORD": "secret",
        "FEDSIFT_ADMIN_KEY": "secret",
        "AWS_SECRET_ACCESS_KEY": "secret",
    }
    for name, value in {**secrets, "NUMBA_CACHE_DIR": "/kernels", "FEDSIFT_DATA_DIR": "/elsewhere"}.items():
        monkeypatch.setenv(name, value)
    program = f"import os, sys; print(dict(os.environ), file=open({str(tmp_path / 'seen')!r}, 'w'), flush=True)"
    monkeypatch.setattr(trainer_process, "_COMMAND", (sys.executable, "-c", program))
    trainer = Trainer(tmp_path, threads=3, timeout=30, data_dir="/data")
    with pytest.raises(TrainerDiedError):
        trainer.open(make_part(), None)
    trainer.stop()
    seen = ast.literal_eval((tmp_path / "seen").read_text())
    assert not {*secrets} & {*seen}
    assert "secret" not in str(seen)
    assert (seen["NUMBA_CACHE_DIR"], seen["OMP_NUM_THREADS"], seen["PATH"]) == ("/kernels", "3", os.environ["PATH"])
    assert {name: seen[name] for name in seen if name.startswith("FEDSIFT_")} == {
        "FEDSIFT_DATA_DIR": "/data",
        "FEDSIFT_TRAINER_THREADS": "3",
    }
