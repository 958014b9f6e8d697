"""A PostgreSQL server that restarts, or is not there."""

from typing import Any

import pytest

from app.store import StoreError
from app.store.postgres import PostgresDatabase
from tests.support.server import free_port


def test_a_connection_that_was_cut_is_made_anew(postgres_server: Any, postgres_url: str) -> None:
    database = PostgresDatabase(postgres_url)
    with database.read() as t:
        assert t.rows("SELECT 1") == [(1,)]
    postgres_server.stop()
    postgres_server.start()
    with database.read() as t:
        assert t.rows("SELECT 2") == [(2,)]
    postgres_server.stop()
    with pytest.raises(StoreError), database.read():
        pass
    postgres_server.start()
    with database.write() as t:
        assert t.rows("SELECT 3") == [(3,)]
    database.close()


def test_a_read_cannot_write(postgres_url: str) -> None:
    database = PostgresDatabase(postgres_url)
    with pytest.raises(StoreError, match="read-only"), database.read() as t:
        t.rows("CREATE TABLE numbers (n INTEGER)")
    with database.write() as t:
        t.change("CREATE TABLE numbers (n INTEGER)")
    database.close()


def test_a_server_that_is_not_there_is_a_store_error() -> None:
    with pytest.raises(StoreError), PostgresDatabase(f"postgresql://127.0.0.1:{free_port()}/none").read():
        pass
