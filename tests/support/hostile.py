"""Small bodies that ask for much memory, and the memory of a real process."""

import gzip
import io
import json
from pathlib import Path
from typing import Any

import numpy as np

from app.networks.archived import NPZ
from solver.network import DEVICE_COLUMNS, LINK_COLUMNS

__all__ = ["HOSTILE", "MARKER", "npz", "peak_bytes", "reset_peak", "resident_bytes"]

JSON = {"content-type": "application/json"}
GZIP = {**JSON, "content-encoding": "gzip"}
MARKER = '"filled in"'


def devices(n: int) -> dict[str, Any]:
    """N devices that can be sampled."""
    return {
        "data": [1] * n,
        "processing_capacity": [9] * n,
        "processing_cost": [1] * n,
        "receive_capacity": [1] * n,
        "transmit_budget": [1] * n,
    }


def body(n: int = 1, **changes: Any) -> dict[str, Any]:
    """A request without links."""
    links: dict[str, Any] = {"kind": "links", "source": [], "target": [], "similarity": [], "transmit_cost": []}
    network = {"devices": devices(n), "topology": links}
    return {"network": network, "sample_size": 1, "horizon": 1, "sampler": "random"} | changes


def filled(request: dict[str, Any], text: str) -> bytes:
    """The request as compressed JSON, with this text for the marker."""
    return gzip.compress(json.dumps(request, separators=(",", ":")).replace(MARKER, text).encode())


def wrong_at_the_end() -> bytes:
    request = body()
    request["network"]["devices"]["data"] = json.loads(MARKER)
    return filled(request, "[" + "0," * 29_000_000 + '"x"]')


def empty_rows() -> bytes:
    request = body()
    request["network"]["devices"]["label_counts"] = json.loads(MARKER)
    return filled(request, "[" + "[]," * 19_000_000 + "[]]")


def dense_validation() -> bytes:
    n = 3000
    request = {"source": {"kind": "network", "network": body(n)["network"]}, "schemes": ["random"], "aggregations": 1}
    topology = {name: json.loads(MARKER) for name in ("adjacency", "similarity", "transmit_cost")}
    request["source"]["network"]["topology"] = {"kind": "matrix", **topology}  # type: ignore[index]
    row = "1," * n
    rows = [f"[{row[: 2 * i]}0,{row[2 * i : -3]}]" if i < n - 1 else f"[{row[: 2 * n - 2]}0]" for i in range(n)]
    return filled(request, "[" + ",".join(rows) + "]")


def long_plan() -> bytes:
    return gzip.compress(json.dumps(body(20_000, sample_size=20_000, horizon=2_000)).encode(), 1)


def matrices() -> bytes:
    return json.dumps(body(1000, horizon=20, output="matrix"), separators=(",", ":")).encode()


def npz(**arrays: Any) -> bytes:
    """A compressed archive of these arrays."""
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)
    return stream.getvalue()


def zeros() -> bytes:
    parameters = np.frombuffer(json.dumps({"sample_size": 1, "horizon": 1}).encode(), np.uint8)
    column = np.zeros(59_000_000, np.uint8)
    return npz(parameters=parameters, **dict.fromkeys((*DEVICE_COLUMNS, *LINK_COLUMNS), column))


# What is sent where: path, headers, body.
HOSTILE = {
    "a long array that ends in a wrong type": ("/v1/plans", GZIP, wrong_at_the_end),
    "label counts of empty rows": ("/v1/plans", GZIP, empty_rows),
    "an archive of zeros": ("/v1/plans/binary", {"content-type": NPZ}, zeros),
    "many sampled devices over many steps": ("/v1/plans", GZIP, long_plan),
    "a validation of a dense network": ("/v1/validations", GZIP, dense_validation),
    "dense matrices in the answer": ("/v1/plans", JSON, matrices),
}


def _status(pid: int, name: str) -> int:
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return 1024 * int(next(line for line in lines if line.startswith(name)).split()[1])


def resident_bytes(pid: int) -> int:
    """What the process holds now."""
    return _status(pid, "VmRSS")


def peak_bytes(pid: int) -> int:
    """The most that the process has held since `reset_peak`."""
    return _status(pid, "VmHWM")


def reset_peak(pid: int) -> None:
    """Begin a new measurement of the peak."""
    Path(f"/proc/{pid}/clear_refs").write_text("5", encoding="utf-8")
