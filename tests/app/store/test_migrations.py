"""Databases of earlier versions, brought up to date with their rows."""

import json
from pathlib import Path

from app.keys.ring import KeyRing, digest_of
from app.plans.store import PlanStore
from app.store import Store
from app.store.paging import Page
from app.store.store import ADDITIVE
from app.validations.attempts import AttemptLimits
from app.validations.packing import pack_work
from app.validations.parts import PartStore
from app.worker.store import WorkerStore
from fedl_sim.contract import Work
from tests.support.crew import WORK, Crew
from tests.support.old_schema import old_schema

OLD = ("smart", "smart-offload", "random", "smarter", "greedy+fast")
NEW = ["ours", "ours-offload", "random", "smarter", "greedy+fast"]
# A sentence that speaks of a scheme is nobody's field.
DETAIL = 'the text "scheme": "smart" stays'


def test_stored_validations_of_smart_become_ours(crew: Crew) -> None:
    """`smart` named our scheme until the paper's got the name: what was stored before keeps its meaning."""
    validation = crew.submit(*OLD)
    with crew.store.write() as t:
        for number, scheme in enumerate(OLD, start=100):
            body = json.dumps({"scheme": scheme, "seed": 0, "draw": 0, "accuracy": 0.5})
            columns = "validation_id, number, kind, body"
            t.change(f"INSERT INTO validation_events ({columns}) VALUES (?, ?, 'round', ?)", validation, number, body)
        failure = json.dumps({"type": "disk", "detail": DETAIL, "scheme": "smart-offload", "seed": 0, "draw": 0})
        t.change("UPDATE validations SET failure = ? WHERE id = ?", failure, validation)
        # The script changes rows alone, so without its mark this is a database of the version before.
        assert t.change("DELETE FROM migrations WHERE name = '0402_ours.sql'") == 1
    crew.store.close()

    store = Store(crew.url)
    with store.read() as t:
        parts = t.rows("SELECT scheme FROM validation_parts ORDER BY number")
        events = t.rows("SELECT body FROM validation_events WHERE kind = 'round' ORDER BY number")
        ((failed,),) = t.rows("SELECT failure FROM validations")
        assert ("0402_ours.sql",) in t.rows("SELECT name FROM migrations")
    assert [scheme for (scheme,) in parts] == NEW
    assert [json.loads(body)["scheme"] for (body,) in events] == NEW
    assert json.loads(failed) == {"type": "disk", "detail": DETAIL, "scheme": "ours-offload", "seed": 0, "draw": 0}
    store.close()
    # Once only: from now on `smart` is the paper's.
    store = Store(crew.url)
    with store.write() as t:
        t.change("UPDATE validation_parts SET scheme = 'smart' WHERE scheme = 'ours'")
    store.close()
    store = Store(crew.url)
    with store.read() as t:
        assert ("smart",) in t.rows("SELECT scheme FROM validation_parts")
    store.close()


def write_0402(url: str) -> None:
    """A database as the release with a queue library left it: a validation with parts in every state."""
    with old_schema(url, "0402_ours.sql") as t:
        t.change(
            "INSERT INTO validations (id, owner, created_at, digest, state, cancelled, rounds, rounds_done, "
            "last_event, request, work) VALUES ('val_1', 'local', 5, '', 'running', 0, 44, 13, 0, ?, ?)",
            b"{}",
            pack_work(Work.from_json(WORK)),
        )
        for number, (state, next_round) in enumerate((("done", 11), ("running", 2), ("queued", 0), ("waiting", 0))):
            t.change(
                "INSERT INTO validation_parts (id, validation_id, number, scheme, seed, draw, rounds, state, attempt, "
                "leased_until, worker, next_round, checkpoint, facts, forgotten) "
                "VALUES (?, 'val_1', ?, 'random', ?, 0, 11, ?, 1, 7.5, 'old', ?, ?, '{}', 0)",
                f"val_1-000{number}",
                number,
                number,
                state,
                next_round,
                b"state" if state == "running" else None,
            )
        insert = (
            "INSERT INTO validation_attempts (part_id, aggregation, worker, begun_at) VALUES ('val_1-0001', ?, ?, 0)"
        )
        for aggregation in (0, 1, 2):
            t.change(insert, aggregation, "old")
        for aggregation in (0, 1):
            t.change("INSERT INTO validation_rounds VALUES ('val_1-0001', ?, 1.0, '{}')", aggregation)
        t.change("INSERT INTO workers (id, host, pid, started_at, seen_at) VALUES ('old', 'here', 1, 0, 0)")


