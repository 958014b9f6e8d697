"""Requests share one budget of memory: what each charges, what is refused and why, and what a real process grows by."""

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from urllib.parse import urlsplit

import httpx
import pytest

from app.http.problems import OverloadedError, TooLargeError
from app.networks.archived import NPZ
from app.wire.budget import MemoryBudget, charge, reserved
from tests.support.hostile import HOSTILE, peak_bytes, reset_peak, resident_bytes
from tests.support.requests import random_request
from tests.support.server import Server, running_server

JSON = {"content-type": "application/json"}


def test_what_cannot_fit_is_too_large_and_says_the_numbers_and_the_setting() -> None:
    memory = MemoryBudget(1000, 7)
    with memory.account():
        charge(600, "the body")
        with pytest.raises(TooLargeError) as refused:
            charge(401, "a plan for 3 devices")
        assert memory.held == 600
    detail = refused.value.detail
    assert detail.startswith("a plan for 3 devices takes the request to an estimated 1001 bytes")
    assert "1000 (FEDSIFT_MEMORY_BUDGET)" in detail
    assert memory.held == 0


def test_what_others_leave_no_room_for_may_be_tried_again() -> None:
    memory = MemoryBudget(1000, 7)
    with memory.account():
        charge(600, "the body")
        with memory.account():
            with pytest.raises(OverloadedError, match="other requests hold 600") as refused:
                charge(401, "the body")
            assert refused.value.headers == {"Retry-After": "7"}
            charge(400, "the body")
    with memory.account():
        charge(1000, "the body")


def test_reserved_memory_is_free_after_the_block_and_without_an_account_nothing_is_charged() -> None:
    memory = MemoryBudget(1000, 7)
    with memory.account():
        with pytest.raises(KeyError), reserved(1000, "solving"):
            raise KeyError
        assert memory.held == 0
    charge(10**12, "on the command line")
    with reserved(10**12, "on the command line"):
        assert memory.held == 0


@pytest.mark.parametrize("name", HOSTILE)
def test_a_small_body_cannot_make_the_process_grow(server: Server, name: str) -> None:
    path, headers, make = HOSTILE[name]
    body = make()
    pid = server.process.pid
    with server.client() as client:
        client.get("/healthz")
        rest = resident_bytes(pid)
        reset_peak(pid)
        answer = client.post(path, content=body, headers=headers)
    assert answer.status_code == 413, answer.text
    assert answer.json()["type"] == "urn:fedsift:problem:too-large"
    assert "FEDSIFT_MEMORY_BUDGET" in answer.json()["detail"]
    assert peak_bytes(pid) - rest <= 400_000_000


def star(receivers: int, each: int, **parameters: object) -> bytes:
    """Sampled devices with so many senders of their own each, which use all links at every step."""
    n = receivers * (1 + each)
    columns = {"data": 100, "processing_capacity": 9e6, "processing_cost": 1}
    devices = {name: [value] * n for name, value in (columns | {"receive_capacity": 1e6, "transmit_budget": 5}).items()}
    links: dict[str, list[float]] = {
        "source": list(range(receivers, n)),
        "target": [i for i in range(receivers) for _ in range(each)],
    }
    links |= {name: [0.5] * (n - receivers) for name in ("similarity", "transmit_cost")}
    network = {"devices": devices, "topology": {"kind": "links", **links}}
    sampled = {"sample_size": receivers, "sampled": list(range(receivers))}
    return json.dumps({"network": network, "horizon": 5, **sampled, **parameters}).encode()


# One that fits, one that must not, and what its refusal begins with.
FITTING: dict[str, tuple[Callable[[int], bytes], int, int, str]] = {
    "links and steps": (lambda size: star(10, 200, horizon=size), 60, 3600, "solving 3600 steps with 2000 links"),
    "links": (lambda size: star(10, size), 700, 20_000, ""),
    "matrices in the answer": (lambda size: star(10, size, output="matrix"), 30, 200, ""),
}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running_server(tmp_path_factory.mktemp("small"), memory_budget="60000000") as server, server.client() as c:
        # The first plan loads what all need.
        assert c.post("/v1/plans", content=star(2, 3), headers=JSON).status_code == 200
        yield server


@pytest.mark.parametrize("name", FITTING)
def test_a_request_that_fits_stays_within_its_estimate(small: Server, name: str) -> None:
    make, fits, too_large, reason = FITTING[name]
    pid = small.process.pid
    with small.client() as client:
        rest = resident_bytes(pid)
        reset_peak(pid)
        answer = client.post("/v1/plans", content=make(fits), headers=JSON)
        assert answer.status_code == 200, answer.text[:500]
        assert peak_bytes(pid) - rest <= 60_000_000 + 64_000_000  # as 400 MB of the default budget
        refused = client.post("/v1/plans", content=make(too_large), headers=JSON)
        assert refused.status_code == 413
        assert refused.json()["detail"].startswith(reason)


@contextmanager
def begun(server: Server, path: str, content_type: str) -> Iterator[None]:
    """A body of unknown length, of which one byte has been sent."""
    at = urlsplit(server.url)
    headers = f"Host: {at.netloc}\r\nContent-Type: {content_type}\r\nTransfer-Encoding: chunked"
    head = f"POST {path} HTTP/1.1\r\n{headers}\r\n\r\n"
    with socket.create_connection((at.hostname, at.port)) as connection:
        connection.sendall(head.encode() + b"1\r\n{\r\n")
        yield


@pytest.mark.parametrize(
    ("count", "path", "content_type"), [(2, "/v1/plans/binary", NPZ), (100, "/v1/plans", "application/json")]
)
def test_slow_bodies_keep_nobody_out(server: Server, count: int, path: str, content_type: str) -> None:
    with ExitStack() as open_bodies, server.client() as client:
        for _ in range(count):
            open_bodies.enter_context(begun(server, path, content_type))
        answer: httpx.Response = client.post("/v1/plans", json=random_request(1, 10))
        assert answer.status_code == 200, answer.text
        assert "fedsift_admitted 0.0" in client.get("/metrics").text
