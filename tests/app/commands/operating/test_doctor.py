"""`fedsift doctor` finds what is wrong, names it, and ends with status 1 only then."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from app.cli import build_cli
from app.keys.ring import KeyRing
from app.store import Store
from app.store.outbox import announce
from app.webhooks.store import WebhookStore
from app.worker.store import WorkerStore
from tests.support.crew import Crew
from tests.support.old_schema import old_schema


def examine(patch: pytest.MonkeyPatch, **settings: str) -> tuple[int, dict[str, tuple[str, str]]]:
    """The exit status, and level and text of the last finding about each thing."""
    for name, value in settings.items():
        patch.setenv(f"FEDSIFT_{name}", value)
    done = CliRunner().invoke(build_cli(only="doctor"), ["doctor", "--json"])
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return done.exit_code, {one["about"]: (one["level"], one["text"]) for one in found}


def test_a_healthy_service_has_no_error(crew: Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    crew.hire(1)
    crew.until(lambda: bool(WorkerStore(crew.store).all()))
    status, found = examine(monkeypatch, DATABASE_URL=crew.url, WORKER_TIMEOUT="60")
    assert status == 0, found
    assert found["workers"] == ("ok", "1 alive, 0 validations wait or run")
    assert found["store"][0] == found["clock"][0] == found["keys"][0] == "ok"
    assert found["kernels"][0] in {"ok", "warning"}  # they may have had to be compiled


def test_a_store_that_is_not_there_yet_is_not_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    status, found = examine(monkeypatch, DATABASE_URL=f"sqlite:///{tmp_path}/new.db")
    told = f"{tmp_path}/new.db is not there yet; `fedsift serve` makes it"
    assert (status, found["store"]) == (0, ("ok", told))
    assert not (tmp_path / "new.db").exists()


def test_a_store_that_cannot_be_made_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    status, found = examine(monkeypatch, DATABASE_URL=f"sqlite:///{tmp_path}/file/new.db")
    assert (status, found["store"][0]) == (1, "error")
    assert found["store"][1].endswith(f"cannot be made: {tmp_path}/file is no folder to write to")


def test_a_silent_worker_and_validations_that_wait_for_it(crew: Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    WorkerStore(crew.store).register("dead", "elsewhere", 1)
    settings = {"DATABASE_URL": crew.url, "WORKER_TIMEOUT": "1"}
    assert examine(monkeypatch, **settings)[1]["workers"][0] == "warning"
    crew.submit("random")
    status, found = examine(monkeypatch, **settings)
    told = "none is alive, and 1 validations wait: start `fedsift worker`"
    assert (status, found["workers"]) == (1, ("error", told))


@pytest.mark.parametrize(
    ("settings", "about", "told"),
    [
        ({"PORT": "abc"}, "settings", ("error", "FEDSIFT_PORT is 'abc'")),
        ({"PROCESES": "2"}, "settings", ("warning", "did you mean FEDSIFT_PROCESSES?")),
        ({"TIME_LIMIT": "100"}, "settings", ("warning", "is above FEDSIFT_MAX_TIME_LIMIT (60)")),
        ({"DATABASE_URL": "mysql://x"}, "store", ("error", "must begin with")),
        ({"DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none"}, "store", ("error", "127.0.0.1")),
        ({"SCRATCH_DIR": "/none/such"}, "scratch", ("error", "/none/such")),
    ],
)
def test_what_is_wrong_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, settings: dict[str, str], about: str, told: tuple[str, str]
) -> None:
    level, part = told
    given = {"DATABASE_URL": f"sqlite:///{tmp_path}/new.db"} | settings
    status, found = examine(monkeypatch, **given)
    assert (status, found[about][0]) == (1 if level == "error" else 0, level)
    assert part in found[about][1]


def test_keys_disk_and_clock(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/fedsift.db"
    store = Store(url)
    with store.write() as t:
        columns = "id, owner, created_at, request, answer"
        t.change(f"INSERT INTO plans ({columns}) VALUES ('p', 'me', ?, ?, ?)", time.time() + 9999, b"", b"")
    settings = {"DATABASE_URL": url, "HOST": "0.0.0.0", "DISK_RESERVE": str(2**60)}
    status, found = examine(monkeypatch, **settings)
    assert status == 1
    assert {about: found[about][0] for about in ("keys", "disk", "clock")} == {
        "keys": "error",
        "disk": "error",
        "clock": "warning",
    }
    KeyRing(store).create("gone", expires_at=time.time() - 1)
    assert examine(monkeypatch, **settings)[1]["keys"][0] == "error"
    KeyRing(store).create("me")
    KeyRing(store).create("soon", expires_at=time.time() + 86400)
    found = examine(monkeypatch, **settings)[1]
    assert found["keys"] == ("ok", "2, required")
    assert found["expiring keys"][0] == "warning"
    assert found["expiring keys"][1].startswith("soon: ")
    store.close()


def test_webhooks_whose_receiver_is_away_or_not_listed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/fedsift.db"
    store = Store(url)
    WebhookStore(store).create("me", "https://hooks.example/")
    assert "lists no target" in examine(monkeypatch, DATABASE_URL=url)[1]["webhooks"][1]
    listed = {"DATABASE_URL": url, "WEBHOOK_TARGETS": '["hooks.example"]'}
    assert examine(monkeypatch, **listed)[1]["webhooks"] == ("ok", "1, 0 events wait")
    with store.write() as t:
        announce(t, "me", "plan.kept", "plan_1", {})
        t.change("UPDATE webhook_deliveries SET created_at = created_at - 7200")
    level, told = examine(monkeypatch, **listed)[1]["webhooks"]
    assert level == "warning"
    assert told.startswith("1, 1 events wait, the first for 2 h")
    store.close()


def test_a_database_of_an_earlier_release_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch, database_url: str) -> None:
    with old_schema(database_url, "0404_quotas.sql"):
        pass
    for _ in range(2):
        status, found = examine(monkeypatch, DATABASE_URL=database_url)
        assert (status, found["store"][0]) == (0, "warning")
        assert "migrations run at the next start: take a backup first" in found["store"][1]


def test_it_reads_as_a_list_for_people(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FEDSIFT_DATABASE_URL", f"sqlite:///{tmp_path}/new.db")
    monkeypatch.setenv("FEDSIFT_PORT", "abc")
    done = CliRunner().invoke(build_cli(only="doctor"), ["doctor"])
    assert done.exit_code == 1
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["ok", "error"]
    assert "FEDSIFT_PORT is 'abc'" in done.stdout
