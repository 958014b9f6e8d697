"""Backups: what was acknowledged before one is in it, from either database into either."""

import json
import sqlite3
import threading
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.keys.ring import KeyRing
from app.plans.store import PlanStore
from app.store import NewerSchemaError, Store, StoreError
from app.store.backup import BackupError, back_up, restore
from app.store.store import release_migrations
from tests.support.command import fedsift
from tests.support.crew import Crew
from tests.support.old_schema import old_schema
from tests.support.requests import random_request
from tests.support.server import running_server
from tests.support.waiting import PATIENCE

TABLES = ("plans", "runs", "periods", "about", "usage", "api_keys", "owners", "run_conditions")
PLAN = random_request(1, 8, sample_size=1, horizon=1, keep=True)
RUN = random_request(1, 8, sample_size=1, horizon=40, aggregation_period=1)


@pytest.fixture
def other_url(request: pytest.FixtureRequest, database_url: str, tmp_path: Path) -> str:
    """A database of the other kind."""
    if database_url.startswith("postgresql"):
        return f"sqlite:///{tmp_path}/restored/fedsift.db"
    url: str = request.getfixturevalue("postgres_url")
    return url


def rows(url: str, table: str) -> list[tuple[Any, ...]]:
    store = Store(url)
    with store.read() as t:
        found = t.rows(f"SELECT * FROM {table}")
    store.close()
    return sorted(found, key=repr)


class Load:
    """A caller that keeps plans and goes on with a run until told to stop, and notes what was acknowledged."""

    def __init__(self, url: str) -> None:
        self.plans: dict[str, Any] = {}
        self.aggregations = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(url,))
        self._thread.start()

    def _run(self, url: str) -> None:
        with httpx.Client(base_url=url, timeout=PATIENCE) as client:
            run = client.post("/v1/runs", json=RUN).raise_for_status().json()["id"]
            while not self._stop.is_set():
                answer = client.post("/v1/plans", json=PLAN).raise_for_status()
                self.plans[answer.json()["id"]] = answer.json()
                if self.aggregations < 38:
                    report = {"aggregation": self.aggregations + 1, "gradient_norm": 0.5}
                    client.post(f"/v1/runs/{run}/aggregations", json=report).raise_for_status()
                    self.aggregations += 1

    def until(self, plans: int) -> None:
        while len(self.plans) < plans:
            assert self._thread.is_alive()
            threading.Event().wait(0.02)

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()


def test_a_backup_under_load_has_all_that_was_acknowledged(database_url: str, other_url: str, tmp_path: Path) -> None:
    file = tmp_path / "fedsift.backup"
    with running_server(tmp_path, database_url=database_url) as server:
        load = Load(server.url)
        try:
            load.until(5)
            before, aggregations = dict(load.plans), load.aggregations
            back_up(database_url, file, 60)
            load.until(len(load.plans) + 2)  # it went on
        finally:
            load.stop()
    counts = restore(file, other_url, 60)
    for table in TABLES:
        found = rows(other_url, table)
        assert len(found) == counts[table]
        # Nothing is made up, and no row was changed on its way, except those that have changed since.
        if table not in {"usage", "run_conditions"}:
            assert set(found) <= set(rows(database_url, table)), table
    assert before.keys() <= {row[0] for row in rows(other_url, "plans")} <= load.plans.keys()
    store = Store(other_url)
    for plan, answer in before.items():
        record = PlanStore(store).find("local", plan)
        assert record is not None
        assert json.loads(record.answer) == answer
    store.close()
    assert aggregations <= counts["periods"] - 1 <= load.aggregations
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_backup_of_a_backup_is_the_same(crew: Crew, other_url: str, tmp_path: Path) -> None:
    crew.submit("random", "heuristic")
    KeyRing(crew.store).create("me")
    counts = back_up(crew.url, tmp_path / "one", 60)
    assert (counts["validations"], counts["api_keys"]) == (1, 1)
    assert restore(tmp_path / "one", other_url, 60) == counts
    assert back_up(other_url, tmp_path / "two", 60) == counts
    for table in counts:
        expected = rows(crew.url, table)
        assert rows(other_url, table) == expected
        assert rows(f"sqlite:///{tmp_path}/two", table) == expected


