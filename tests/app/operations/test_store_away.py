"""A store that is locked, hangs or is too new: what needs no store is served, the rest is refused in time.

A client gives up after `PATIENCE` seconds, far more than any deadline here and far less than the locks are held.
"""

import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx

from app.worker.main import EXIT_NEWER_SCHEMA
from tests.support.black_hole import BlackHole, locked
from tests.support.command import environment, fedsift
from tests.support.requests import random_request
from tests.support.server import free_port, running_server
from tests.support.waiting import PATIENCE, until

PLAN = random_request(1, 10)
VALIDATION = {
    "source": {"kind": "generator", "devices": 12},
    "schemes": ["random"],
    "sample_size": 3,
    "aggregations": 3,
    "aggregation_period": 2,
    "target": 0.2,
}
UNKNOWN = {"x-api-key": "fsk_unknown"}


def is_refused(answer: httpx.Response) -> bool:
    """Whether it says in a problem document that the store does not answer."""
    refused = (answer.status_code, answer.json()["type"]) == (503, "urn:fedsift:problem:store-unavailable")
    return refused and "retry-after" in answer.headers


def test_postgresql_that_is_locked_or_hangs(postgres_url: str, tmp_path: Path) -> None:
    with BlackHole(postgres_url) as hole:
        settings = {"database_url": hole.url, "auth": "required", "store_timeout": "0.5", "shutdown_grace": "10"}
        made = fedsift(tmp_path, "keys", "create", "one", "--json", **settings)
        headers = {"x-api-key": json.loads(made.stdout)["key"]}
        with (
            running_server(tmp_path, **settings) as server,
            httpx.Client(base_url=server.url, timeout=PATIENCE, headers=headers) as client,
        ):
            run = client.post("/v1/runs", json=PLAN).headers["location"]
            with locked(postgres_url, "runs", "plans", "api_keys"):
                assert client.get("/readyz").status_code == 200
                assert "fedsift_workers 0.0" in client.get("/metrics").text
                assert client.post("/v1/plans", json=PLAN).status_code == 200
                assert is_refused(client.get(run))
                assert is_refused(client.delete(run))
                assert is_refused(client.post("/v1/runs", json=PLAN))
                assert is_refused(client.post("/v1/plans", json={**PLAN, "keep": True}))
                assert is_refused(client.get(run, headers=UNKNOWN))
            assert client.get(run).status_code == 200
            assert client.get(run, headers=UNKNOWN).status_code == 401
            with locked(postgres_url, "workers", "validations"):
                assert_store_does_not_answer(client)
                assert client.get(run).status_code == 200
            assert client.get("/readyz").status_code == 200

            hole.swallow()
            assert_store_does_not_answer(client)
            assert is_refused(client.get(run))
            assert is_refused(client.get(run, headers=UNKNOWN))
            time.sleep(5)  # longer than a key is remembered without asking the store
            assert client.post("/v1/plans", json=PLAN).status_code == 200
            server.process.terminate()
            assert server.process.wait(PATIENCE) == 0


def test_a_thread_that_waits_for_the_store_does_not_keep_the_process(postgres_url: str, tmp_path: Path) -> None:
    with BlackHole(postgres_url) as hole, ThreadPoolExecutor(1) as other:
        settings = {"database_url": hole.url, "store_timeout": "120", "shutdown_grace": "1"}
        with running_server(tmp_path, **settings) as server, server.client() as client:
            hole.swallow()
            other.submit(client.post, "/v1/runs", json=PLAN)
            assert hole.holds.wait(PATIENCE)
            server.process.terminate()
            assert server.process.wait(PATIENCE) == 0


