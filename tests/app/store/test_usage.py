"""What owners keep is counted in bytes, limited, and deleted when it is too old; on both databases."""

import os
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.plans.store import KeptPlan, PlanEntry, PlanStore
from app.runs.store import PeriodRecord, RunRecord, RunStore
from app.store import Store
from app.store.about import About
from app.store.paging import Page
from app.store.usage import ROW_BYTES, QuotaError, check_quota, delete_old, used_bytes
from tests.support.crew import Crew

PLENTY = 10**9


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    made = Store(database_url)
    yield made
    made.close()


def used(store: Store, owner: str = "me") -> int:
    with store.read() as t:
        return used_bytes(t, owner)


def keep_plan(store: Store, name: str, size: int, *, limit: int = PLENTY, owner: str = "me") -> None:
    """Bytes at random, so that they cannot be packed."""
    entry = PlanEntry(name, store.now(), About())
    PlanStore(store).adding(entry, owner, KeptPlan(os.urandom(size), b""), most_bytes=limit)()


def period(run: str, aggregation: int, size: int, now: float = 1.0) -> PeriodRecord:
    return PeriodRecord(run, aggregation, "", os.urandom(size), "{}", b"", now, "", None)


def start_run(store: Store, name: str, size: int, *, limit: int = PLENTY) -> None:
    now = store.now()
    run = RunRecord(name, "me", now, 1, 1, 1, 1, now, About())
    RunStore(store).adding(run, os.urandom(size), period(name, 0, 0), most_bytes=limit)()


def make_older(store: Store, thing: str, name: str, days: float) -> None:
    with store.write() as t:
        t.change(f"UPDATE usage SET grown_at = grown_at - ? WHERE {thing}_id = ?", 86400 * days, name)


def test_everything_kept_is_counted_until_it_is_deleted(store: Store) -> None:
    keep_plan(store, "a", 10_000)
    of_plan = used(store)
    assert 10_000 <= of_plan <= 10_000 + ROW_BYTES + 100
    start_run(store, "r", 20_000)
    of_run = used(store) - of_plan
    assert 20_000 <= of_run <= 20_000 + 2 * ROW_BYTES + 100
    assert RunStore(store).adding_period("me", period("r", 1, 5000), most_bytes=PLENTY)()
    grown = used(store) - of_plan - of_run
    assert 5000 <= grown <= 5000 + ROW_BYTES + 100
    assert not RunStore(store).adding_period("me", period("r", 1, 5000), most_bytes=PLENTY)()
    assert used(store) == of_plan + of_run + grown
    assert used(store, "another") == 0
    assert PlanStore(store).delete("me", "a")
    assert used(store) == of_run + grown
    assert RunStore(store).delete("me", "r")
    assert used(store) == 0


def test_of_the_conditions_of_a_run_only_the_present_ones_are_kept_and_counted(store: Store) -> None:
    start_run(store, "r", 100)
    before = used(store)
    for aggregation, size in ((1, 9000), (2, 4000), (3, None)):
        conditions = None if size is None else os.urandom(size)
        made = replace(period("r", aggregation, 0), conditions=conditions)
        assert RunStore(store).adding_period("me", made, most_bytes=PLENTY)()
        assert len(RunStore(store).place("r", aggregation + 1).conditions or b"") == (size or 4000)
        late = replace(made, conditions=os.urandom(8000))
        assert not RunStore(store).adding_period("me", late, most_bytes=PLENTY)()
    assert 4000 <= used(store) - before <= 4000 + 4 * (ROW_BYTES + 100)
    assert RunStore(store).delete("me", "r")
    assert used(store) == 0
    assert RunStore(store).place("r", 1).conditions is None


def test_what_passes_the_limit_is_refused_and_leaves_nothing(store: Store) -> None:
    keep_plan(store, "a", 10_000, limit=15_000)
    before = used(store)
    with pytest.raises(QuotaError) as refused:
        keep_plan(store, "b", 10_000, limit=15_000)
    assert (refused.value.used, refused.value.limit) == (before, 15_000)
    assert refused.value.more > 10_000
    assert PlanStore(store).find("me", "b") is None
    with pytest.raises(QuotaError):
        start_run(store, "r", 10_000, limit=15_000)
    start_run(store, "r", 100)
    with pytest.raises(QuotaError):
        RunStore(store).adding_period("me", period("r", 1, 10_000), most_bytes=15_000)()
    assert RunStore(store).place("r", 2).before is None
    keep_plan(store, "c", 10_000, limit=15_000, owner="another")
    check_quota(store, "me", 15_000)
    with pytest.raises(QuotaError):
        check_quota(store, "me", before)
    RunStore(store).delete("me", "r")
    PlanStore(store).delete("me", "a")
    keep_plan(store, "b", 10_000, limit=15_000)


def test_two_at_once_do_not_pass_the_limit_together(store: Store) -> None:
    keep_plan(store, "first", 1)  # migrates
    together = threading.Barrier(8)
    refused = []

    def keep(number: int) -> None:
        together.wait()
        try:
            keep_plan(store, f"p{number}", 10_000, limit=35_000)
        except QuotaError:
            refused.append(number)

    threads = [threading.Thread(target=keep, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert used(store) <= 35_000
    assert len(refused) == 5


def test_what_has_not_grown_for_long_is_deleted(store: Store) -> None:
    for name in ("old", "new"):
        keep_plan(store, name, 10)
        start_run(store, name, 10)
    make_older(store, "plan", "old", 8)
    make_older(store, "run", "old", 8)
    make_older(store, "run", "new", 8)
    assert RunStore(store).adding_period("me", period("new", 1, 10, store.now()), most_bytes=PLENTY)()
    assert delete_old(store, "plan", 7) == 1
    assert delete_old(store, "run", 7) == 1
    assert PlanStore(store).find("me", "old") is None
    assert PlanStore(store).find("me", "new") is not None
    assert [run.id for run, _ in RunStore(store).page("me", Page(10))] == ["new"]
    assert delete_old(store, "plan", 7) == delete_old(store, "run", 7) == 0


def test_a_validation_is_charged_for_all_its_rounds_at_once(crew: Crew) -> None:
    validation = crew.submit("random", seeds=(0, 1, 2), owner="me", aggregations=9)
    assert 30 * 1024 < used(crew.store) < 40 * 1024
    with crew.store.write() as t:
        t.change("UPDATE validations SET state = 'succeeded' WHERE id = ?", validation)
    assert not crew.validations.erase("another", validation)
    assert crew.validations.erase("me", validation)
    assert used(crew.store) == 0


def test_an_open_validation_is_not_erased(crew: Crew) -> None:
    validation = crew.submit("random")
    assert not crew.validations.erase("local", validation)
    assert crew.find(validation).state == "queued"


def test_rows_of_an_earlier_release_are_counted_and_age_from_now_on(crew: Crew, tmp_path: Path) -> None:
    store = crew.store
    keep_plan(store, "p", 10_000)
    start_run(store, "r", 10_000)
    RunStore(store).adding_period("me", period("r", 1, 3000), most_bytes=PLENTY)()
    crew.submit("random", seeds=(0, 1), owner="me")
    before = used(store)
    with store.write() as t:
        for table in ("usage", "owners"):
            t.change(f"DROP TABLE {table}")
        t.change("DELETE FROM migrations WHERE name = '0404_quotas.sql'")
    store.close()

    again = Store(crew.url)
    assert used(again) == before
    assert delete_old(again, "run", 1) == delete_old(again, "plan", 1) == 0
    make_older(again, "run", "r", 2)
    assert delete_old(again, "run", 1) == 1
    again.close()
