"""Databases of earlier versions, brought up to date with their rows."""

import json

from app.store import Store
from tests.support.crew import Crew

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
