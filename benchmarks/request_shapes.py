"""Requests of several shapes, each of any size, for measurements of memory."""

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["SHAPES", "Sent", "Shape"]

JSON = "application/json"
NPZ = "application/vnd.fedsift.npz"


@dataclass(frozen=True)
class Sent:
    """A request."""

    path: str
    content_type: str
    body: bytes


@dataclass(frozen=True)
class Shape:
    """A kind of request: in words, what its size counts, how to make one, and sizes that fit or do not for sure."""

    words: str
    what: str
    make: Callable[[int], Sent]
    smallest: int
    largest: int = 10**8


def _devices(n: int, **changes: float) -> dict[str, Any]:
    """N devices of which each receives less than its neighbours could send, unless changes say otherwise."""
    columns = {
        "data": 100.0,
        "processing_capacity": 9e6,
        "processing_cost": 1.0,
        "receive_capacity": 40.0,
        "transmit_budget": 5.0,
    }
    return {name: np.full(n, value) for name, value in (columns | changes).items()}


def _links(n: int, count: int) -> dict[str, Any]:
    """Links between random devices, each pair once."""
    rng = np.random.default_rng(1)
    pairs = np.unique(rng.integers(0, n * (n - 1), count))
    source, target = pairs // (n - 1), pairs % (n - 1)
    target += target >= source
    cost = rng.uniform(0.01, 0.1, pairs.size)
    return {"source": source, "target": target, "similarity": rng.uniform(0, 0.9, pairs.size), "transmit_cost": cost}


def _links_to(receivers: int, each: int) -> tuple[int, dict[str, Any]]:
    """So many links to each of the first devices, from devices of its own; and the number of all devices."""
    source = receivers + np.arange(receivers * each)
    links: dict[str, Any] = {"source": source, "target": np.repeat(np.arange(receivers), each)}
    links |= {"similarity": np.full(source.size, 0.5), "transmit_cost": np.linspace(0.01, 0.1, source.size)}
    return receivers + source.size, links


def _lists(columns: dict[str, Any]) -> dict[str, Any]:
    return {name: np.round(column, 4).tolist() for name, column in columns.items()}


def _network(devices: dict[str, Any], links: dict[str, Any]) -> dict[str, Any]:
    return {"devices": _lists(devices), "topology": {"kind": "links", **_lists(links)}}


def _plan(devices: dict[str, Any], links: dict[str, Any], **parameters: Any) -> Sent:
    request = {"network": _network(devices, links), "sample_size": 10, "horizon": 5} | parameters
    return Sent("/v1/plans", JSON, json.dumps(request, separators=(",", ":")).encode())


def _few_receivers(count: int, each: int, receive: float = 40.0, **parameters: Any) -> Sent:
    n, links = _links_to(count, each)
    fixed = {"sample_size": count, "sampled": list(range(count))}
    return _plan(_devices(n, receive_capacity=receive), links, **fixed, **parameters)


def _archive(n: int) -> Sent:
    parameters = np.frombuffer(json.dumps({"sample_size": 10, "horizon": 5}).encode(), np.uint8)
    stream = io.BytesIO()
    np.savez(stream, parameters=parameters, **_devices(n), **_links(n, 5 * n))
    return Sent("/v1/plans/binary", NPZ, stream.getvalue())


def _matrices(n: int) -> Sent:
    square = (1 - np.eye(n, dtype=int)).tolist()
    topology = {"kind": "matrix", "adjacency": square, "similarity": square, "transmit_cost": square}
    request = {"network": {"devices": _lists(_devices(n)), "topology": topology}, "sample_size": 5, "horizon": 2}
    return Sent("/v1/plans", JSON, json.dumps(request, separators=(",", ":")).encode())


def _validation(n: int) -> Sent:
    source = {"kind": "network", "network": _network(_devices(n), _links(n, 10 * n))}
    request = {"source": source, "schemes": ["random"], "sample_size": 5, "aggregations": 2, "aggregation_period": 2}
    return Sent("/v1/validations", JSON, json.dumps(request | {"target": 0.5}, separators=(",", ":")).encode())


def _wrong(n: int) -> Sent:
    devices = _lists(_devices(2)) | {"data": [1] * n + ["x"]}
    request = {"network": {"devices": devices, "topology": {"kind": "links"}}, "sample_size": 1, "horizon": 1}
    return Sent("/v1/plans", JSON, json.dumps(request).encode())


