"""The fast reader of bodies against the plain one: the same values, and the same refusals."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from app.http.problems import MalformedError, ServiceError
from app.plans.request import PlanRequest
from app.runs.request import AggregationRequest
from app.wire.arrays import read_model
from app.wire.network import LinkTopology
from app.wire.pointers import refusal
from tests.support.requests import dense, random_request


def outcome(read: Any) -> Any:
    """The values read, arrays as lists, or the errors."""
    try:
        return _lists(dict(read()))
    except ValidationError as error:
        return refusal(error, PlanRequest).problem()
    except ServiceError as error:
        return error.problem()


def _lists(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if hasattr(value, "model_fields_set"):
        value = dict(value)
    if isinstance(value, dict):
        return {name: _lists(field) for name, field in value.items()}
    return [_lists(item) for item in value] if isinstance(value, list) else value


def assert_read_alike(body: bytes, model: type[BaseModel] = PlanRequest) -> None:
    plain = outcome(lambda: model.model_validate_json(body))
    # By text: 1 and 1.0 and True are equal to Python, and -0.0 and 0.0.
    assert repr(outcome(lambda: read_model(model, body))) == repr(plain)


REQUEST = random_request(1, 8)
REQUEST["network"]["devices"]["label_counts"] = [[1, 2.5]] * 8
REQUEST["network"]["devices"]["label_noise"] = {"epsilon": 0.5}
REQUEST["schedule"] = [
    {"step": 2, "devices": {"transmit_budget": [1.0] * 8}, "topology": REQUEST["network"]["topology"]},
    {"step": 3},
]
BODY = json.dumps(REQUEST)


@pytest.mark.parametrize("request_", [REQUEST, dense(REQUEST)], ids=["links", "matrix"])
def test_networks_arrive_as_arrays_with_the_same_numbers(request_: dict[str, Any]) -> None:
    body = json.dumps(request_).encode()
    network = read_model(PlanRequest, body).network
    assert network is not None
    for name in ("data", "transmit_budget", "label_counts"):
        assert isinstance(getattr(network.devices, name), np.ndarray)
    assert isinstance(network.topology.similarity, np.ndarray)
    assert_read_alike(body)


def test_reports_and_schedules_arrive_as_arrays_with_the_same_numbers() -> None:
    report: dict[str, Any] = {
        "aggregation": 1,
        "gradient_norm": 0.5,
        "data": {"device": [0, 1], "datapoints": [1, 2.5]},
        "delivered": {"source_ids": ["a"], "target": [3], "datapoints": [7]},
        "schedule": [*REQUEST["schedule"], {"step": 4, "patch": {"devices": [{"index": 0, "transmit_budget": 3}]}}],
        "devices": [{"id": "a", "data": 3.0}],
    }
    found = read_model(AggregationRequest, json.dumps(report).encode())
    first = found.schedule[0]
    assert found.data is not None
    assert first.devices is not None
    assert isinstance(first.topology, LinkTopology)
    for column in (found.data.device, found.data.datapoints, first.devices.transmit_budget, first.topology.source):
        assert isinstance(column, np.ndarray)
    announced = read_model(PlanRequest, BODY.encode()).schedule[0].topology
    assert isinstance(announced, LinkTopology)
    assert isinstance(announced.source, np.ndarray)
    for wrong in ({}, {"data": {"device": [0.5], "datapoints": [1]}}, {"schedule": 3}, {"data": [1]}, {"lost": [1]}):
        assert_read_alike(json.dumps(report | wrong).encode(), AggregationRequest)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**70), 2**70), max_size=4))
def test_every_number_is_read_as_the_plain_reader_reads_it(numbers: list[float]) -> None:
    for column in ("similarity", "source"):
        topology = {**REQUEST["network"]["topology"], column: numbers}
        network = {**REQUEST["network"], "topology": topology}
        assert_read_alike(json.dumps({**REQUEST, "network": network}).encode())


ODD_CELLS = ["true", "null", '"1"', "[1]", "[]", "{}", "1.0", "1e999", "NaN", "-0", "01", "18446744073709551616"]


@pytest.mark.parametrize("cell", ODD_CELLS)
@pytest.mark.parametrize("column", ["data", "source", "similarity", "adjacency", "label_counts"])
def test_an_odd_cell_ends_as_with_the_plain_reader(cell: str, column: str) -> None:
    text = json.dumps(dense(REQUEST)) if column == "adjacency" else BODY
    opening = f'"{column}": [[' if column in {"adjacency", "label_counts"} else f'"{column}": ['
    start = text.index(opening) + len(opening)
    assert_read_alike((text[:start] + f"{cell}, " + text[start:]).encode())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"horizon": 6', '"horizon": 6, "horizon": 7'),
        ('"kind": "links"', '"kind": "matrix"'),
        ('"kind": "links"', '"kind": "other"'),
        ('"kind": "links"', '"kind": ["links"]'),
        ('"kind": "links"', '"kind": "links", "kind": "links"'),
        ('"kind": "links", ', ""),
        ('"data": ', '"data": [1], "data": '),
        ('"data": ', '"[data": '),
        ('"network": {', '"network": {"extra": [1], '),
        ('"network": ', '"network": [], "other": '),
        ('{"step": 3}', '{"step": 3, "step": 4}'),
        ('"horizon": 6', '"horizon": 6.0'),
        ('"horizon": 6', '"horizon": true'),
        ('"horizon": 6', '"horizon": 6, "sampler": "[[["'),
        ('"horizon": 6', '"horizon": 6, "sampled": [0, 1.0]'),
        ('"horizon": 6', '"horizon": 6, "gradient": {"norm": 1, "norm": 2}'),
        ("[[1, 2.5], ", "[[1], "),
        ("[[1, 2.5], ", "[1, 2.5, "),
        ("[[1, 2.5], ", "[[], "),
    ],
)
def test_an_odd_body_ends_as_with_the_plain_reader(old: str, new: str) -> None:
    assert old in BODY
    assert_read_alike(BODY.replace(old, new, 1).encode())


def test_flat_numbers_are_no_matrix() -> None:
    devices = {**REQUEST["network"]["devices"], "label_counts": [1, 2]}
    network = {**REQUEST["network"], "devices": devices}
    assert_read_alike(json.dumps({**REQUEST, "network": network}).encode())


@pytest.mark.parametrize("inner", ['{"a": %s}', "[%s]"])
def test_deep_bodies_end_as_with_the_plain_reader(inner: str) -> None:
    value = "1"
    for _ in range(600):
        value = inner % value
    assert_read_alike(BODY.replace('"horizon": 6', f'"horizon": {value}').encode())


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"1", b'{"network": 3}', b"\xef\xbb\xbf" + BODY.encode(), BODY.encode() + b" x", b"\xff"]
)
def test_what_is_no_request_ends_as_with_the_plain_reader(body: bytes) -> None:
    assert_read_alike(body)


def test_a_large_body_that_is_not_json_is_refused_with_the_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.wire.arrays._ERRORS_MAY_COPY", 0)
    with pytest.raises(MalformedError, match="^the body is not valid JSON: expected value at line 2 column 15$"):
        read_model(PlanRequest, b'{"horizon": 1,\n"sample_size":}')
