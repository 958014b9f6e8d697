"""The file behind a SQLite store: made where it is missing, and found again when it was replaced."""

import sqlite3
from pathlib import Path

import pytest

from app.store import StoreError
from app.store.sqlite import SqliteDatabase


def test_the_file_and_its_folder_are_made_and_closed_to_others(tmp_path: Path) -> None:
    database = SqliteDatabase(tmp_path / "new" / "fedsift.db")
    with database.write() as t:
        t.change("CREATE TABLE numbers (n INTEGER)")
    database.close()
    assert (tmp_path / "new").stat().st_mode & 0o077 == 0
    assert (tmp_path / "new" / "fedsift.db").exists()


def test_a_file_that_was_moved_away_is_not_written_to(tmp_path: Path) -> None:
    path = tmp_path / "fedsift.db"
    database = SqliteDatabase(path)
    with database.write() as t:
        t.change("CREATE TABLE numbers (n INTEGER)")
    path.rename(tmp_path / "moved.db")
    with database.write() as t:
        t.change("CREATE TABLE others (n INTEGER)")
    database.close()
    with sqlite3.connect(path) as found:
        assert found.execute("SELECT name FROM sqlite_master").fetchall() == [("others",)]
    found.close()


def test_a_writer_that_waits_too_long_says_so(tmp_path: Path) -> None:
    one, other = (SqliteDatabase(tmp_path / "fedsift.db", 0.05) for _ in range(2))
    with one.write(), pytest.raises(StoreError, match="locked"), other.write():
        pass
    with other.write():
        pass
    one.close()
    other.close()


def test_a_writer_keeps_no_reader_waiting(tmp_path: Path) -> None:
    one, other = (SqliteDatabase(tmp_path / "fedsift.db", 0.05) for _ in range(2))
    with one.write() as t:
        t.change("CREATE TABLE numbers (n INTEGER)")
    with one.write() as t:
        t.change("INSERT INTO numbers VALUES (1)")
        with other.read() as reader:
            assert reader.rows("SELECT n FROM numbers") == []
    one.close()
    other.close()


def test_a_file_with_tables_is_opened_while_another_process_writes(tmp_path: Path) -> None:
    first, second = (SqliteDatabase(tmp_path / "fedsift.db", 0.05) for _ in range(2))
    with first.write() as t:
        t.change("CREATE TABLE numbers (n INTEGER)")
    with first.write(), second.read() as t:
        assert t.rows("SELECT * FROM numbers") == []
        assert t.rows("PRAGMA auto_vacuum") == [(2,)]
    first.close()
    second.close()


def test_a_path_that_is_no_file_is_a_store_error(tmp_path: Path) -> None:
    with pytest.raises(StoreError), SqliteDatabase(tmp_path).read():
        pass


def test_a_new_file_is_logged_once_with_its_path(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "fedsift.db"
    for _ in range(2):
        database = SqliteDatabase(path)
        with database.read():
            pass
        database.close()
    assert caplog.messages == [f"made a new database: {path}"]


def test_a_file_that_is_not_there_is_made_only_if_it_may_be(tmp_path: Path) -> None:
    path = tmp_path / "mistyped" / "fedsift.db"
    with pytest.raises(StoreError, match="^there is no database; "), SqliteDatabase(path, makes=False).read():
        pass
    assert list(tmp_path.iterdir()) == []