@pytest.mark.parametrize("last", release_migrations())
def test_a_backup_of_an_earlier_release_is_brought_up_to_date(last: str, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/old.db"
    with old_schema(url, last) as t:
        t.change("INSERT INTO api_keys (id, digest, name, created_at) VALUES ('k', 'd', 'me', 1)")
    back_up(url, tmp_path / "backup", 60)
    with sqlite3.connect(tmp_path / "old.db") as untouched:
        assert untouched.execute("SELECT MAX(name) FROM migrations").fetchone() == (last,)
    untouched.close()
    restore(tmp_path / "backup", f"sqlite:///{tmp_path}/new.db", 60)
    found = Store(f"sqlite:///{tmp_path}/new.db")
    with found.read() as t:
        assert t.rows("SELECT COUNT(*) FROM migrations") == [(len(release_migrations()),)]
        assert t.rows("SELECT name FROM api_keys") == [("me",)]
    found.close()


def test_nothing_is_written_over(database_url: str, tmp_path: Path) -> None:
    store = Store(database_url)
    KeyRing(store).create("me")
    file = tmp_path / "backup"
    back_up(database_url, file, 60)
    content = file.read_bytes()
    with pytest.raises(BackupError, match="is there already"):
        back_up(database_url, file, 60)
    with pytest.raises(
        BackupError, match=r"has rows already \(owners, api_keys\)|has rows already \(api_keys, owners\)"
    ):
        restore(file, database_url, 60)
    assert len(rows(database_url, "api_keys")) == 1
    assert file.read_bytes() == content
    store.close()


def test_what_is_no_backup_is_refused_on_one_line(tmp_path: Path) -> None:
    new = f"sqlite:///{tmp_path}/new.db"
    (tmp_path / "text").write_text("not a database, though it is long enough to be taken for one" * 20)
    sqlite3.connect(tmp_path / "empty").close()
    for name, error in (("text", StoreError), ("absent", StoreError), ("empty", BackupError)):
        with pytest.raises(error, match=name):
            restore(tmp_path / name, new, 60)
    with pytest.raises(BackupError, match="empty"):
        back_up(new, tmp_path / "backup", 60)
    done = fedsift(tmp_path, "restore", str(tmp_path / "text"), database_url=new)
    assert (done.returncode, done.stderr) == (1, f"error: {tmp_path}/text: file is not a database\n")


def test_a_damaged_backup_is_refused_as_a_whole(database_url: str, tmp_path: Path) -> None:
    store = Store(database_url)
    for number in range(200):
        KeyRing(store).create(f"key {number} {'x' * 200}")
    store.close()
    file = tmp_path / "backup"
    back_up(database_url, file, 60)
    content = bytearray(file.read_bytes())
    content[len(content) // 2 :: 3] = b"\0" * len(content[len(content) // 2 :: 3])
    file.write_bytes(content)
    new = f"sqlite:///{tmp_path}/new.db"
    with pytest.raises((BackupError, StoreError)):
        restore(file, new, 60)
    assert rows(new, "api_keys") == []


def test_a_backup_of_a_newer_release_is_refused(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path}/old.db")
    with store.write() as t:
        t.change("INSERT INTO migrations (name) VALUES ('9999_later.sql')")
    store.close()
    (tmp_path / "old.db").rename(tmp_path / "backup")
    with pytest.raises(NewerSchemaError, match="9999"):
        restore(tmp_path / "backup", f"sqlite:///{tmp_path}/new.db", 60)


def test_a_database_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(
        BackupError,
        match=r"^FEDSIFT_DATABASE_URL=sqlite:///.*/none\.db: there is no database; `fedsift serve` makes one$",
    ):
        back_up(f"sqlite:///{tmp_path}/none.db", tmp_path / "a", 1.0)
    assert list(tmp_path.iterdir()) == []


def test_a_backup_that_was_broken_off_is_named(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/fedsift.db"
    store = Store(url)
    store.migrate()
    store.close()
    (tmp_path / "a.partial").touch()
    with pytest.raises(BackupError, match=r"/a\.partial is there already: another backup writes it, or one was broken"):
        back_up(url, tmp_path / "a", 1.0)
