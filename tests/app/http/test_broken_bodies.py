"""Whatever is sent, the answer is a small problem document and the service goes on."""

import gzip
import json
import zlib
from collections.abc import Iterator

import httpx
import pytest

from tests.support.requests import dense, random_request

JSON = {"content-type": "application/json"}
GZIP = {**JSON, "content-encoding": "gzip"}
MARK = "zq7echoed"


def text(**changes: object) -> str:
    return json.dumps({**random_request(1, 10), **changes})


def with_data(cell: str) -> bytes:
    request = random_request(1, 10)
    request["network"]["devices"]["data"][3] = MARK
    return json.dumps(request).replace(f'"{MARK}"', cell).encode()


def bad_cells(cell: str) -> bytes:
    request = random_request(1, 10)
    request["network"]["devices"]["data"] = [MARK]
    return json.dumps(request).replace(f'"{MARK}"', ",".join([cell] * 1_000_000)).encode()


def bad_matrix() -> bytes:
    request = dense(random_request(1, 10))
    request["network"]["topology"]["similarity"] = [MARK]
    return json.dumps(request).replace(f'"{MARK}"', ",".join([f"[{','.join(['null'] * 1000)}]"] * 1000)).encode()


def topology(**changes: object) -> bytes:
    request = random_request(1, 10)
    request["network"]["topology"] |= changes
    return json.dumps(request).encode()


BODIES: dict[str, tuple[bytes, dict[str, str], int]] = {
    "empty": (b"", JSON, 400),
    "not json": (b"hello", JSON, 400),
    "cut short": (text().encode()[:500], JSON, 400),
    "invalid UTF-8": (b'{"sampler": "\xff\xfe"}', JSON, 400),
    "a NUL": (b"\x00" * 100, JSON, 400),
    "deep": (b"[" * 1_000_000, JSON, 400),
    "deep objects": (b'{"network":' * 100_000, JSON, 400),
    "deep and closed": (b'{"network":' + b"[" * 100_000 + b"]" * 100_000 + b"}", JSON, 400),
    "a list": (b"[]", JSON, 422),
    "null": (b"null", JSON, 422),
    "nothing in it": (b"{}", JSON, 422),
    "NaN": (with_data("NaN"), JSON, 422),
    "NaN and a missing field": (b'{"horizon": NaN}', JSON, 422),
    "Infinity": (with_data("-Infinity"), JSON, 422),
    "1e999": (with_data("1e999"), JSON, 422),
    "1e308": (with_data("1e308"), JSON, 422),
    "1e-320": (with_data("1e-320"), JSON, 422),
    "negative": (with_data("-1"), JSON, 422),
    "a long number": (with_data("9" * 100_000), JSON, 400),
    "a string for a number": (with_data(f'"{MARK}"'), JSON, 422),
    "a boolean for a number": (with_data("true"), JSON, 422),
    "null for a number": (with_data("null"), JSON, 422),
    "an unknown field": (text(unheard_of=MARK).encode(), JSON, 422),
    "many unknown fields": (
        json.dumps({**random_request(1, 10), **{f"{MARK}{i}": i for i in range(300_000)}}).encode(),
        JSON,
        422,
    ),
    "an unknown sampler": (text(sampler=MARK).encode(), JSON, 422),
    "an unknown solver": (text(solver=MARK).encode(), JSON, 422),
    "an unknown kind": (topology(kind=MARK), JSON, 422),
    "an explicit null": (text(sampled=None).encode(), JSON, 422),
    "no steps": (text(horizon=0).encode(), JSON, 422),
    "too many steps": (text(horizon=2_000_000_000).encode(), JSON, 422),
    "a device out of range": (topology(source=[10**30] * 29), JSON, 422),
    "columns of several lengths": (topology(source=[1]), JSON, 422),
    "a link twice": (
        topology(source=[1, 1], target=[0, 0], similarity=[0, 0], transmit_cost=[1, 1]),
        JSON,
        422,
    ),
    "a link with itself": (topology(source=[1], target=[1], similarity=[0], transmit_cost=[1]), JSON, 422),
    "sampled twice": (text(sampled=[1, 1, 2]).encode(), JSON, 422),
    "a million strings": (bad_cells('"x"'), JSON, 422),
    "a million nulls": (bad_cells("null"), JSON, 422),
    "a matrix of nulls": (bad_matrix(), JSON, 422),
    "a ragged matrix": (
        json.dumps({**random_request(1, 10), "schedule": [{"step": 2, "topology": {"kind": "matrix"}}]}).encode(),
        JSON,
        422,
    ),
    "not gzip": (b"hello", GZIP, 400),
    "gzip cut short": (gzip.compress(text().encode())[:-20], GZIP, 400),
    "gzip with a tail": (gzip.compress(text().encode()) + b"tail", GZIP, 400),
    "bare deflate": (zlib.compress(text().encode()), GZIP, 400),
    "a zip bomb": (gzip.compress(b" " * 400_000_000, 9), GZIP, 413),
    "too large": (b" " * (64 * 2**20 + 1), JSON, 413),
    "another type": (text().encode(), {"content-type": "text/plain"}, 415),
    "another encoding": (text().encode(), {**JSON, "content-encoding": "br"}, 415),
    "another charset": (text().encode(), {"content-type": "application/json; charset=utf-16"}, 415),
}


