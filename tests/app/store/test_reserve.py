"""The reserve beside a SQLite database. tests/chaos/test_growth.py tests it on a disk that is really full."""

import os
import sqlite3
from pathlib import Path

import pytest

from app.plans.store import KeptPlan, PlanEntry, PlanStore
from app.store import Store
from app.store.about import About
from app.store.database import DiskFullError
from app.store.reserve import RESERVE_BYTES, Reserve


def test_it_takes_up_space_until_it_is_released(tmp_path: Path) -> None:
    reserve = Reserve(tmp_path / "a.db")
    assert not reserve.release()
    reserve.restore()
    file = tmp_path / "a.db-reserve"
    assert file.stat().st_blocks * 512 >= RESERVE_BYTES
    reserve.restore()
    assert reserve.release()
    assert not file.exists()


def test_a_disk_that_is_low_refuses_to_grow(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path}/a.db")
    store.check_disk(0)
    assert not store.is_low(0)
    assert store.is_low(2**60)
    with pytest.raises(DiskFullError):
        store.check_disk(2**60)
    store.close()


def test_the_space_of_deleted_rows_goes_back_to_the_disk(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path}/a.db")
    plans = PlanStore(store)
    for number in range(10):
        plans.adding(
            PlanEntry(str(number), 0.0, About()), "me", KeptPlan(os.urandom(2_000_000), b""), most_bytes=10**9
        )()
    for number in range(10):
        assert plans.delete("me", str(number))
    for _ in range(20):
        store.give_back()
    sizes = {path.name: path.stat().st_size for path in tmp_path.iterdir()}
    assert sizes["a.db"] < 5 * 2**20
    assert sizes["a.db-wal"] <= 4 * 2**20
    assert sizes["a.db-reserve"] == RESERVE_BYTES
    store.close()
    with sqlite3.connect(tmp_path / "a.db") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()
