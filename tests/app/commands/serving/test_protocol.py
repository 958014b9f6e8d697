"""The HTTP front on the socket: heads, idle connections and crowds have limits, and others are answered meanwhile."""

import json
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.support.requests import random_request
from tests.support.server import Server, running_server
from tests.support.sockets import connected, flood, received, resident_bytes, several
from tests.support.waiting import until

GET = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
POST = b"POST /v1/plans HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
CONNECTIONS = 40
MEBIBYTE = 2**20


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with short timeouts and few connections."""
    short = {"head_timeout": "1", "idle_timeout": "2", "send_timeout": "1", "body_timeout": "30"}
    with running_server(tmp_path_factory.mktemp("strict"), connections=str(CONNECTIONS), **short) as server:
        yield server


def problem(answer: bytes) -> tuple[int, str]:
    """Status and type of the problem document."""
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"content-type: application/problem+json" in head
    told = json.loads(body)
    assert told["status"] == int(head.split()[1])
    return told["status"], told["type"].removeprefix("urn:fedsift:problem:")


def is_answered(server: Server) -> bool:
    return httpx.post(f"{server.url}/v1/plans", json=random_request(1, 10), timeout=60).status_code == 200


@pytest.mark.parametrize("endless", ["headers", "header", "line", "empty lines", "trailers", "trailer"])
def test_an_endless_head_is_cut_off_early(strict: Server, endless: str) -> None:
    begin, piece = {
        "headers": (GET, b"a: b\r\n" * 50_000),
        "header": (GET + b"a: ", b"a" * 300_000),
        "line": (b"GET /", b"a" * 300_000),
        "empty lines": (b"", b"\r\n" * 150_000),
        "trailers": (POST + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"a: b\r\n" * 50_000),
        "trailer": (POST + b"Transfer-Encoding: chunked\r\n\r\n0\r\na: ", b"a" * 300_000),
    }[endless]
    assert is_answered(strict)
    rest = resident_bytes(strict)
    with connected(strict, begin) as connection:
        # What the kernel buffers counts as sent, which can be several megabytes.
        assert flood(connection, piece, 300 * MEBIBYTE) < 30 * MEBIBYTE
    assert is_answered(strict)
    assert resident_bytes(strict) - rest < 30 * MEBIBYTE


def test_the_head_may_have_just_so_many_bytes(strict: Server) -> None:
    with connected(strict, GET + b"a: " + b"a" * 65_000 + b"\r\nConnection: close\r\n\r\n") as connection:
        assert received(connection).startswith(b"HTTP/1.1 200 ")
    for name in (b"a: " + b"a" * 66_000, b"\r\n".join(b"a%d: a" % i for i in range(9000))):
        with connected(strict, GET + name + b"\r\n\r\n") as connection:
            assert problem(received(connection)) == (431, "head-too-large")


def test_what_is_not_http_gets_a_problem(strict: Server) -> None:
    with connected(strict, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 hello\r\n\r\n") as connection:
        assert problem(received(connection)) == (400, "malformed")


def test_slow_heads_end_and_others_are_answered_meanwhile(strict: Server) -> None:
    with several(strict, CONNECTIONS - 10, GET) as slow:
        for connection in slow:
            connection.settimeout(0)
        ended = set[int]()

        def all_ended() -> bool:
            assert is_answered(strict)
            for number, connection in enumerate(slow):
                try:
                    connection.send(b"a: b\r\n")
                except BlockingIOError:
                    continue
                except ConnectionError:
                    ended.add(number)
            return len(ended) == len(slow)

        until(all_ended, lambda: f"{len(slow) - len(ended)} heads were waited for")
    with connected(strict, GET) as connection:
        assert problem(received(connection)) == (408, "slow-head")


def test_idle_and_half_open_connections_end(strict: Server) -> None:
    whole = GET + b"\r\n"
    with (
        connected(strict) as silent,
        connected(strict, whole) as idle,
        connected(strict, whole + b"\r\n") as dawdling,  # an empty line is no request
        connected(strict, whole) as half,
        connected(strict, POST.replace(b"plans", b"nothing") + b"Content-Length: 9999\r\n\r\n{") as unfinished,
    ):
        half.shutdown(socket.SHUT_WR)
        assert received(silent) == b""
        assert received(idle).startswith(b"HTTP/1.1 200 ")
        assert received(dawdling).startswith(b"HTTP/1.1 200 ")
        received(half)  # it ends, answered or not
        assert received(unfinished).startswith(b"HTTP/1.1 404 ")


def test_a_body_that_ends_after_its_answer_leaves_no_connection_behind(strict: Server) -> None:
    """uvicorn's own timer starts with the answer, and ends with the next byte."""
    with connected(strict, POST.replace(b"plans", b"nothing") + b"Content-Length: 3\r\n\r\n{") as late:
        answer = b""
        while not answer.endswith(b"}"):
            answer += late.recv(4000)
        late.sendall(b" }")
        assert received(late) == b""


