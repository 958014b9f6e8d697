"""API keys, ownership and where the server may listen."""

import json
import sqlite3
from pathlib import Path
from typing import Any

from tests.support.command import fedsift, make_key
from tests.support.requests import random_request
from tests.support.server import free_port, running_server
from tests.support.sockets import connected, endless_plan
from tests.support.waiting import until


def test_without_keys_only_this_machine_is_served(tmp_path: Path) -> None:
    refused = fedsift(tmp_path, "serve", "--host", "0.0.0.0", "--port", str(free_port()))
    assert refused.returncode == 2
    assert "fedsift keys create" in refused.stderr


def test_keys_are_needed_and_runs_belong_to_them(tmp_path: Path) -> None:
    one, two = make_key(tmp_path, "one"), make_key(tmp_path, "two")
    with running_server(tmp_path, auth="required") as server, server.client() as client:
        cases: list[dict[Any, Any]] = [{}, {"x-api-key": "fsk_wrong"}, {b"x-api-key": b"\xff"}]
        for headers in cases:
            answer = client.get("/v1/runs", headers=headers)
            assert answer.status_code == 401
            assert answer.headers["content-type"] == "application/problem+json"
            assert "www-authenticate" in answer.headers
        assert client.get("/healthz").status_code == 200
        mine, theirs = {"x-api-key": one["key"]}, {"x-api-key": two["key"]}
        run = client.post("/v1/runs", json=random_request(1, 10), headers=mine).headers["location"]
        assert client.get(run, headers=mine).status_code == 200
        assert client.get(run, headers=theirs).status_code == 404
        assert client.delete(run, headers=theirs).status_code == 404
        assert client.get("/v1/runs", headers=theirs).json() == {"runs": []}
        aggregation = {"aggregation": 1, "gradient_norm": 1.0}
        assert client.post(f"{run}/aggregations", json=aggregation, headers=theirs).status_code == 404
        assert client.get(f"{run}/aggregations/0", headers=theirs).status_code == 404
        assert one["key"] not in server.log.read_text()


def test_a_key_with_too_much_under_way_waits_while_others_are_served(tmp_path: Path) -> None:
    one, two = make_key(tmp_path, "one"), make_key(tmp_path, "two")
    settings = {"auth": "required", "key_concurrency": "1", "threads": "2", "retry_after": "7"}
    with running_server(tmp_path, **settings) as server, server.client() as client:
        mine, theirs = {"x-api-key": one["key"]}, {"x-api-key": two["key"]}
        with connected(server, endless_plan(**mine)):
            until(lambda: "fedsift_admitted 1.0" in client.get("/metrics", headers=theirs).text)
            refused = client.post("/v1/plans", json=random_request(1, 10), headers=mine)
            served = client.post("/v1/plans", json=random_request(1, 10), headers=theirs)
        until(lambda: "fedsift_admitted 0.0" in client.get("/metrics", headers=theirs).text)
        assert refused.status_code == 429
        assert refused.headers["retry-after"] == "7"
        assert refused.json()["type"] == "urn:fedsift:problem:too-many-requests"
        assert served.status_code == 200
        assert client.post("/v1/plans", json=random_request(1, 10), headers=mine).status_code == 200


def test_only_digests_are_kept(tmp_path: Path) -> None:
    key = make_key(tmp_path, "one")["key"]
    with sqlite3.connect(tmp_path / "fedsift.db") as database:
        rows = repr(database.execute("SELECT * FROM api_keys").fetchall())
    database.close()
    assert key not in rows
    assert key.removeprefix("fsk_") not in rows


def test_for_a_time_that_is_over_no_database_is_made(tmp_path: Path) -> None:
    refused = fedsift(tmp_path, "keys", "create", "one", "--expires-at", "2020-01-01")
    assert refused.returncode == 2
    assert "'2020-01-01' is over already" in refused.stderr
    assert not list(tmp_path.iterdir())


def test_keys_are_listed_and_revoked(tmp_path: Path) -> None:
    key = make_key(tmp_path, "one")
    listed = json.loads(fedsift(tmp_path, "keys", "list", "--json").stdout)
    assert [(row["id"], row["name"], row["owner"]) for row in listed] == [(key["id"], "one", key["owner"])]
    assert "one" in fedsift(tmp_path, "keys", "list").stdout
    assert fedsift(tmp_path, "keys", "revoke", key["id"]).returncode == 0
    assert fedsift(tmp_path, "keys", "revoke", key["id"]).returncode == 1
    assert json.loads(fedsift(tmp_path, "keys", "list", "--json").stdout) == []


def test_a_rotated_key_keeps_what_its_owner_has(tmp_path: Path) -> None:
    old = make_key(tmp_path, "one")
    done = fedsift(tmp_path, "keys", "rotate", old["id"], "--overlap", "0s", "--json")
    new = json.loads(done.stdout)
    assert (new["name"], new["owner"]) == ("one", old["owner"])
    assert new["key"] != old["key"]
    assert fedsift(tmp_path, "keys", "rotate", "nobody").returncode == 1
    second = json.loads(fedsift(tmp_path, "keys", "create", "two", "--owner", old["owner"], "--json").stdout)
    assert second["owner"] == old["owner"]
    with running_server(tmp_path, auth="required") as server, server.client() as client:
        mine, other = {"x-api-key": new["key"]}, {"x-api-key": second["key"]}
        assert client.get("/v1/runs", headers={"x-api-key": old["key"]}).status_code == 401
        run = client.post("/v1/runs", json=random_request(1, 10), headers=mine).headers["location"]
        assert client.get(run, headers=other).status_code == 200


def test_what_was_made_without_keys_can_be_handed_over(tmp_path: Path) -> None:
    with running_server(tmp_path) as server, server.client() as client:
        once = {"Idempotency-Key": "once"}
        run = client.post("/v1/runs", json=random_request(1, 10), headers=once).headers["location"]
        plan = client.post("/v1/plans", json={**random_request(1, 10), "keep": True}).headers["location"]
    key = make_key(tmp_path, "one")
    assert fedsift(tmp_path, "keys", "adopt", "nobody").returncode == 1
    with (
        running_server(tmp_path, auth="required") as server,
        server.client(headers={"x-api-key": key["key"]}) as client,
    ):
        assert client.get(run).status_code == 404
        own = client.post("/v1/runs", json=random_request(1, 10), headers=once).headers["location"]
        done = fedsift(tmp_path, "keys", "adopt", key["owner"], "--json")
        assert json.loads(done.stdout) == {"plans": 1, "runs": 1, "validations": 0, "networks": 0}
        assert client.get(run).status_code == client.get(plan).status_code == 200
        # The idempotency key stays with what the owner made.
        again = client.post("/v1/runs", json=random_request(1, 10), headers=once)
        assert again.headers["location"] == own


def test_names_of_keys_are_neither_empty_nor_taken(tmp_path: Path) -> None:
    make_key(tmp_path, "one")
    for name, reason in (("", "needs a name"), ("  ", "needs a name"), ("a\nb", "needs a name"), ("one", "already")):
        refused = fedsift(tmp_path, "keys", "create", name)
        assert refused.returncode == 1
        assert reason in refused.stderr
    assert fedsift(tmp_path, "keys", "create", "two", "--owner", "nobody").returncode == 1
    assert len(json.loads(fedsift(tmp_path, "keys", "list", "--json").stdout)) == 1