def _labels(n: int) -> Sent:
    devices = _devices(n) | {"label_counts": np.ones((n, 10))}
    return _plan(devices, _links(n, 5 * n), sampler="greedy:coverage")


def _fleet(n: int) -> dict[str, Any]:
    """Devices with ids and label counts by name, and links whose similarity is left out."""
    links = _links(n, 5 * n)
    row = {"datapoints": 100, "samples_per_second": 40.5, "label_counts": {"car": 60, "bus": 30, "bicycle": 10}}
    ends = zip(links["source"].tolist(), links["target"].tolist(), strict=True)
    return {
        "step_seconds": 60,
        "datapoint_bytes": 3136,
        "devices": [{"id": f"device-{i}", **row} for i in range(n)],
        "links": [{"from": f"device-{source}", "to": f"device-{target}", "mbps": 6.5} for source, target in ends],
    }


def _fleet_plan(n: int) -> Sent:
    request = {"fleet": _fleet(n), "sample_size": 10, "horizon": 5}
    return Sent("/v1/plans", JSON, json.dumps(request, separators=(",", ":")).encode())


def _stored(n: int) -> Sent:
    return Sent("/v1/networks", JSON, json.dumps({"fleet": _fleet(n)}, separators=(",", ":")).encode())


SHAPES = {
    "devices": Shape("JSON, 5 links a device", "{} devices", lambda n: _plan(_devices(n), _links(n, 5 * n)), 1000),
    "archive": Shape(".npz, 5 links a device", "{} devices", _archive, 1000),
    "dense-graph": Shape("JSON, 2,000 devices", "{} links", lambda m: _plan(_devices(2000), _links(2000, m)), 10_000),
    "matrices": Shape("JSON, dense matrices", "{} devices", _matrices, 50),
    "links-and-steps": Shape(
        "10 sampled devices with 200 links each",
        "{} steps",
        lambda t: _few_receivers(10, 200, horizon=t),
        5,
        9999,
    ),
    "many-links-and-steps": Shape(
        "100 sampled devices, 20 steps", "{} links each", lambda m: _few_receivers(100, m, horizon=20), 5
    ),
    "every-link-used": Shape(
        "the same, with room for all that can be sent",
        "{} links each",
        lambda m: _few_receivers(100, m, receive=1e6, horizon=20),
        5,
    ),
    "send-once": Shape(
        "the same, each datapoint sent once",
        "{} links each",
        lambda m: _few_receivers(100, m, horizon=20, transfer="send_once"),
        5,
    ),
    "orders": Shape(
        "the same, with orders",
        "{} links each",
        lambda m: _few_receivers(100, m, horizon=20, orders=True),
        5,
    ),
    "fleet": Shape("a fleet, 5 links a device", "{} devices", _fleet_plan, 1000),
    "stored": Shape("a fleet to be stored, 5 links a device", "{} devices", _stored, 1000),
    "sampled-and-steps": Shape(
        "a thousand sampled devices without links", "{} steps", lambda t: _few_receivers(1000, 0, horizon=t), 5, 9999
    ),
    "all-sampled": Shape(
        "every device sampled, 2 steps", "{} devices", lambda n: _few_receivers(n, 1, horizon=2), 50, 20_000
    ),
    "matrix-answer": Shape(
        "an answer of matrices, 3 steps",
        "{} devices",
        lambda n: _plan(_devices(n), _links(n, 5 * n), horizon=3, output="matrix"),
        50,
    ),
    "cvxpy": Shape(
        "`solver: cvxpy`, 10 sampled devices",
        "{} links each",
        lambda m: _few_receivers(10, m, horizon=2, solver="cvxpy"),
        5,
        1000,
    ),
    "surrogate": Shape(
        "`greedy:surrogate`",
        "{} devices",
        lambda n: _plan(_devices(n), _links(n, 5 * n), sampler="greedy:surrogate"),
        500,
    ),
    "coverage": Shape("`greedy:coverage`, ten label counts", "{} devices", _labels, 500),
    "gcn": Shape("`gcn_rank`", "{} devices", lambda n: _plan(_devices(n), _links(n, 5 * n), sampler="gcn_rank"), 500),
    "wrong-type": Shape("a column that ends in a word", "{} numbers", _wrong, 10_000),
    "validation": Shape("a validation, 10 links a device", "{} devices", _validation, 200, 10_000),
}