def test_a_connection_serves_one_request_after_another(strict: Server) -> None:
    with connected(strict) as connection:
        for _ in range(25):  # longer than any of the timeouts
            connection.sendall(GET + b"\r\n")
            answer = b""
            while not answer.endswith(b"}"):
                answer += connection.recv(4000)
            assert answer.startswith(b"HTTP/1.1 200 ")
            time.sleep(0.1)


def test_a_crowd_of_waiting_connections_closes_the_door_to_nobody(strict: Server) -> None:
    with several(strict, 3 * CONNECTIONS, GET):
        assert is_answered(strict)


def test_a_crowd_of_busy_connections_gets_503(strict: Server) -> None:
    def open_door() -> bool:
        with connected(strict, GET + b"Connection: close\r\n\r\n") as connection:
            return received(connection).startswith(b"HTTP/1.1 200 ")

    until(open_door)
    with several(strict, CONNECTIONS, POST + b"Content-Length: 100\r\n\r\n{") as busy:

        def refused() -> bool:
            with connected(strict) as connection:
                answer = received(connection)
            return bool(answer) and problem(answer) == (503, "overloaded") and b"Retry-After: 1\r\n" in answer

        until(refused)
        assert all(connection.fileno() > 0 for connection in busy)
    until(open_door)


def test_requests_sent_ahead_are_bounded(strict: Server) -> None:
    whole = GET + b"\r\n"
    with connected(strict, whole * 9 + GET + b"Connection: close\r\n\r\n") as connection:
        assert received(connection).count(b"HTTP/1.1 200 ") == 10
    rest = resident_bytes(strict)
    with several(strict, 20, whole * 4000) as eager:
        answers = [received(connection).count(b"HTTP/1.1 200 ") for connection in eager]
    assert max(answers) < 4000
    assert resident_bytes(strict) - rest < 60 * MEBIBYTE
    assert is_answered(strict)


@pytest.mark.parametrize("processes", ["1", pytest.param("2", marks=pytest.mark.chaos)])
def test_slow_connections_do_not_delay_the_end(tmp_path: Path, processes: str) -> None:
    patient = {"head_timeout": "600", "idle_timeout": "600", "body_timeout": "600", "send_timeout": "600"}
    with (
        running_server(tmp_path, shutdown_grace="2", processes=processes, **patient) as server,
        several(server, 5),
        several(server, 5, GET),
        several(server, 5, GET + b"\r\n"),
        several(server, 5, POST + b"Content-Length: 100\r\n\r\n{"),
    ):
        assert is_answered(server)
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(60) == 0


@pytest.mark.parametrize("processes", ["1", "2"])
def test_a_request_that_is_on_its_way_at_the_end_is_answered(tmp_path: Path, processes: str) -> None:
    with running_server(tmp_path, processes=processes) as server, connected(server) as kept:
        kept.sendall(GET + b"\r\n")
        until(lambda: kept.recv(10_000).endswith(b"}"))  # head and body may come apart
        server.process.send_signal(signal.SIGTERM)
        until(lambda: refuses(server))
        kept.sendall(GET + b"\r\n")
        answer = received(kept)
        assert answer.startswith(b"HTTP/1.1 200")
        assert b"\r\nconnection: close\r\n" in answer
        assert server.process.wait(60) == 0


def refuses(server: Server) -> bool:
    """Whether new connections are refused."""
    try:
        with connected(server):
            return False
    except ConnectionRefusedError:
        return True