def test_open_parts_of_the_queue_library_wait_for_a_lease(database_url: str) -> None:
    write_0402(database_url)
    store = Store(database_url)
    with store.read() as t:
        found = t.rows("SELECT state, worker, token, created_at, next_round FROM validation_parts ORDER BY number")
        assert t.rows("SELECT id FROM workers") == []
        reasons = t.rows("SELECT aggregation, why FROM validation_attempts ORDER BY aggregation")
    assert found == [
        ("done", "old", 0, 5.0, 11),
        ("waiting", None, 0, 5.0, 2),
        ("waiting", None, 0, 5.0, 0),
        ("waiting", None, 0, 5.0, 0),
    ]
    assert reasons == [(0, None), (1, None), (2, "the service was upgraded")]
    WorkerStore(store).register("new", "here", 1)
    parts = PartStore(store)
    claim = parts.claim("new", AttemptLimits(failed=2, lost=1))
    assert claim is not None
    assert (claim.part_id, claim.next_round) == ("val_1-0001", 2)
    assert parts.material(claim).checkpoint == b"state"
    store.close()


def test_a_key_of_an_earlier_release_owns_what_it_made(database_url: str) -> None:
    with old_schema(database_url, "0404_quotas.sql") as t:
        columns = "INSERT INTO api_keys (id, digest, name, created_at) VALUES (?, ?, ?, 1)"
        for key in ("a", "b"):
            t.change(columns, key, digest_of(f"fsk_{key}"), "the same name")
        t.change("INSERT INTO owners (id) VALUES ('a')")
        t.change("INSERT INTO plans (id, owner, created_at, request, answer) VALUES ('p', 'a', 5, ?, ?)", b"{}", b"{}")
    store = Store(database_url)
    ring = KeyRing(store)
    assert [found.owner for key in ("a", "b") if (found := ring.find(f"fsk_{key}"))] == ["a", "b"]
    assert [entry.id for entry in PlanStore(store).page("a", Page(9))] == ["p"]
    made = ring.rotate("a")
    assert made is not None
    assert ring.find(made[1]) == made[0]
    assert made[0].owner == "a"
    with store.read() as t:
        assert t.rows("SELECT id, name FROM owners ORDER BY id") == [("a", "the same name"), ("b", "the same name")]
    store.close()


def only_adds(statement: str) -> bool:
    """Whether code that does not know of the change reads and writes as before."""
    words = " ".join(statement.upper().split())
    if words.startswith("ALTER TABLE"):
        return " ADD COLUMN " in words and ("NOT NULL" not in words or " DEFAULT " in words)
    return words.startswith(("CREATE TABLE ", "CREATE INDEX "))


ADDING = [
    "CREATE TABLE notes (id TEXT PRIMARY KEY)",
    "CREATE INDEX notes_by_owner ON notes (owner)",
    "ALTER TABLE runs ADD COLUMN note TEXT",
    "ALTER TABLE runs ADD COLUMN note TEXT NOT NULL DEFAULT ''",
]
CHANGING = [
    "CREATE UNIQUE INDEX one_note ON notes (owner)",
    "ALTER TABLE runs ADD COLUMN note TEXT NOT NULL",
    "ALTER TABLE runs DROP COLUMN owner",
    "UPDATE runs SET owner = ''",
]


def test_what_counts_as_adding() -> None:
    assert [one for one in ADDING + CHANGING if only_adds(one)] == ADDING


def test_scripts_that_say_that_they_only_add_do() -> None:
    for script in (Path(__file__).parents[3] / "app" / "store" / "migrations").glob(f"*{ADDITIVE}"):
        lines = [line for line in script.read_text(encoding="utf-8").splitlines() if not line.startswith("--")]
        assert all(only_adds(one) for one in "\n".join(lines).split(";") if one.strip()), script.name
