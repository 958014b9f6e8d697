"""A PostgreSQL server that restarts, hangs, or is not there."""

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from app.store import NoAnswerError, StoreError
from app.store.deadline import within
from app.store.postgres import PostgresDatabase
from solver.errors import InvalidInputError
from tests.support.black_hole import BlackHole, locked
from tests.support.postgres import Postgres
from tests.support.server import free_port


def test_a_connection_that_was_cut_is_made_anew(postgres_server: Postgres, postgres_url: str) -> None:
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


def test_a_url_that_cannot_be_read_is_named_without_its_password() -> None:
    with pytest.raises(InvalidInputError, match="FEDSIFT_DATABASE_URL") as refused:
        PostgresDatabase("postgresql://me:s%zzecret@host/name")
    assert "ecret" not in str(refused.value)


def test_nobody_waits_without_bound_for_a_lock(postgres_url: str) -> None:
    database = PostgresDatabase(postgres_url, 0.4)
    with database.write() as t:
        t.change("CREATE TABLE numbers (n INTEGER)")
    with locked(postgres_url, "numbers"):
        with pytest.raises(NoAnswerError), database.read() as t:
            t.rows("SELECT n FROM numbers")
        with pytest.raises(NoAnswerError), database.write() as t:
            t.change("INSERT INTO numbers VALUES (1)")
        with database.read() as t:
            assert t.rows("SELECT 1") == [(1,)]  # what needs no lock is answered, on the same connection
    with database.read() as t:
        assert t.rows("SELECT n FROM numbers") == []
    database.close()


def test_a_statement_that_takes_too_long_is_ended(postgres_url: str) -> None:
    database = PostgresDatabase(postgres_url, 0.4)
    with pytest.raises(NoAnswerError), database.read() as t:
        t.rows("SELECT pg_sleep(60)")
    database.close()


def test_a_deadline_holds_for_all_that_a_call_does(postgres_url: str) -> None:
    database = PostgresDatabase(postgres_url, 20)
    with pytest.raises(NoAnswerError), within(0.3), database.read() as t:
        t.rows("SELECT pg_sleep(60)")
    with database.read() as t:
        assert t.rows("SELECT 1") == [(1,)]
    database.close()


def test_a_network_that_swallows_everything_is_noticed(postgres_url: str) -> None:
    with BlackHole(postgres_url) as hole:
        database = PostgresDatabase(hole.url, 0.5)
        with database.read() as t:
            assert t.rows("SELECT 1") == [(1,)]
        hole.swallow()
        for _ in range(2):  # on the connection that was open, and on a new one
            with pytest.raises(NoAnswerError), database.read() as t:
                t.rows("SELECT 1")
        hole.forward()
        with database.write() as t:
            assert t.rows("SELECT 2") == [(2,)]
        database.close()


def test_while_it_hangs_one_thread_waits_and_the_others_do_not(postgres_url: str) -> None:
    with BlackHole(postgres_url) as hole, ThreadPoolExecutor(1) as other:
        database = PostgresDatabase(hole.url, 20)

        def ask() -> None:
            with database.read() as t:
                assert t.rows("SELECT 1") == [(1,)]

        ask()
        hole.swallow()
        with pytest.raises(NoAnswerError), within(0.3):
            ask()
        waiting = other.submit(ask)
        time.sleep(0.5)
        with pytest.raises(NoAnswerError):
            ask()
        assert not waiting.done()
        hole.forward()
        waiting.result(60)
        ask()
        database.close()


def test_a_server_that_is_stopped_by_a_signal_is_noticed(postgres_url: str) -> None:
    """Its socket still takes connections; nobody answers them."""
    database = PostgresDatabase(postgres_url, 0.5)
    with database.read() as t:
        ((backend,),) = t.rows("SELECT pg_backend_pid()")
    os.kill(backend, signal.SIGSTOP)
    try:
        with pytest.raises(NoAnswerError), database.read() as t:
            t.rows("SELECT 1")
        with database.read() as t:
            assert t.rows("SELECT pg_backend_pid()") != [(backend,)]
    finally:
        os.kill(backend, signal.SIGCONT)
    database.close()


def test_a_process_that_is_frozen_in_a_transaction_loses_its_locks(postgres_url: str) -> None:
    frozen, other = PostgresDatabase(postgres_url, 0.2), PostgresDatabase(postgres_url, 5)
    with frozen.write() as t:
        t.change("CREATE TABLE numbers (n INTEGER)")

    def freeze() -> None:
        with frozen.write() as t:
            t.change("LOCK TABLE numbers IN ACCESS EXCLUSIVE MODE")
            time.sleep(1)
            with other.write() as free:
                free.change("INSERT INTO numbers VALUES (1)")

    with pytest.raises(StoreError):
        freeze()
    frozen.close()
    other.close()


def test_the_url_may_set_other_limits(postgres_url: str) -> None:
    def shown(url: str) -> list[str]:
        database = PostgresDatabase(url, 3)
        with database.read() as t:
            names = ("lock_timeout", "statement_timeout", "idle_in_transaction_session_timeout")
            found = [t.rows(f"SHOW {name}")[0][0] for name in names]
        database.close()
        return found

    assert shown(postgres_url) == ["1500ms", "3s", "6s"]
    assert shown(f"{postgres_url}&options=-c%20lock_timeout%3D7s") == ["7s", "3s", "6s"]
