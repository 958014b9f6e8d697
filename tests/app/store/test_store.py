"""The store's handle behaves alike on both databases: what is committed, what is seen, and what is refused."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from app.store import NewerSchemaError, Store, StoreError
from app.store.database import GoneError
from solver.errors import InvalidInputError


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    made = Store(database_url)
    yield made
    made.close()


def add_key(store: Store, name: str) -> None:
    with store.write() as t:
        t.change("INSERT INTO api_keys (id, digest, name, created_at) VALUES (?, ?, ?, ?)", name, name, name, 0.0)


def names(store: Store) -> list[str]:
    with store.read() as t:
        return [name for (name,) in t.rows("SELECT name FROM api_keys ORDER BY name")]


def test_changes_are_counted_and_another_process_sees_them(store: Store, database_url: str) -> None:
    add_key(store, "a")
    add_key(store, "b")
    with store.write() as t:
        assert t.change("DELETE FROM api_keys WHERE name = ?", "a") == 1
        assert t.change("DELETE FROM api_keys WHERE name = ?", "a") == 0
    other = Store(database_url)
    assert names(other) == ["b"]
    other.close()


def test_an_exception_takes_the_whole_transaction_back(store: Store) -> None:
    add_key(store, "before")

    def fail_after_a_change() -> None:
        with store.write() as t:
            t.change("DELETE FROM api_keys")
            assert t.rows("SELECT COUNT(*) FROM api_keys") == [(0,)]
            raise KeyError

    with pytest.raises(KeyError):
        fail_after_a_change()
    assert names(store) == ["before"]
    add_key(store, "after")  # the connection is of use again


def test_a_row_that_refers_to_nothing_is_refused(store: Store) -> None:
    sql = "INSERT INTO periods (run_id, aggregation, request_digest, request, state, answer) VALUES (?, ?, ?, ?, ?, ?)"
    with pytest.raises(GoneError), store.write() as t:
        t.change(sql, "no such run", 0, "", b"", "", b"")


def test_a_read_sees_one_state_and_keeps_no_writer_waiting(store: Store) -> None:
    add_key(store, "a")
    with store.read() as t:
        assert t.rows("SELECT COUNT(*) FROM api_keys") == [(1,)]
        with ThreadPoolExecutor(1) as other:
            other.submit(add_key, store, "b").result(timeout=60)
        assert t.rows("SELECT COUNT(*) FROM api_keys") == [(1,)]
    assert names(store) == ["a", "b"]


def test_writers_in_threads_lose_nothing(store: Store) -> None:
    add_key(store, "n")
    gate = threading.Barrier(4)

    def count(_: int) -> None:
        gate.wait(60)
        for _ in range(10):
            with store.write() as t:
                t.change("UPDATE api_keys SET created_at = created_at + 1 WHERE id = 'n'")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(count, range(4)))
    with store.read() as t:
        assert t.rows("SELECT created_at FROM api_keys") == [(40.0,)]


def test_several_processes_may_migrate_at_once(database_url: str) -> None:
    stores = [Store(database_url) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(Store.migrate, stores))
    with stores[0].read() as t:
        done = [name for (name,) in t.rows("SELECT name FROM migrations ORDER BY name")]
    scripts = Path(__file__).parents[3] / "app" / "store" / "migrations"
    assert done == sorted(script.name for script in scripts.glob("*.sql"))
    for one in stores:
        one.close()


def test_a_schema_that_is_up_to_date_is_used_without_a_lock(store: Store, database_url: str) -> None:
    add_key(store, "a")
    other = Store(database_url, 0.2)
    with store.write() as t:
        t.change("INSERT INTO migrations (name) VALUES ('9999_seen_by_nobody.sql')")
        assert names(other) == ["a"]  # while another process writes
        t.change("DELETE FROM migrations WHERE name = '9999_seen_by_nobody.sql'")
    other.close()


def test_a_schema_of_a_newer_release_is_refused(store: Store, database_url: str) -> None:
    add_key(store, "a")
    with store.write() as t:
        t.change("INSERT INTO migrations (name) VALUES ('9999_of_tomorrow.sql')")
    later = Store(database_url)
    for use in (later.read, later.write().__enter__, later.migrate, store.check, store.read):
        with pytest.raises(NewerSchemaError, match=r"newer release .*9999_of_tomorrow\.sql"):
            use()
    with later._database.write() as t:
        t.change("DELETE FROM migrations WHERE name = '9999_of_tomorrow.sql'")
    assert names(store) == names(later) == ["a"]
    later.close()


def test_a_statement_that_fails_is_a_store_error(store: Store) -> None:
    with pytest.raises(StoreError), store.write() as t:
        t.rows("SELECT nothing FROM nowhere")
    assert names(store) == []


def test_the_url_names_the_database() -> None:
    with pytest.raises(InvalidInputError, match="must begin with sqlite:/// or postgresql://"):
        Store("mysql://elsewhere")


def test_a_newer_release_that_only_added_to_the_schema_is_no_obstacle(store: Store, database_url: str) -> None:
    add_key(store, "a")
    with store.write() as t:
        t.change("INSERT INTO migrations (name) VALUES ('9999_of_tomorrow.add.sql')")
    store.check()
    later = Store(database_url)
    assert names(later) == names(store) == ["a"]
    later.close()
