"""Stored networks and their versions in the store; on both databases."""

import os
import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest

from app.networks.store import NetworkRecord, NetworkStore, NewVersion, Piece
from app.runs.store import PeriodRecord, RunRecord, RunStore
from app.store import Store
from app.store.about import About
from app.store.database import GoneError
from app.store.usage import QuotaError, used_bytes

PLENTY = 10**9
WHOLE = 4000


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    made = Store(database_url)
    yield made
    made.close()


def add(store: Store, name: str = "net", *, size: int = WHOLE, owner: str = "me") -> NetworkRecord:
    record = NetworkRecord(name, 1.0, "network", 1, 1.0, 5, 4, About(name="ours"))
    NetworkStore(store).adding(record, owner, os.urandom(size), most_bytes=PLENTY)()
    return record


def patched(record: NetworkRecord, version: int, key: str = "", size: int = 100) -> NewVersion:
    """The next version; its patch is random, so that it cannot be packed."""
    made = replace(record, version=version, updated_at=float(version), n_links=version)
    return NewVersion(made, os.urandom(size), lambda: bytes(WHOLE), key, f"digest of {key}")


def use(store: Store, run: str, network: str) -> None:
    about = About(asked={"network_id": network, "network_version": 1})
    record = RunRecord(run, "me", 0.0, 1, 1, 1, 1, 0.0, about)
    RunStore(store).adding(record, b"", PeriodRecord(run, 0, "", b"", "{}", b"", 0.0, "", None), most_bytes=PLENTY)()


def rows(store: Store, network: str) -> int:
    with store.read() as t:
        return len(t.rows("SELECT version FROM network_versions WHERE network_id = ?", network))


def test_versions_follow_each_other_and_stay(store: Store) -> None:
    networks, record = NetworkStore(store), add(store)
    assert networks.add_version("me", patched(record, 2, "k"), most_bytes=PLENTY)
    assert networks.add_version("me", patched(record, 3), most_bytes=PLENTY)
    newest = networks.find("me", "net")
    assert newest is not None
    assert (newest.version, newest.updated_at, newest.n_links, newest.about.name) == (3, 3.0, 3, "ours")
    first = networks.at(newest, 1)
    assert first is not None
    assert (first.version, first.n_links, first.created_at) == (1, 4, 1.0)
    assert networks.at(newest, 4) is None
    made = networks.made(newest, "k")
    assert made is not None
    assert (made[0].version, made[1]) == (2, "digest of k")
    assert networks.made(newest, "other") is None
    assert networks.find("another", "net") is None


def test_of_two_writers_one_is_first(store: Store) -> None:
    networks, record = NetworkStore(store), add(store)
    done: list[bool] = []

    def write() -> None:
        done.append(networks.add_version("me", patched(record, 2), most_bytes=PLENTY))

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done) == [False, False, False, True]
    assert rows(store, "net") == 2


def test_a_key_makes_one_version(store: Store) -> None:
    networks, record = NetworkStore(store), add(store)
    assert networks.add_version("me", patched(record, 2, "k"), most_bytes=PLENTY)
    assert not networks.add_version("me", patched(record, 3, "k"), most_bytes=PLENTY)
    found = networks.find("me", "net")
    assert found is not None
    assert found.version == 2


def test_a_long_chain_of_patches_ends_in_a_whole_network(store: Store) -> None:
    networks, record = NetworkStore(store), add(store)
    for version in range(2, 20):
        assert networks.add_version("me", patched(record, version), most_bytes=PLENTY)
    assert [piece.version for piece in networks.pieces("net", 16)] == list(range(1, 17))
    assert networks.pieces("net", 17) == [Piece(17, WHOLE)]
    assert [piece.version for piece in networks.pieces("net", 19)] == [17, 18, 19]
    assert networks.content("net", 17) == bytes(WHOLE)
    assert networks.pieces("net", 99) == []


def test_large_patches_end_in_a_whole_network_sooner(store: Store) -> None:
    networks, record = NetworkStore(store), add(store)
    assert networks.add_version("me", patched(record, 2, size=1500), most_bytes=PLENTY)
    assert networks.add_version("me", patched(record, 3, size=1500), most_bytes=PLENTY)
    assert [piece.version for piece in networks.pieces("net", 2)] == [1, 2]
    assert networks.pieces("net", 3) == [Piece(3, WHOLE)]


def test_versions_count_for_the_quota(store: Store) -> None:
    networks, record = NetworkStore(store), add(store, size=10_000)
    with store.read() as t:
        first = used_bytes(t, "me")
    assert 10_000 < first < 12_000
    with pytest.raises(QuotaError):
        networks.add_version("me", patched(record, 2), most_bytes=first + 100)
    found = networks.find("me", "net")
    assert found is not None
    assert found.version == 1
    assert networks.delete("me", "net")
    with store.read() as t:
        assert used_bytes(t, "me") == 0


def test_a_deleted_network_stays_as_long_as_a_run_uses_it(store: Store) -> None:
    networks = NetworkStore(store)
    add(store)
    use(store, "run_1", "net")
    assert networks.delete("me", "net")
    assert networks.find("me", "net") is None
    assert not networks.delete("me", "net")
    assert networks.content("net", 1) is not None
    add(store, "other")
    assert networks.delete("me", "other")
    assert (rows(store, "net"), rows(store, "other")) == (1, 0)
    assert RunStore(store).delete("me", "run_1")
    networks.delete_unused()
    assert rows(store, "net") == 0
    with pytest.raises(GoneError):
        use(store, "run_2", "net")
    assert RunStore(store).find("me", "run_2") is None


def test_networks_that_were_not_changed_for_long_are_forgotten(store: Store) -> None:
    networks = NetworkStore(store)
    for name, days in (("old", 11), ("new", 9)):
        add(store, name)
        with store.write() as t:
            t.change("UPDATE usage SET grown_at = ? WHERE network_id = ?", t.now - 86400 * days, name)
    assert networks.delete_old(10) == 1
    assert networks.find("me", "old") is None
    assert rows(store, "old") == 0
    assert networks.find("me", "new") is not None