def test_what_waits_for_the_store_keeps_no_thread_of_the_solver(postgres_url: str, tmp_path: Path) -> None:
    settings = {"database_url": postgres_url, "store_timeout": "40", "threads": "1"}
    with (
        ThreadPoolExecutor(4) as others,
        running_server(tmp_path, **settings) as server,
        httpx.Client(base_url=server.url, timeout=PATIENCE) as client,
    ):
        run = client.post("/v1/runs", json=PLAN).headers["location"]
        kept = {"/v1/runs": PLAN, "/v1/plans": {**PLAN, "keep": True}, "/v1/validations": VALIDATION}
        told = {f"{run}/aggregations": {"aggregation": 1, "gradient_norm": 1.0}}
        # Before anything is computed each reads one of the first three. When it is computed, a run writes its period.
        for locks, posts in ((("usage", "runs", "validations"), kept | told), (("periods",), {"/v1/runs": PLAN})):
            with locked(postgres_url, *locks):
                asked = [
                    others.submit(httpx.post, f"{server.url}{path}", json=body, timeout=PATIENCE)
                    for path, body in posts.items()
                ]
                time.sleep(1)
                assert client.post("/v1/plans", json=PLAN).status_code == 200
                assert not any(request.done() for request in asked)
            assert [request.result().status_code // 100 for request in asked] == [2] * len(asked)


def assert_store_does_not_answer(client: httpx.Client) -> None:
    ready = client.get("/readyz")
    assert (ready.status_code, ready.json()["store"]) == (503, "does_not_answer")
    text = client.get("/metrics").text
    assert "fedsift_requests_total" in text
    assert "fedsift_validations{" not in text
    assert client.get("/healthz").status_code == 200


@contextmanager
def write_locked(path: Path) -> Iterator[None]:
    """Hold SQLite's write lock, as a process does that is frozen in a write."""
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    yield
    holder.execute("ROLLBACK")
    holder.close()


def test_sqlite_that_another_process_keeps_locked(tmp_path: Path) -> None:
    with running_server(tmp_path, store_timeout="0.5") as server, server.client() as client:
        plan = client.post("/v1/plans", json={**PLAN, "keep": True}).json()["id"]
        run = client.post("/v1/runs", json=PLAN).headers["location"]
        with write_locked(tmp_path / "fedsift.db"):
            assert is_refused(client.delete(run))
            assert is_refused(client.post("/v1/runs", json=PLAN))
    kept = [f"/v1/plans/{plan}", run, f"{run}/aggregations/0", "/v1/runs", "/v1/validations", "/readyz", "/metrics"]
    # It starts while the lock is held, and a read that waited for the lock would wait longer than the client.
    with (
        write_locked(tmp_path / "fedsift.db"),
        running_server(tmp_path, store_timeout="600", shutdown_grace="1") as server,
        httpx.Client(base_url=server.url, timeout=PATIENCE) as client,
    ):
        assert [client.get(path).status_code for path in kept] == [200] * len(kept)
        assert client.get("/v1/validations/val_" + "0" * 32).status_code == 404
        assert client.post("/v1/plans", json=PLAN).status_code == 200


def is_loaded(readiness: httpx.Response) -> bool:
    return bool(readiness.json()["solver"] == "ok")


def test_a_store_that_cannot_be_reached_is_logged_at_the_start(tmp_path: Path) -> None:
    url = f"postgresql://nobody@127.0.0.1:{free_port()}/none"
    with running_server(tmp_path, is_loaded, database_url=url, auth="off") as server:
        until(lambda: "the store does not answer" in server.log.read_text())


def test_a_database_of_a_newer_release_is_refused(tmp_path: Path) -> None:
    with running_server(tmp_path) as server, server.client() as client:
        run = client.post("/v1/runs", json=PLAN).headers["location"]
        with sqlite3.connect(tmp_path / "fedsift.db") as database:
            database.execute("INSERT INTO migrations (name) VALUES ('9999_of_tomorrow.sql')")
        database.close()
        ready = client.get("/readyz")
        assert (ready.status_code, ready.json()["store"]) == (503, "newer_schema")
        assert is_refused(client.get(run))
        assert is_refused(client.post("/v1/runs", json=PLAN))
    for command in (["serve", "--port", "0"], ["keys", "list"]):
        done = fedsift(tmp_path, *command)
        assert done.returncode == 1
        assert "newer release" in done.stderr
        assert done.stderr.count("\n") == 1
    worker = subprocess.run(
        [sys.executable, "-m", "app.worker.main"],
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert worker.returncode == EXIT_NEWER_SCHEMA
    assert "newer release" in worker.stderr
