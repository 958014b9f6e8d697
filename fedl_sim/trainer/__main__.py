"""`python -m fedl_sim.trainer`: trains parts of validations for a worker, a line of JSON in and a line out.

`fedl_sim.contract.messages` has the requests and the replies. After a failure the process stays for the next part. A
checkpoint is a file that is whole or absent. When standard input ends the process ends too, in the middle of a round
if need be: its worker is gone, and nobody would use what it computes.
"""

import json
import os
import queue
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from fedl_sim.atomic import write_atomically
from fedl_sim.contract import (
    Advanced,
    ContractError,
    Facts,
    Failure,
    GeneratorSettings,
    Load,
    Loaded,
    Open,
    Opened,
    Part,
    Reply,
    Request,
    Work,
    read_request,
)
from fedl_sim.errors import CheckpointError, DataSetError, InvalidSettingError, SimulationError
from fedl_sim.loop.checkpoint import pack, restore
from fedl_sim.loop.loop import SchemeLoop
from fedl_sim.trainer.part import open_part
from sampler.errors import SamplingError, UnknownSchemeError
from solver.errors import FedsiftError

__all__ = ["main"]

_NICENESS = 10
# The first that fits names the failure, so a class comes before the class it is derived from.
_FAILURES: tuple[tuple[type[BaseException], str], ...] = (
    (DataSetError, "data-set"),
    (CheckpointError, "checkpoint"),
    (ContractError, "invalid"),
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

    def answer(self, request: Request) -> Reply:
        if isinstance(request, Load):
            return Loaded()  # `main` has loaded everything before it reads the first request
        if isinstance(request, Open):
            return self._open(request)
        return self._advance(request.aggregation)

    def _open(self, request: Open) -> Opened:
        self._loop = None
        loop = open_part(request.part, threads=self._threads)
        if request.checkpoint is not None:
            _restore(loop, Path(request.checkpoint).read_bytes())
        self._loop = loop
        self._path = Path(request.folder) / "checkpoint.npz"
        return Opened(len(loop.records), tuple(loop.sampled.tolist()))

    def _advance(self, aggregation: int) -> Advanced:
        loop = self._loop
        if loop is None or len(loop.records) != aggregation:
            raise CheckpointError(f"aggregation {aggregation} is not next")
        record = loop.advance()
        write_atomically(self._path, pack(loop))
        return Advanced(record, str(self._path), Facts(loop.planner.worst_relative_gap))


def _restore(loop: SchemeLoop, packed: bytes) -> None:
    """Whatever a damaged checkpoint raises, the worker is told that the checkpoint is the fault."""
    try:
        restore(loop, packed)
    except (CheckpointError, MemoryError):
        raise
    except Exception as error:
        raise CheckpointError(f"the checkpoint cannot be read: {type(error).__name__}: {error}") from error


def explained(error: Exception) -> Failure:
    """An error as the worker reads it."""
    kind = next((name for known, name in _FAILURES if isinstance(error, known)), "internal")
    detail = str(error) if kind not in {"internal", "memory"} else f"{type(error).__name__}: {error}"
    return Failure(kind, detail)


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
    work = Work(
        source=GeneratorSettings(4, link_probability=1.0, mean_datapoints=5),
        data_set="digits",
        model=None,
        labels_per_device=3,
        sample_size=1,
        aggregations=1,
        aggregation_period=1,
        learning_rate=0.01,
        batch_size=5,
        target=0.5,
        tolerance=0.1,
    )
    with suppress(FedsiftError):  # the first part meets the same failure and reports it
        loop = open_part(Part(work, "greedy+fast", 0, 0))
        loop.advance()
        loop.advance()


def main() -> None:
    """Serve requests until standard input ends."""
    # What libraries print must not get between the replies.
    replies: TextIO = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    trainer = _Trainer(int(os.environ.get("FEDSIFT_TRAINER_THREADS", "1")))
    lines = _lines()
    _warm_up()
    # Training leaves the processor to the service beside it. Loading does not: a worker claims nothing before, and on a
    # busy machine it would take minutes.
    with suppress(OSError):
        os.nice(_NICENESS)
    for line in lines:
        reply: Reply
        try:
            reply = trainer.answer(read_request(line))
        except Exception as error:  # whatever it is, the worker is told
            reply = explained(error)
        replies.write(json.dumps(reply.to_json()) + "\n")
        replies.flush()


if __name__ == "__main__":
    main()
