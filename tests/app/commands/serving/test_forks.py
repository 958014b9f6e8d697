"""A service of several processes: one dies and the others serve, a stop ends all, and limits hold for all together."""

import concurrent.futures
import json
import os
import re
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.support.command import fedsift, make_key
from tests.support.requests import random_request
from tests.support.server import Server, running_server
from tests.support.sockets import endless_plan, refusals, several
from tests.support.waiting import PATIENCE, lives, until

SLOW = random_request(3, 60, horizon=400, sample_size=10, solver="cvxpy", time_limit=6)


@pytest.fixture(scope="module")
def forked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running_server(tmp_path_factory.mktemp("forked"), processes="2") as server:
        yield server


def children(server: Server) -> set[int]:
    listed = subprocess.run(["pgrep", "-P", str(server.process.pid)], capture_output=True, text=True, check=False)
    return {int(pid) for pid in listed.stdout.split()}


def metric(server: Server, name: str) -> float:
    """Asked over a new connection, so that any of the processes may answer."""
    text = httpx.get(f"{server.url}/metrics", timeout=PATIENCE).text
    found = re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)
    return 0.0 if found is None else float(found[1])


def proportional_bytes(pid: int) -> int:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def test_at_rest_all_processes_take_little_memory_together(forked: Server) -> None:
    family = [forked.process.pid, *children(forked)]
    assert len(family) == 3
    assert sum(map(proportional_bytes, family)) < 300_000_000


def test_connections_are_spread_and_metrics_add_up(forked: Server) -> None:
    before = metric(forked, 'fedsift_plans_total{status="optimal"}')
    clients = [forked.client() for _ in range(10)]
    for client in clients:
        assert client.post("/v1/plans", json=random_request(1, 10)).status_code == 200
    lines = [json.loads(line) for line in forked.log.read_text().splitlines()]
    served = Counter(line["process"] for line in lines if line.get("route") == "/v1/plans")
    assert len(served) == 2
    told = {metric(forked, 'fedsift_plans_total{status="optimal"}') for _ in range(6)}
    assert told == {before + 10}
    assert metric(forked, "fedsift_processes") == 2
    for client in clients:
        client.close()


def test_a_killed_process_is_replaced_and_the_others_serve_meanwhile(forked: Server) -> None:
    before = children(forked)
    counted = metric(forked, 'fedsift_requests_total{method="GET",route="/healthz",status="200"}')
    victim = min(before)
    os.kill(victim, signal.SIGKILL)
    for _ in range(20):  # over new connections: those of the victim are gone
        assert httpx.get(f"{forked.url}/healthz", timeout=PATIENCE).status_code == 200
    until(lambda: len(children(forked)) == 2 and victim not in children(forked))
    until(lambda: metric(forked, "fedsift_processes") == 2)
    assert metric(forked, 'fedsift_requests_total{method="GET",route="/healthz",status="200"}') == counted + 20
    assert httpx.get(f"{forked.url}/readyz", timeout=PATIENCE).json()["ready"]


def test_a_stop_lets_accepted_requests_finish_and_ends_all(tmp_path: Path) -> None:
    with running_server(tmp_path, processes="2") as server:
        family = children(server)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            jobs = [pool.submit(httpx.post, f"{server.url}/v1/plans", json=SLOW, timeout=PATIENCE) for _ in range(2)]
            until(lambda: metric(server, "fedsift_admitted") == 2)
            server.process.terminate()
            assert [job.result().status_code for job in jobs] == [200, 200]
        assert server.process.wait(PATIENCE) == 0
        assert not [pid for pid in family if lives(pid)]


def test_without_its_supervisor_no_process_goes_on(tmp_path: Path) -> None:
    with running_server(tmp_path, processes="2", shutdown_grace="2") as server:
        family = children(server)
        server.process.kill()
        until(lambda: not [pid for pid in family if lives(pid)])


def test_the_queue_is_one_for_all_processes(tmp_path: Path) -> None:
    with (
        running_server(tmp_path, processes="2", threads="1", queue="1") as server,
        several(server, 8, endless_plan()) as callers,
    ):
        until(lambda: refusals(callers) == [503] * 5)
        assert metric(server, "fedsift_admitted") == 3


def test_a_key_has_one_limit_in_all_processes(tmp_path: Path) -> None:
    key = {"X-API-Key": make_key(tmp_path, "one")["key"]}
    with (
        running_server(tmp_path, processes="2", auth="required", key_concurrency="1") as server,
        several(server, 6, endless_plan(**key)) as callers,
    ):
        until(lambda: refusals(callers) == [429] * 5)


def test_an_address_that_is_taken_is_told_at_once(forked: Server, tmp_path: Path) -> None:
    port = forked.url.rpartition(":")[2]
    done = fedsift(tmp_path, "serve", "--processes", "2", "--port", port)
    assert done.returncode == 1
    named = f"127.0.0.1, port {port} (FEDSIFT_HOST, FEDSIFT_PORT)"
    assert done.stderr == f"error: cannot listen on {named}: Address already in use\n"
