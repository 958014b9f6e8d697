"""Keys while the store is away: what it said last counts for a minute."""

import time
from pathlib import Path

import pytest

from app.keys.ring import KeyRing
from app.keys.store import KeyStore
from app.store import Store, StoreError


class Clock:
    """The monotonic clock of the ring, which the test moves."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.ahead = 0.0
        real = time.monotonic
        monkeypatch.setattr("app.keys.ring.time.monotonic", lambda: real() + self.ahead)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def test_a_key_is_trusted_for_a_minute_after_its_last_confirmation(tmp_path: Path, clock: Clock) -> None:
    store = Store(f"sqlite:///{tmp_path}/fedsift.db")
    ring = KeyRing(store)
    record, key = ring.create("one")
    assert ring.last_known(key) is None  # the store has not been asked
    assert ring.find(key) == record
    clock.ahead = 10
    assert ring.remembered(key) is None
    assert ring.last_known(key) == record
    assert ring.remembered(key) == record  # so that not every request waits for the store
    clock.ahead = 57
    assert ring.last_known(key) == record
    clock.ahead = 61
    assert ring.remembered(key) is None
    assert ring.last_known(key) is None
    store.close()


def test_a_key_that_the_store_calls_revoked_is_refused_at_once(tmp_path: Path, clock: Clock) -> None:
    store = Store(f"sqlite:///{tmp_path}/fedsift.db")
    ring = KeyRing(store)
    record, key = ring.create("one")
    assert ring.find(key) == record
    assert KeyStore(store).delete(record.id)
    clock.ahead = 6
    assert ring.find(key) is None
    assert ring.last_known(key) is None
    assert ring.remembered(key) is None
    store.close()


def test_the_store_is_asked_about_an_unknown_key(tmp_path: Path) -> None:
    (tmp_path / "fedsift.db").mkdir()
    with pytest.raises(StoreError):
        KeyRing(Store(f"sqlite:///{tmp_path}/fedsift.db")).find("fsk_unknown")
