"""Clients that send slowly, too much or nothing, or do not read."""

import json
import socket
import time
from contextlib import ExitStack

from benchmarks.chaos.exchange import PLAN, ask
from benchmarks.chaos.hostile import NPZ, matrix_answer
from benchmarks.chaos.memory_watch import Growth
from benchmarks.chaos.raw_socket import connect, is_closed, send_until_closed
from benchmarks.chaos.scenario import Outcome, scenario
from benchmarks.chaos.site import Service, Site, until

_START = b"POST /v1/plans HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
_MOST_WAIT = 60.0


def _plan(service: Service) -> tuple[str, bool]:
    status, seconds = ask(service, "POST", "/v1/plans", json=PLAN)
    return f"a plan meanwhile: {status or 'no answer'} in {seconds:.1f} s", status == 200 and seconds < 5


@scenario(
    "one-byte-bodies",
    "two chunked binary bodies of one byte each, never finished",
    "a plan is made meanwhile",
)
def one_byte_bodies(site: Site) -> Outcome:
    """A body of unknown size must not reserve the largest size."""
    start = b"POST /v1/plans/binary HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n"
    start += f"Content-Type: {NPZ}\r\n\r\n1\r\nP\r\n".encode()
    with site.service(site.sqlite().url) as service, ExitStack() as stack:
        for _ in range(2):
            stack.enter_context(connect(service, start))
        time.sleep(1)
        return Outcome(*_plan(service))


@scenario(
    "slow-bodies",
    "66 bodies that arrive at a byte a second",
    "a plan is made meanwhile",
)
def slow_bodies(site: Site) -> Outcome:
    """A body under way must not take a place in the solver's queue."""
    with site.service(site.sqlite().url) as service, ExitStack() as stack:
        start = _START + b"Content-Length: 1000\r\n\r\n{"
        clients = [stack.enter_context(connect(service, start)) for _ in range(66)]
        for _ in range(3):
            time.sleep(1)
            for client in clients:
                try:
                    client.sendall(b" ")
                except OSError:  # refused already
                    continue
        return Outcome(*_plan(service))


@scenario(
    "headers-without-end",
    "300 MB of header lines in one request",
    "the connection is closed before 8 MB are taken, with what the kernel buffers",
    forked=True,
)
def many_headers(site: Site) -> Outcome:
    """No answer is worth so many headers."""
    line = b"".join(b"X-%d: %s\r\n" % (n, b"a" * 200) for n in range(300))
    return _endless(site, b"", line, 300_000_000)


@scenario(
    "header-without-end",
    "one header that never ends",
    "the connection is closed before 8 MB are taken, with what the kernel buffers",
)
def endless_header(site: Site) -> Outcome:
    """Looking for its end from the start each time is quadratic."""
    return _endless(site, b"X-Long: ", b"a" * 65536, 100_000_000)


def _endless(site: Site, start: bytes, piece: bytes, most: int) -> Outcome:
    with site.service(site.sqlite().url) as service:
        growth = Growth(service)
        with connect(service, b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n" + start) as client:
            begin = time.monotonic()
            sent = send_until_closed(client, piece, most_bytes=most, seconds=20)
            seconds = time.monotonic() - begin
            closed = until(lambda: is_closed(client), 2)
        more = growth.most()
        alive, took = ask(service, "GET", "/healthz", seconds=60)
    words = f"{sent / 1e6:.1f} MB taken in {seconds:.0f} s, {more:.0f} MB more memory"
    words += ", closed" if closed else ", not closed"
    if took > 2:
        words += f"; health afterwards {alive or 'no answer'} in {took:.0f} s"
    # What the kernel buffers on both sides counts as sent.
    return Outcome(words, closed and sent < 8_000_000 and more < 20 and alive == 200)


@scenario(
    "idle-connections",
    "200 connections that send nothing, 200 with half a header, 200 idle after an answer",
    "all are closed within a minute",
)
def idle_connections(site: Site) -> Outcome:
    """A connection costs a file descriptor and memory."""
    kinds = {
        "silent": b"",
        "half-open": b"GET /healthz HTTP/1.1\r\nHost: 127",
        "idle": b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    }
    with site.service(site.sqlite().url) as service, ExitStack() as stack:
        opened: dict[str, list[socket.socket]] = {}
        for name, first in kinds.items():
            opened[name] = [stack.enter_context(connect(service, first)) for _ in range(200)]
        begin = time.monotonic()
        left = {client for clients in opened.values() for client in clients}

        def none_left() -> bool:
            left.difference_update([client for client in left if is_closed(client)])
            return not left

        gone = until(none_left, _MOST_WAIT, look=1)
        seconds = time.monotonic() - begin
        open_still = {name: sum(client in left for client in clients) for name, clients in opened.items()}
    words = f"all closed after {seconds:.0f} s" if gone else f"open after a minute: {open_still}"
    return Outcome(words.replace("{", "").replace("}", "").replace("'", ""), gone)


@scenario(
    "unread-answers",
    "30 clients ask for a large kept plan and do not read the answer",
    "at most 400 MB above rest; a plan is made meanwhile; the clients are dropped within a minute",
    forked=True,
)
def unread_answers(site: Site) -> Outcome:
    """An answer that is not read must not be kept in memory."""
    with site.service(site.sqlite().url) as service, ExitStack() as stack:
        plan_id, size = _large_plan(service)
        time.sleep(1)
        growth = Growth(service)
        request = f"GET /v1/plans/{plan_id} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
        for _ in range(30):
            stack.enter_context(connect(service, request))
        time.sleep(10)
        words, planned = _plan(service)
        more = growth.most()
        gone = until(lambda: _established(service.port) <= 1, _MOST_WAIT, look=1)
    dropped = "dropped" if gone else "not dropped within a minute"
    measured = f"answers of {size / 1e6:.0f} MB: {more:,.0f} MB more; {words}; clients {dropped}"
    return Outcome(measured, more <= 400 and planned and gone)


def _large_plan(service: Service) -> tuple[str, int]:
    """Keep the largest plan that the service makes; returns its id and the size of its answer."""
    body = json.loads(matrix_answer()[1])
    with service.client(120) as client:
        for steps in (16, 12, 8, 4, 2, 1):
            answer = client.post("/v1/plans", json={**body, "keep": True, "horizon": steps})
            if answer.status_code == 201:
                return str(answer.json()["id"]), len(answer.content)
    raise RuntimeError(f"no large plan is made: {answer.status_code} {answer.text[:200]}")


def _established(port: int) -> int:
    """Connections to this port that the server has open, by its own table."""
    with open("/proc/net/tcp", encoding="ascii") as lines:  # noqa: PTH123 - a table of the kernel
        rows = [line.split() for line in lines][1:]
    return sum(row[1].endswith(f":{port:04X}") and row[3] == "01" for row in rows)
