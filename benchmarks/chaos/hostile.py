"""Bodies that are small to send and large to read."""

import gzip
import io
import json
import zipfile
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

__all__ = ["BODIES", "COLUMNS", "NPZ", "Body", "gzip_members", "matrix_answer"]

NPZ = "application/vnd.fedsift.npz"
COLUMNS = ("data", "processing_capacity", "processing_cost", "receive_capacity", "transmit_budget")
Body = tuple[str, bytes, dict[str, str]]  # path, bytes, headers


def _packed(path: str, text: str) -> Body:
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    return path, gzip.compress(text.encode(), 9), headers


def _plain(path: str, body: Any) -> Body:
    return path, json.dumps(body, separators=(",", ":")).encode(), {"Content-Type": "application/json"}


def _network(devices: str, topology: str) -> str:
    return f'{{"devices":{{{devices}}},"topology":{topology}}}'


_NO_LINKS = '{"kind":"links","source":[],"target":[],"similarity":[],"transmit_cost":[]}'


@cache
def long_array() -> Body:
    """30 million numbers, and then a word."""
    column = "0," * 29_000_000 + '"x"'
    return _packed("/v1/plans", f'{{"network":{_network(f""""data":[{column}]""", _NO_LINKS)},"sample_size":1}}')


@cache
def empty_rows() -> Body:
    """Label counts of 19 million devices, each empty."""
    rows = "[]," * 19_000_000 + "[]"
    return _packed("/v1/plans", f'{{"network":{_network(f""""label_counts":[{rows}]""", _NO_LINKS)},"sample_size":1}}')


@cache
def archive_of_zeros() -> Body:
    """Five columns of 95 million bytes that are all zero."""
    zeros = np.zeros(95_000_000, np.uint8)
    parameters = np.frombuffer(b'{"sample_size":1,"horizon":1}', np.uint8)
    nothing = np.zeros(0)
    arrays: dict[str, Any] = dict.fromkeys(COLUMNS, zeros) | {"parameters": parameters}
    arrays |= dict.fromkeys(("source", "target", "similarity", "transmit_cost"), nothing)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w") as entry:
                np.lib.format.write_array(entry, array, allow_pickle=False)
    return "/v1/plans/binary", stream.getvalue(), {"Content-Type": NPZ}


@cache
def long_horizon() -> Body:
    """20,000 devices, all sampled, over 2,000 steps."""
    n = 20_000
    columns = {name: [1000.0] * n for name in COLUMNS} | {"data": [100.0] * n, "processing_cost": [0.001] * n}
    topology = {"kind": "links", "source": [], "target": [], "similarity": [], "transmit_cost": []}
    network = {"devices": columns, "topology": topology}
    return _plain("/v1/plans", {"network": network, "sample_size": n, "horizon": 2000})


@cache
def dense_validation() -> Body:
    """Three matrices of 3,000 × 3,000."""
    n = 3000
    matrix = "[" + ",".join(["[" + "0," * (n - 1) + "0]"] * n) + "]"
    numbers = "[" + "900," * (n - 1) + "900]"
    devices = ",".join(f'"{name}":{numbers}' for name in COLUMNS)
    topology = f'{{"kind":"matrix","adjacency":{matrix},"similarity":{matrix},"transmit_cost":{matrix}}}'
    source = f'{{"kind":"network","network":{_network(devices, topology)}}}'
    return _packed("/v1/validations", f'{{"source":{source},"schemes":["random"],"seeds":[0],"draws":1}}')


@cache
def matrix_answer() -> Body:
    """1,000 devices, 20 steps, each step's answer a dense matrix."""
    n = 1000
    columns = {name: [1000] * n for name in COLUMNS} | {"processing_cost": [1] * n, "data": [100] * n}
    ends = list(range(n))
    topology = {
        "kind": "links",
        "source": ends[1:],
        "target": [0] * (n - 1),
        "similarity": [0.5] * (n - 1),
        "transmit_cost": [0.1] * (n - 1),
    }
    network = {"devices": columns, "topology": topology}
    return _plain("/v1/plans", {"network": network, "sample_size": 5, "horizon": 20, "output": "matrix"})


BODIES: dict[str, Callable[[], Body]] = {
    "long-array": long_array,
    "empty-label-counts": empty_rows,
    "archive-of-zeros": archive_of_zeros,
    "long-horizon": long_horizon,
    "dense-validation": dense_validation,
    "matrix-answer": matrix_answer,
}


def gzip_members(count: int) -> Body:
    """A gzip stream of so many empty members."""
    return "/v1/plans", gzip.compress(b"", 9) * count, {"Content-Type": "application/json", "Content-Encoding": "gzip"}
