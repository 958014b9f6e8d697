"""The training process: `python -m fedl_sim.trainer`, started by name and spoken to in lines of JSON."""

import json
import os
import queue
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from fedl_sim.contract import (
    Advance,
    Advanced,
    ContractError,
    Failure,
    Load,
    Loaded,
    Open,
    Opened,
    Part,
    Request,
    read_reply,
)

__all__ = ["Trainer", "TrainerDiedError", "TrainingError"]

T = TypeVar("T", Loaded, Opened, Advanced)

# All that the training process may know of this process' environment: no database, no password, no secret of the API.
_INHERITED = ("HOME", "LANG", "PATH", "TMPDIR", "TZ", "VIRTUAL_ENV")
_INHERITED_PREFIXES = ("LC_", "LD_", "MKL_", "NUMBA_", "OMP_", "OPENBLAS_", "PYTHON", "XDG_")

# `-P` keeps the working directory off the import path: a folder `fedl_sim/` there must not replace ours.
_COMMAND = (sys.executable, "-P", "-m", "fedl_sim.trainer")


# Kernels may have to be compiled first, which takes minutes; a process that takes longer than this hangs.
_LOAD_SECONDS = 3600.0


class TrainingError(Exception):
    """A part cannot be trained; `failure` says why."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.detail)
        self.failure = failure


class TrainerDiedError(Exception):
    """The training process ended, does not reply in time, or sends what is no reply."""


class Trainer:
    """One training process, started at once and kept from part to part: loading it takes longer than many a round."""

    def __init__(self, folder: Path, *, threads: int, timeout: float, data_dir: str | None) -> None:
        self._folder = folder
        self._timeout = timeout
        self._environment = _environment(threads, data_dir)
        self._process: subprocess.Popen[str] | None = None
        self._is_loaded = False
        self._replies: queue.Queue[str] = queue.Queue()
        self.ensure()

    def ensure(self) -> None:
        """Start the process unless it runs."""
        if self._process is not None and self._process.poll() is None:
            return
        self.stop()
        self._is_loaded = False
        self._process = subprocess.Popen(  # noqa: S603 - this interpreter, our own module
            _COMMAND, env=self._environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._replies = queue.Queue()
        threading.Thread(target=_pass_on, args=(self._process, self._replies), daemon=True).start()

    def load(self) -> None:
        """Wait until the process has loaded all that it needs to begin a part; start it unless it runs.

        Raises:
            TrainerDiedError: there is no reply.
        """
        self.ensure()
        if not self._is_loaded:
            self._ask(Load(), Loaded, max(self._timeout, _LOAD_SECONDS))
            self._is_loaded = True

    def open(self, part: Part, checkpoint: bytes | None) -> Opened:
        """Begin a part, or go on with it from a checkpoint.

        Raises:
            TrainingError: it cannot be trained.
            TrainerDiedError: there is no reply.
        """
        path: Path | None = None
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            if checkpoint is not None:
                path = self._folder / "given.npz"
                path.write_bytes(checkpoint)
        except OSError as error:
            raise TrainingError(Failure("disk", str(error))) from error
        self.ensure()
        return self._ask(Open(part, None if path is None else str(path), str(self._folder)), Opened, self._timeout)

    def advance(self, aggregation: int) -> tuple[Advanced, bytes]:
        """Train a round; returns what was measured and the checkpoint after it.

        Raises:
            TrainingError: it cannot be trained.
            TrainerDiedError: there is no reply.
        """
        advanced = self._ask(Advance(aggregation), Advanced, self._timeout)
        try:
            return advanced, Path(advanced.checkpoint).read_bytes()
        except OSError as error:
            raise TrainingError(Failure("disk", str(error))) from error

    def stop(self) -> None:
        """End the process if it runs; it keeps nothing that is not written."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        if process.stdin is not None:
            with suppress(OSError):  # a request that it did not read
                process.stdin.close()

    def _ask(self, request: Request, expected: type[T], seconds: float) -> T:
        line = self._exchange(json.dumps(request.to_json()), seconds)
        try:
            reply = read_reply(line)
        except ContractError as error:
            self.stop()  # what it sends next would be taken for the reply to a later request
            raise TrainerDiedError(f"the training process sent what is no reply: {error}") from error
        if isinstance(reply, Failure):
            raise TrainingError(reply)
        if not isinstance(reply, expected):
            self.stop()
            raise TrainerDiedError(f"the training process replied {type(reply).__name__} to {type(request).__name__}")
        return reply

    def _exchange(self, line: str, seconds: float) -> str:
        """Send a line and wait for the one that comes back.

        A process that ended is not replaced here: a new one has no part open, so it could not advance.
        """
        process = self._process
        if process is None or process.stdin is None:
            raise TrainerDiedError("there is no training process")
        try:
            process.stdin.write(line + "\n")
            process.stdin.flush()
            reply = self._replies.get(timeout=seconds)
        except queue.Empty:
            self.stop()
            raise TrainerDiedError(f"a round took more than {seconds:g} seconds") from None
        except (OSError, ValueError) as error:  # the other end of the pipe is closed, or this end by `stop`
            raise TrainerDiedError(f"the training process is gone: {error}") from error
        if not reply:
            raise TrainerDiedError(f"the training process ended with {process.wait()}")
        return reply


def _environment(threads: int, data_dir: str | None) -> dict[str, str]:
    kept = {name: os.environ[name] for name in os.environ if name in _INHERITED or name.startswith(_INHERITED_PREFIXES)}
    limits = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), str(threads))
    ours = {"FEDSIFT_TRAINER_THREADS": str(threads), "FEDSIFT_DATA_DIR": data_dir or ""}
    return {**limits, **kept, **ours}


def _pass_on(process: "subprocess.Popen[str]", replies: "queue.Queue[str]") -> None:
    assert process.stdout is not None  # noqa: S101 - it was asked for
    with process.stdout as lines:
        for line in lines:
            replies.put(line)
    replies.put("")
