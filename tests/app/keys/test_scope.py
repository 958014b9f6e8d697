"""Keys that expire, keys that may only read, and keys that overlap with their successors."""

import json
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.keys.ring import KeyRing
from app.keys.store import KeyStore
from app.store import Store
from tests.support.command import fedsift, make_key
from tests.support.requests import random_request
from tests.support.server import running_server


def rotated(folder: Path, key_id: str, overlap: str) -> dict[str, str]:
    done = fedsift(folder, "keys", "rotate", key_id, "--overlap", overlap, "--json")
    assert done.returncode == 0, done.stderr
    key: dict[str, str] = json.loads(done.stdout)
    return key


def seconds_to(text: str) -> float:
    return (datetime.fromisoformat(text) - datetime.now(UTC)).total_seconds()


def with_key(key: dict[str, str]) -> dict[str, str]:
    return {"x-api-key": key["key"]}


def test_a_key_that_may_only_read_is_known_and_may_not_write(tmp_path: Path) -> None:
    full = make_key(tmp_path, "full")
    reader = make_key(tmp_path, "reader", "--owner", full["owner"], "--read-only")
    assert reader["scope"] == "read"
    with running_server(tmp_path, auth="required") as server, server.client() as client:
        run = client.post("/v1/runs", json=random_request(1, 8), headers=with_key(full)).headers["location"]
        assert client.get(run, headers=with_key(reader)).status_code == 200
        assert client.get("/metrics", headers=with_key(reader)).status_code == 200
        for method, path in (("POST", "/v1/runs"), ("POST", "/v1/plans"), ("DELETE", run)):
            refused = client.request(method, path, headers=with_key(reader), json=random_request(1, 8))
            assert refused.status_code == 403, path
            assert refused.headers["content-type"] == "application/problem+json"
            assert refused.json()["type"] == "urn:fedsift:problem:forbidden"
            assert refused.json()["detail"] == f"this key may only read (GET), not {method}: its scope is `read`"
        assert client.post("/v1/plans", json=random_request(1, 8)).status_code == 401
        assert client.get(run, headers=with_key(full)).status_code == 200  # nothing was deleted


def test_a_key_is_refused_as_soon_as_it_expires_though_it_is_cached(tmp_path: Path) -> None:
    make_key(tmp_path, "first")  # without one the service does not start
    with running_server(tmp_path, auth="required") as server, server.client() as client:
        store = Store(f"sqlite:///{tmp_path}/fedsift.db")
        end = time.time() + 4.0
        _, key = KeyRing(store).create("one", expires_at=end)
        store.close()
        asked_late = False
        while not asked_late:
            asked_late = time.time() >= end
            answer = client.get("/v1/runs", headers={"x-api-key": key})
            if time.time() < end:
                assert answer.status_code == 200
            time.sleep(0.1)
    assert answer.status_code == 401
    assert answer.json()["detail"] == "this key has expired: ask for a new one"


def test_a_key_overlaps_with_its_successor(tmp_path: Path) -> None:
    old = make_key(tmp_path, "one", "--read-only", "--expires-in", "30d")
    new = rotated(tmp_path, old["id"], "2h")
    assert (new["name"], new["owner"], new["scope"]) == ("one", old["owner"], "read")
    assert seconds_to(new["expires_at"]) == pytest.approx(30 * 86400, abs=60)
    listed = {row["id"]: row for row in json.loads(fedsift(tmp_path, "keys", "list", "--json").stdout)}
    assert seconds_to(listed[old["id"]]["expires_at"]) == pytest.approx(2 * 3600, abs=60)
    # A longer overlap does not make the old key live longer.
    rotated(tmp_path, old["id"], "9d")
    listed = {row["id"]: row for row in json.loads(fedsift(tmp_path, "keys", "list", "--json").stdout)}
    assert seconds_to(listed[old["id"]]["expires_at"]) == pytest.approx(2 * 3600, abs=60)
    with running_server(tmp_path, auth="required") as server, server.client() as client:
        assert [client.get("/v1/runs", headers=with_key(key)).status_code for key in (old, new)] == [200, 200]


def test_the_list_tells_the_last_use_and_no_secret(tmp_path: Path) -> None:
    key, other = make_key(tmp_path, "one"), make_key(tmp_path, "two")
    with running_server(tmp_path, auth="required") as server, server.client(headers=with_key(key)) as client:
        assert client.get("/v1/runs").status_code == 200
    # It is written once a minute and at the end.
    printed = fedsift(tmp_path, "keys", "list", "--json").stdout
    used = {row["id"]: row["used_at"] for row in json.loads(printed)}
    assert used[other["id"]] is None
    assert -600 < seconds_to(str(used[key["id"]])) <= 1
    assert key["key"].removeprefix("fsk_") not in printed
    assert key["key"].removeprefix("fsk_") not in fedsift(tmp_path, "keys", "list").stdout


@pytest.mark.parametrize("given", ["soon", "90", "-1d", "2001-01-01", "2030-13-01T00:00Z"])
def test_times_that_are_none_or_over_are_refused(tmp_path: Path, given: str) -> None:
    refused = fedsift(tmp_path, "keys", "create", "one", f"--expires-in={given}")
    assert refused.returncode == 2
    assert repr(given) in refused.stderr
    assert "Traceback" not in refused.stderr


def test_an_iso_time_is_of_utc_unless_it_says_otherwise(tmp_path: Path) -> None:
    assert make_key(tmp_path, "a", "--expires-at", "2130-01-01")["expires_at"] == "2130-01-01T00:00:00+00:00"
    noon = make_key(tmp_path, "b", "--expires-at", "2130-01-01T12:00+02:00")
    assert noon["expires_at"] == "2130-01-01T10:00:00+00:00"


def test_expired_keys_go_and_their_owner_stays(database_url: str) -> None:
    store = Store(database_url)
    ring, keys = KeyRing(store), KeyStore(store)
    now = time.time()
    old, _ = ring.create("old", expires_at=now - 10 * 86400)
    recent, _ = ring.create("recent", expires_at=now - 86400)
    lasting, _ = ring.create("lasting")
    assert keys.delete_expired(5.0) == 1
    assert [key.id for key in keys.all()] == [recent.id, lasting.id]
    again, _ = ring.create("again", old.owner)
    assert again.owner == old.owner
    store.close()
