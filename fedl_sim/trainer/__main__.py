"""`python -m fedl_sim.trainer`: trains parts of validations for a worker, a line of JSON in and a line out.

    {"open": {part}, "checkpoint": "path" or null, "folder": "path"}   → {"opened": {"next": k, "sampled": […]}}
    {"advance": k}                                                     → {"record": {…}, "checkpoint": "path", …}

or, to either, {"error": {"type": …, "detail": …}}; the process stays for the next part. A checkpoint is a file
that is whole or absent. The process ends with its standard input, at once: when its worker is killed nobody
would ask for what it computes.
"""

import dataclasses
import json
import os
import queue
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

from fedl_sim.atomic import write_atomically
from fedl_sim.errors import CheckpointError, DataSetError, InvalidSettingError, SimulationError
from fedl_sim.loop.checkpoint import pack, restore
from fedl_sim.loop.loop import SchemeLoop
from fedl_sim.trainer.part import open_part
from sampler.errors import SamplingError, UnknownSchemeError
from solver.errors import FedsiftError, MissingExtraError

__all__ = ["main"]

_NICENESS = 10
_KINDS: tuple[tuple[type[BaseException], str], ...] = (
    (DataSetError, "data-set"),
    (MissingExtraError, "data-set"),
    (CheckpointError, "checkpoint"),
    (UnknownSchemeError, "invalid"),
    (SamplingError, "infeasible"),
    (InvalidSettingError, "invalid"),
    (SimulationError, "infeasible"),
    (FedsiftError, "invalid"),
    (ValueError, "invalid"),
    (MemoryError, "memory"),
    (OSError, "disk"),
)


class _Trainer:
    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._loop: SchemeLoop | None = None
        self._path = Path()

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        if "open" in request:
            return self._open(request)
        return self._advance(request["advance"])

    def _open(self, request: dict[str, Any]) -> dict[str, Any]:
        self._loop = None
        loop = open_part(request["open"], threads=self._threads)
        if request["checkpoint"] is not None:
            restore(loop, Path(request["checkpoint"]).read_bytes())
        self._loop = loop
        self._path = Path(request["folder"]) / "checkpoint.npz"
        return {"opened": {"next": len(loop.records), "sampled": loop.sampled.tolist()}}

    def _advance(self, aggregation: int) -> dict[str, Any]:
        loop = self._loop
        if loop is None or len(loop.records) != aggregation:
            raise CheckpointError(f"aggregation {aggregation} is not next")
        record = loop.advance()
        write_atomically(self._path, pack(loop))
        return {
            "record": dataclasses.asdict(record),
            "checkpoint": str(self._path),
            "worst_relative_gap": loop.planner.worst_relative_gap,
        }


def explained(error: Exception) -> dict[str, Any]:
    """An error as the worker reads it: a kind, and a sentence for people."""
    kind = next((name for known, name in _KINDS if isinstance(error, known)), "internal")
    detail = str(error) if kind not in {"internal", "memory"} else f"{type(error).__name__}: {error}"
    return {"error": {"type": kind, "detail": detail}}


def _lines() -> Iterator[str]:
    """Requests as they come; their end ends the process, in the middle of whatever it does."""
    found: queue.Queue[str] = queue.Queue()

    def read() -> None:
        for line in sys.stdin:
            found.put(line)
        os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    return iter(found.get, None)


def _warm_up() -> None:
    """Load what the first part would wait for: the small data set and the compiled kernels."""
    tiny = {"generator": {"n_devices": 4, "mean_datapoints": 5, "link_probability": 1.0}, "labels_per_device": 3}
    sizes = {"sample_size": 1, "aggregations": 1, "aggregation_period": 1, "learning_rate": 0.01, "batch_size": 5}
    with suppress(FedsiftError):  # the first part meets the same failure and reports it
        loop = open_part({**tiny, **sizes, "data_set": "digits", "scheme": "greedy+fast", "seed": 0, "draw": 0})
        loop.advance()
        loop.advance()


def main() -> None:
    """Serve requests until standard input ends."""
    with suppress(OSError):
        os.nice(_NICENESS)  # the service beside it goes first
    # What libraries print must not get between the answers.
    answers: TextIO = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    trainer = _Trainer(int(os.environ.get("FEDSIFT_TRAINER_THREADS", "1")))
    lines = _lines()
    _warm_up()
    for line in lines:
        try:
            answer = trainer.answer(json.loads(line))
        except Exception as error:  # whatever it is, the worker is told
            answer = explained(error)
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
