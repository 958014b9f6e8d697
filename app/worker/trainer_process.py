"""The subprocess that trains: lines of JSON to and from `python -m fedl_sim.trainer`, by name, never imported."""

import json
import os
import queue
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

__all__ = ["Trainer", "TrainerDiedError", "TrainingError"]

_MODULE = "fedl_sim.trainer"


class TrainingError(Exception):
    """The trainer says why a part cannot be trained."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(detail)
        self.kind = kind


class TrainerDiedError(Exception):
    """The trainer is gone, or does not answer in time."""


class Trainer:
    """One training process, started at once and kept from part to part: loading it takes longer than many a round."""

    def __init__(self, folder: Path, *, threads: int, timeout: float, data_dir: str | None) -> None:
        self._folder = folder
        self._timeout = timeout
        self._environment = {**os.environ, "FEDSIFT_TRAINER_THREADS": str(threads)}
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
            self._environment.setdefault(name, str(threads))
        if data_dir:
            self._environment["FEDSIFT_DATA_DIR"] = data_dir
        self._process: subprocess.Popen[str] | None = None
        self._answers: queue.Queue[str] = queue.Queue()
        self.ensure()

    def ensure(self) -> None:
        """Start the process unless it runs."""
        if self._process is not None and self._process.poll() is None:
            return
        command = [sys.executable, "-P", "-m", _MODULE]  # -P: the working directory is not on the import path
        self._process = subprocess.Popen(  # noqa: S603 - this interpreter, our own module
            command, env=self._environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._answers = queue.Queue()
        threading.Thread(target=_pass_on, args=(self._process, self._answers), daemon=True).start()

    def open(self, part: dict[str, Any], checkpoint: bytes | None) -> dict[str, Any]:
        """Make the trainer stand where a part does."""
        path: Path | None = None
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            if checkpoint is not None:
                path = self._folder / "given.npz"
                path.write_bytes(checkpoint)
        except OSError as error:
            raise TrainingError("disk", str(error)) from error
        place = None if path is None else str(path)
        opened: dict[str, Any] = self._ask({"open": part, "checkpoint": place, "folder": str(self._folder)})["opened"]
        return opened

    def advance(self, aggregation: int) -> tuple[dict[str, Any], bytes, float]:
        """Train a round: what was measured, the checkpoint after it, and the worst certified gap so far."""
        answer = self._ask({"advance": aggregation})
        try:
            checkpoint = Path(answer["checkpoint"]).read_bytes()
        except OSError as error:
            raise TrainingError("disk", str(error)) from error
        return answer["record"], checkpoint, answer["worst_relative_gap"]

    def stop(self) -> None:
        """End the process; it keeps nothing that is not written."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        self.ensure()
        process = self._process
        if process is None or process.stdin is None:
            raise TrainerDiedError("the training process did not start")
        try:
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            line = self._answers.get(timeout=self._timeout)
        except queue.Empty:
            self.stop()
            raise TrainerDiedError(f"a round took more than {self._timeout:g} seconds") from None
        except OSError as error:
            raise TrainerDiedError(f"the training process is gone: {error}") from error
        if not line:
            raise TrainerDiedError(f"the training process ended with {process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise TrainingError(answer["error"]["type"], answer["error"]["detail"])
        return answer


def _pass_on(process: "subprocess.Popen[str]", answers: "queue.Queue[str]") -> None:
    assert process.stdout is not None  # noqa: S101 - it was asked for
    for line in process.stdout:
        answers.put(line)
    answers.put("")
