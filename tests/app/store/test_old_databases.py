"""Databases that each earlier release left behind, with rows in all their tables, opened by this one."""

import sqlite3
from pathlib import Path

import pytest

from app.keys.store import KeyStore
from app.networks.store import NetworkStore
from app.plans.store import PlanStore
from app.runs.store import RunStore
from app.store import Store
from app.store.paging import Page
from app.store.store import release_migrations
from app.validations.store import ValidationStore
from app.webhooks.store import WebhookStore
from tests.support.old_schema import old_schema, write_rows


def layout_of(last: str, folder: Path) -> dict[str, list[str]]:
    """The tables and columns after these migrations; SQLite tells them without a server."""
    path = folder / "layout.db"
    with old_schema(f"sqlite:///{path}", last):
        pass
    database = sqlite3.connect(path)
    tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    columns = {
        table: [name for (name,) in database.execute("SELECT name FROM pragma_table_info(?)", (table,))]
        for table in tables
    }
    database.close()
    return columns


@pytest.mark.parametrize("last", release_migrations())
def test_a_database_of_each_earlier_schema_is_opened_with_its_rows(
    last: str, database_url: str, tmp_path: Path
) -> None:
    layout = layout_of(last, tmp_path)
    with old_schema(database_url, last) as t:
        written = write_rows(t, layout)
    store = Store(database_url)
    page = Page(9)
    found = {
        "api_keys": [key.owner for key in KeyStore(store).all()],
        "runs": [run.id for run, _ in RunStore(store).page("own_1", page)],
        "plans": [plan.id for plan in PlanStore(store).page("own_1", page)],
        "validations": [one.id for one in ValidationStore(store).page("own_1", page)],
        "networks": [one.id for one in NetworkStore(store).page("own_1", page)],
        "webhooks": [one.id for one in WebhookStore(store).all("own_1")],
    }
    expected = {
        "api_keys": ["own_1"],
        "runs": ["run_1"],
        "plans": ["plan_1"],
        "validations": ["val_1"],
        "networks": ["net_1"],
        "webhooks": ["whk_1"],
    }
    assert found == {table: ids if table in written else [] for table, ids in expected.items()}
    with store.read() as t:
        assert [name for (name,) in t.rows("SELECT name FROM migrations ORDER BY name")] == release_migrations()
        assert t.rows("SELECT COUNT(*) FROM periods") == [(1,)]
    assert RunStore(store).delete("own_1", "run_1")
    store.close()
