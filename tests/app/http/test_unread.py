"""Clients that do not read their answers: they are cut off, memory stays bounded, and others are answered meanwhile."""

import concurrent.futures
import os
import re
import sqlite3
import time
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from app.http.problems import OverloadedError
from app.http.unread import UnreadAnswers, stored_answer
from app.wire.budget import MemoryBudget, charge
from tests.support.requests import random_request
from tests.support.server import Server, running_server
from tests.support.sockets import connected, received, resident_bytes, several
from tests.support.waiting import until

MEBIBYTE = 2**20
CLIENTS = 30
# So little is buffered on the client's side that the answers stay with the server.
SMALL = 4096


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with a short send timeout and one event stream."""
    with running_server(tmp_path_factory.mktemp("strict"), send_timeout="3", event_streams="1") as server:
        yield server


@pytest.fixture(scope="module")
def patient(strict: Server) -> Iterator[httpx.Client]:
    """A client that reads."""
    with strict.client() as client:
        yield client


def keep(server: Server, plan: str, answer: bytes) -> str:
    """Put a plan with this answer into the server's store; where to ask for it."""
    with closing(sqlite3.connect(server.log.parent / "fedsift.db")) as database, database:
        row = (plan, "local", time.time(), zlib.compress(b"{}"), zlib.compress(answer, 1))
        database.execute("INSERT INTO plans (id, owner, created_at, request, answer) VALUES (?, ?, ?, ?, ?)", row)
    return f"/v1/plans/{plan}"


def asking(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


def unread_bytes(client: httpx.Client) -> float:
    found = re.search(r"^fedsift_unread_bytes (\S+)$", client.get("/metrics").text, re.MULTILINE)
    assert found is not None
    return float(found[1])


def is_answered(server: Server) -> bool:
    return httpx.post(f"{server.url}/v1/plans", json=random_request(1, 10), timeout=60).status_code == 200


def test_unread_answers_that_pack_well_are_held_packed(strict: Server, patient: httpx.Client) -> None:
    answer = b"[" + b"0.0," * (19 * MEBIBYTE) + b"0.0]"
    place = keep(strict, f"plan_{1:032}", answer)
    assert is_answered(strict)
    rest = resident_bytes(strict)
    with several(strict, CLIENTS, asking(place), SMALL) as unread:
        until(lambda: unread_bytes(patient) > 0)
        assert is_answered(strict)
        until(lambda: unread_bytes(patient) == 0)
        assert is_answered(strict)
        for connection in unread:
            assert len(received(connection)) < len(answer) / 2
    assert resident_bytes(strict, peak=True) - rest < 400 * MEBIBYTE
    assert patient.get(place).content == answer


def test_more_unread_answers_than_there_is_room_for_get_503(strict: Server, patient: httpx.Client) -> None:
    answer = os.urandom(19 * MEBIBYTE).hex().encode()
    place = keep(strict, f"plan_{2:032}", answer)
    assert is_answered(strict)
    rest = resident_bytes(strict)
    with several(strict, CLIENTS, asking(place), SMALL) as unread:
        with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
            begun = list(pool.map(lambda connection: connection.recv(20), unread))
        assert sum(line.startswith(b"HTTP/1.1 200 ") for line in begun) >= 1
        assert sum(line.startswith(b"HTTP/1.1 503 ") for line in begun) >= CLIENTS // 3
        assert is_answered(strict)
        until(lambda: unread_bytes(patient) == 0)
        assert patient.get(place).content == answer
    assert resident_bytes(strict, peak=True) - rest < 400 * MEBIBYTE


def test_computed_answers_count_too(tmp_path: Path) -> None:
    body = httpx.Request("POST", "http://x", json=random_request(1, 120, horizon=60, output="matrix")).content
    head = f"POST /v1/plans HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n".encode()
    request = head + b"Content-Type: application/json\r\n\r\n" + body
    # An answer of this size is estimated at 54 MB while it is made, and is 4 MB when it is sent.
    with running_server(tmp_path, send_timeout="4", memory_budget="56000000") as server, server.client() as client:
        with connected(server, request, SMALL) as unread:
            assert unread.recv(20).startswith(b"HTTP/1.1 200 ")
            assert unread_bytes(client) > 1e6
            refused = client.post("/v1/plans", content=body, headers={"Content-Type": "application/json"})
            assert refused.status_code == 503
            assert refused.json()["type"] == "urn:fedsift:problem:overloaded"
            assert refused.headers["retry-after"] == "1"
            assert is_answered(server)  # a small plan fits beside it
            until(lambda: unread_bytes(client) == 0)
        again = client.post("/v1/plans", content=body, headers={"Content-Type": "application/json"})
        assert again.status_code == 200


def test_a_follower_that_does_not_read_is_ended(strict: Server, patient: httpx.Client) -> None:
    generated = {"kind": "generator", "devices": 6, "mean_datapoints": 20, "link_probability": 0.5}
    validation = {"source": generated, "schemes": ["heuristic-offload"], "sample_size": 2, "aggregations": 1}
    place = patient.post("/v1/validations", json=validation).headers["location"]
    events = [(place.rpartition("/")[2], 100 + k, "round", "x" * 10_000) for k in range(2000)]
    with closing(sqlite3.connect(strict.log.parent / "fedsift.db")) as database, database:
        database.executemany("INSERT INTO validation_events VALUES (?, ?, ?, ?)", events)

    def status() -> int:
        with patient.stream("GET", f"{place}/events") as answer:
            return answer.status_code

    with connected(strict, asking(f"{place}/events"), SMALL) as follower:
        assert follower.recv(20).startswith(b"HTTP/1.1 200 ")
        assert status() == 503
        until(lambda: status() == 200)


def test_an_answer_alone_always_fits_and_its_bytes_are_free_when_it_is_gone() -> None:
    memory = MemoryBudget(2000, retry_after=1)
    unread = UnreadAnswers(memory, retry_after=1)

    def read(reserve: object) -> bytes:
        assert callable(reserve)
        reserve(5000)
        return zlib.compress(b"[]")

    answer = stored_answer(unread, read)
    assert answer is not None
    assert answer.body == b"[]"
    assert (unread.held, memory.held) == (0, 0)  # it is unpacked whole, and the packed one is gone
    with unread.hold(1):
        unread.check()
        with pytest.raises(OverloadedError):
            stored_answer(unread, read)
    assert unread.held == 0
    with unread.hold(1000), pytest.raises(OverloadedError):
        unread.check()


def test_unread_answers_and_requests_share_the_memory() -> None:
    memory = MemoryBudget(2000, retry_after=1)
    unread = UnreadAnswers(memory, retry_after=1)

    def read(reserve: object) -> bytes:
        assert callable(reserve)
        reserve(900)
        assert memory.held == 900 + others
        return zlib.compress(os.urandom(MEBIBYTE))  # large enough to be unpacked while it is sent

    others = 0
    answer = stored_answer(unread, read)
    with memory.account():
        charge(1100, "reading")
        with pytest.raises(OverloadedError):
            charge(1, "reading")
    del answer
    assert (unread.held, memory.held) == (0, 0)
    with memory.account():
        charge(1101, "reading")
        others = 1101
        with pytest.raises(OverloadedError, match="hold 0 bytes"):
            stored_answer(unread, read)
    assert (unread.held, memory.held) == (0, 0)
    with unread.hold(500):
        assert memory.held == 500