@pytest.fixture(scope="module")
def healthy(client: httpx.Client) -> Iterator[httpx.Client]:
    yield client
    assert client.post("/v1/plans", json=random_request(1, 10)).status_code == 200
    metrics = client.get("/metrics").text
    assert 'status="500"' not in metrics


@pytest.mark.parametrize("name", BODIES)
def test_a_broken_body_gets_a_small_problem(healthy: httpx.Client, name: str) -> None:
    body, headers, status = BODIES[name]
    answer = healthy.post("/v1/plans", content=body, headers=headers)
    assert answer.status_code == status, answer.text[:1000]
    assert answer.headers["content-type"] == "application/problem+json"
    assert len(answer.content) < 8000
    assert MARK not in answer.text
    problem = answer.json()
    assert problem["status"] == status
    assert problem["type"].startswith("urn:fedsift:problem:")
    assert problem["request_id"] == answer.headers["x-request-id"]


def test_a_body_of_unknown_length_is_bounded_too(healthy: httpx.Client) -> None:
    def chunks() -> Iterator[bytes]:
        for _ in range(70):
            yield b" " * 2**20

    answer = healthy.post("/v1/plans", content=chunks(), headers=JSON)
    assert answer.status_code == 413


def test_pointers_lead_to_the_place(healthy: httpx.Client) -> None:
    def pointer(body: bytes) -> str:
        found: str = healthy.post("/v1/plans", content=body, headers=JSON).json()["errors"][0]["pointer"]
        return found

    assert pointer(with_data("NaN")) == "/network/devices/data/3"
    assert pointer(with_data("-1")) == "/network/devices/data/3"
    assert pointer(topology(source=[1])) == "/network/topology/target"
    assert pointer(topology(kind=MARK)) == "/network/topology/kind"
    late = {"step": 2, "devices": {"transmit_budget": [1.0]}}
    assert pointer(text(schedule=[late]).encode()) == "/schedule/0/devices/transmit_budget"


def test_paths_and_methods_that_are_not_there(healthy: httpx.Client) -> None:
    for answer, status in (
        (healthy.get("/nothing"), 404),
        (healthy.put("/v1/plans"), 405),
        (healthy.get("/v1/runs/run_" + "0" * 32), 404),
        (healthy.get("/v1/runs/else"), 404),
    ):
        assert answer.status_code == status
        assert answer.headers["content-type"] == "application/problem+json"
    assert "POST" in healthy.put("/v1/plans").headers["allow"]
