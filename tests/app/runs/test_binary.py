"""Runs of archives: the same as those of JSON."""

import io
import json
from typing import Any

import httpx
import numpy as np
import pytest

from app.networks.archived import NPZ
from tests.support.requests import random_request

Json = dict[str, Any]


def archive(request: Json, **more: Any) -> bytes:
    """The request as an archive."""
    parameters = {name: value for name, value in request.items() if name != "network"} | more
    topology = {name: value for name, value in request["network"]["topology"].items() if name != "kind"}
    columns: Json = {name: np.array(value) for name, value in (request["network"]["devices"] | topology).items()}
    stream = io.BytesIO()
    np.savez(stream, parameters=np.frombuffer(json.dumps(parameters).encode(), np.uint8), **columns)
    return stream.getvalue()


def post(client: httpx.Client, body: bytes, **headers: str) -> httpx.Response:
    return client.post("/v1/runs/binary", content=body, headers={"Content-Type": NPZ, **headers})


@pytest.fixture
def request_() -> Json:
    groups = [{"name": "a", "devices": [0, 1, 2], "min_share": 0.3}]
    return random_request(2, 12, horizon=15, resample={"when": "always"}, participation={"groups": groups})


def test_a_run_of_an_archive_is_that_of_json(client: httpx.Client, request_: Json) -> None:
    ids = [f"cam-{i}" for i in range(12)]
    body = archive(request_, ids=ids, name="large")
    key = {"Idempotency-Key": "an-archive-once"}
    made = post(client, body, **key)
    assert made.status_code == 201, made.text
    again = post(client, body, **key)
    assert (again.content, again.headers["idempotent-replay"]) == (made.content, "true")
    other = client.post("/v1/runs", json=request_)
    first, second = made.json(), other.json()
    assert first["name"] == "large"
    assert (first["device_ids"], first["sampled_ids"]) == (ids, [ids[i] for i in first["sampled"]])
    assert (first["sampled"], first["objective"]) == (second["sampled"], second["objective"])
    report: Json = {"aggregation": 1, "gradient_norm": 0.7, "lost": first["sampled"][:1]}
    answers = [client.post(f"{place.headers['location']}/aggregations", json=report).json() for place in (made, other)]
    assert answers[0]["objective"] == answers[1]["objective"]
    assert [one["by"] for one in answers[0]["replaced"]] == [one["by"] for one in answers[1]["replaced"]]


def test_a_run_of_an_archive_is_read_again_for_a_validation(client: httpx.Client, request_: Json) -> None:
    run = post(client, archive(request_)).json()["id"]
    body = {"source": {"kind": "run", "id": run}, "schemes": ["plan"], "aggregations": 1}
    assert client.post("/v1/validations", json=body).status_code == 202


def test_bodies_of_the_other_route_and_wrong_arrays_are_refused(client: httpx.Client, request_: Json) -> None:
    assert post(client, json.dumps(request_).encode()).status_code == 400
    wrong = client.post("/v1/runs", content=archive(request_), headers={"Content-Type": "application/json"})
    assert wrong.status_code == 400
    assert post(client, archive(request_, ids=["a"])).json()["errors"][0]["pointer"] == "/ids"
    assert post(client, archive(request_, sample_size=13)).json()["errors"][0]["pointer"] == "/sample_size"
    assert client.get("/v1/runs/binary").status_code == 405
