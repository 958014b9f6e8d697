"""Checkpoints: the state of a run between two aggregations, from which another process continues bit by bit the same.

A checkpoint is an .npz archive of plain arrays without pickle. It holds the parameters, the data received, one bit for
each datapoint of a sender on a link in use, and the planner's state. It leaves out what follows from the run's
specification (network, partition, sampled devices), so it stays small.
"""

import dataclasses
import io
import json
from typing import Any

import numpy as np

from fedl_sim.errors import CheckpointError
from fedl_sim.loop.loop import SchemeLoop, Totals
from fedl_sim.loop.records import AggregationRecord
from fedl_sim.loop.server import Observation

__all__ = ["pack", "restore"]


def pack(loop: SchemeLoop) -> bytes:
    """Return the state of a loop as bytes."""
    facts = {
        "totals": dataclasses.asdict(loop.totals),
        "records": [dataclasses.asdict(record) for record in loop.records],
        "processed": list(loop.processed.values()),
        "seen": dataclasses.asdict(loop.seen),
        "planner": loop.planner.to_lists(),
    }
    arrays: dict[str, Any] = {
        "parameters": loop.parameters,
        "sampled": loop.sampled,
        "facts": np.frombuffer(json.dumps(facts).encode(), np.uint8),
        **loop.holdings.to_arrays(),
    }
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def restore(loop: SchemeLoop, packed: bytes) -> None:
    """Set a loop, made from the same specification, to the state that was packed.

    Raises:
        CheckpointError: the bytes are not a checkpoint of such a loop.
    """
    try:
        with np.load(io.BytesIO(packed), allow_pickle=False) as archive:
            arrays: dict[str, Any] = dict(archive)
        facts = json.loads(arrays["facts"].tobytes())
    except (ValueError, KeyError, OSError) as error:
        raise CheckpointError(f"the checkpoint cannot be read: {error}") from error
    done = len(facts["records"]) - 1
    if done > 0:
        loop.go_to(done)
    if not np.array_equal(arrays["sampled"], loop.sampled) or arrays["parameters"].shape != loop.parameters.shape:
        raise CheckpointError("the checkpoint belongs to another run")
    loop.parameters = arrays["parameters"]
    loop.totals = Totals(**facts["totals"])
    loop.records = [AggregationRecord(**record) for record in facts["records"]]
    # Checkpoints of earlier releases do not have it; their devices are all there to measure again.
    loop.seen = Observation(**facts["seen"]) if "seen" in facts else loop.seen
    loop.processed = dict(zip(loop.processed, facts["processed"], strict=True))
    loop.planner.restore(facts["planner"])
    loop.holdings.restore(arrays)
