"""Names, labels and idempotency keys of everything kept, and lists by them; on both databases."""

from collections.abc import Iterator

import pytest

from app.plans.store import KeptPlan, PlanEntry, PlanStore
from app.store import Store
from app.store.about import About, KeyTakenError, Made, made_by
from app.store.paging import Page, cursor, place_of
from app.validations.packing import pack_work
from app.validations.store import ValidationStore
from fedl_sim.contract import Work
from tests.support.crew import WORK
from tests.support.old_schema import old_schema


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    made = Store(database_url)
    yield made
    made.close()


def keep(store: Store, name: str, made: float, about: About, owner: str = "me") -> None:
    PlanStore(store).adding(PlanEntry(name, made, about), owner, KeptPlan(b"", b""), most_bytes=10**9)()


def listed(store: Store, page: Page) -> list[str]:
    return [entry.id for entry in PlanStore(store).page("me", page)]


def test_lists_go_on_after_a_place_whose_row_was_deleted(store: Store) -> None:
    for number in range(5):
        keep(store, f"p{number}", number // 2, About())
    first = listed(store, Page(2))
    assert first == ["p0", "p1", "p2"]  # one more than asked for: there is another page
    place = place_of(cursor(0.0, "p1"))
    assert PlanStore(store).delete("me", "p1")
    assert listed(store, Page(2, place)) == ["p2", "p3", "p4"]


def test_lists_are_filtered_by_name_and_by_every_label(store: Store) -> None:
    keep(store, "a", 1, About(name="Night", labels={"site": "A", "rack": "1"}))
    keep(store, "b", 2, About(name="night", labels={"site": "a"}))
    keep(store, "c", 3, About(labels={"site": "A", "rack": "12"}))
    assert listed(store, Page(9, name="Night")) == ["a"]
    assert listed(store, Page(9, labels=(("site", "A"),))) == ["a", "c"]
    assert listed(store, Page(9, labels=(("site", "A"), ("rack", "1")))) == ["a"]
    assert listed(store, Page(9, labels=(("site", "%"),))) == []
    entry = PlanStore(store).page("me", Page(9, name="Night"))[0]
    assert entry.about.labels == {"site": "A", "rack": "1"}


def test_a_key_makes_one_thing_of_its_owner_until_that_is_deleted(store: Store) -> None:
    keep(store, "a", 1, About("once", "digest"))
    keep(store, "b", 1, About("once", "digest"), owner="another")
    with pytest.raises(KeyTakenError):
        keep(store, "c", 1, About("once", "other"))
    assert listed(store, Page(9)) == ["a"]  # nothing of the other one was written
    with store.read() as t:
        assert made_by(t, "me", "once") == Made("a", "digest")
        assert made_by(t, "me", "never") is None
    PlanStore(store).delete("me", "a")
    keep(store, "c", 1, About("once", "other"))
    assert listed(store, Page(9)) == ["c"]


@pytest.mark.parametrize("text", ["x", "plan_1", "====", "AAAA", "AAAAAAAAAAA", "ß", cursor(1.0, "a") + "A"])
def test_what_is_no_place_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a place"):
        place_of(text)


def test_places_are_exact() -> None:
    times = [0.1 + 0.2, 1790000000.123456, 0.0]
    assert [place_of(cursor(time, "run_1")) for time in times] == [(time, "run_1") for time in times]
    assert len({cursor(time, "run_1") for time in times}) == 3


def test_keys_of_an_earlier_release_still_find_their_validations(database_url: str) -> None:
    with old_schema(database_url, "0404_quotas.sql") as t:
        t.change(
            "INSERT INTO validations (id, owner, created_at, idempotency_key, digest, state, cancelled, rounds, "
            "rounds_done, last_event, finished_at, request, work) "
            "VALUES ('val_1', 'me', 5, 'once', 'digest', 'succeeded', 0, 44, 44, 9, 7, ?, ?)",
            b"{}",
            pack_work(Work.from_json(WORK)),
        )
        t.change("INSERT INTO plans (id, owner, created_at, request, answer) VALUES ('p', 'me', 5, ?, ?)", b"{}", b"{}")
    store = Store(database_url)
    with store.read() as t:
        assert made_by(t, "me", "once") == Made("val_1", "digest")
    (found,) = ValidationStore(store).page("me", Page(9))
    assert (found.id, found.updated_at, found.about) == ("val_1", 7.0, About())
    assert listed(store, Page(9)) == ["p"]
    store.close()
