"""Stored networks and their versions in the store. Versions are written once and never changed.

A network that its owner deletes has no row in `about` any more, so nobody finds it. Its own rows go as soon as no plan
or run uses it.
"""

import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from app.store import Store
from app.store.about import About, joined, read_about, tell
from app.store.database import GoneError, ReadTransaction, Transaction
from app.store.paging import Page, owned_page
from app.store.usage import ROW_BYTES, charge

__all__ = ["NetworkRecord", "NetworkStore", "NewVersion", "Piece"]

_SHOWN = "x.id, x.created_at, x.kind, x.version, x.updated_at, x.n_devices, x.n_links"
_VERSION = "network_id, version, snapshot, created_at, n_devices, n_links, content, idempotency_key, digest"
# A chain of patches is replaced by the whole network when it is this long, or has this share of the network's bytes.
_LONGEST_CHAIN = 16
_LARGEST_SHARE = 0.5


@dataclass(frozen=True)
class NetworkRecord:
    """What is told of a version of a network."""

    id: str
    created_at: float
    kind: str
    version: int
    updated_at: float
    n_devices: int
    n_links: int
    about: About


@dataclass(frozen=True)
class NewVersion:
    """The next version: its patch, and how to pack it whole, which is done only now and then."""

    record: NetworkRecord
    patch: bytes
    whole: Callable[[], bytes]
    key: str
    digest: str


@dataclass(frozen=True)
class Piece:
    """One of the versions that a version is made of: the first is whole, the others are patches."""

    version: int
    bytes: int


class NetworkStore:
    """The tables of networks and their versions."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def adding(self, record: NetworkRecord, owner: str, packed: bytes, *, most_bytes: int) -> Callable[[], None]:
        """The call that writes a new network with its first version.

        Raises:
            QuotaError: the owner would keep more than `most_bytes`.
            KeyTakenError: its idempotency key has made something meanwhile.
        """

        def write() -> None:
            with self._store.write() as t:
                t.change(
                    "INSERT INTO networks (id, owner, created_at, kind, version, updated_at, n_devices, n_links) "
                    "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    record.id,
                    owner,
                    record.created_at,
                    record.kind,
                    record.version,
                    record.updated_at,
                    record.n_devices,
                    record.n_links,
                )
                _insert(t, record, record.version, packed)
                more = tell(t, "network", record.id, owner, record.about)
                size = 2 * ROW_BYTES + len(packed) + more
                charge(t, owner, "network", record.id, record.updated_at, size=size, limit=most_bytes)

        return write

    def add_version(self, owner: str, new: NewVersion, *, most_bytes: int) -> bool:
        """Write the next version; False if another request was first, or the network is gone.

        Raises:
            QuotaError: the owner would keep more than `most_bytes`.
        """
        record, before = new.record, new.record.version - 1
        content, snapshot = self._packed(new)
        try:
            with self._store.write() as t:
                changed = t.change(
                    "UPDATE networks SET version = ?, updated_at = ?, n_devices = ?, n_links = ? "
                    "WHERE id = ? AND version = ? AND EXISTS (SELECT 1 FROM about a WHERE a.network_id = networks.id)",
                    record.version,
                    record.updated_at,
                    record.n_devices,
                    record.n_links,
                    record.id,
                    before,
                )
                if changed:
                    _insert(t, record, snapshot, content, (new.key or None, new.digest))
                    size = ROW_BYTES + len(content)
                    charge(t, owner, "network", record.id, record.updated_at, size=size, limit=most_bytes)
                return bool(changed)
        except GoneError:
            return False

    def _packed(self, new: NewVersion) -> tuple[bytes, int]:
        """The bytes of the version, and the version that they need to be whole."""
        patch = zlib.compress(new.patch, 1)
        before = self.pieces(new.record.id, new.record.version - 1)
        patches = len(patch) + sum(piece.bytes for piece in before[1:])
        if before and len(before) < _LONGEST_CHAIN and patches < _LARGEST_SHARE * before[0].bytes:
            return patch, before[0].version
        return new.whole(), new.record.version

    def find(self, owner: str, network_id: str) -> NetworkRecord | None:
        """The newest version of the owner's network."""
        with self._store.read() as t:
            rows = t.rows(f"{joined('network', _SHOWN)} x.id = ? AND x.owner = ?", network_id, owner)
        return _record(rows[0]) if rows else None

    def at(self, record: NetworkRecord, version: int) -> NetworkRecord | None:
        """An earlier version of it."""
        sql = (
            "SELECT version, created_at, n_devices, n_links FROM network_versions WHERE network_id = ? AND version = ?"
        )
        with self._store.read() as t:
            return _at(record, t, sql, version)

    def made(self, record: NetworkRecord, key: str) -> tuple[NetworkRecord, str] | None:
        """The version that an idempotency key made before, and the digest of its body."""
        sql = "SELECT version, created_at, n_devices, n_links FROM network_versions WHERE network_id = ? AND "
        with self._store.read() as t:
            found = _at(record, t, f"{sql} idempotency_key = ?", key) if key else None
            if found is None:
                return None
            where = "WHERE network_id = ? AND version = ?"
            ((digest,),) = t.rows(f"SELECT digest FROM network_versions {where}", record.id, found.version)  # noqa: S608
        return found, digest

    def page(self, owner: str, page: Page) -> list[NetworkRecord]:
        """A page of the owner's networks, and one more if there are more."""
        with self._store.read() as t:
            return [_record(row) for row in owned_page(t, "network", _SHOWN, owner, page)]

    def pieces(self, network_id: str, version: int) -> list[Piece]:
        """The versions that this one is made of, in order; none if there is no such version."""
        sql = (
            "SELECT version, length(content) FROM network_versions WHERE network_id = ? AND version <= ? "
            "AND version >= (SELECT snapshot FROM network_versions WHERE network_id = ? AND version = ?) "
            "ORDER BY version"
        )
        with self._store.read() as t:
            return [Piece(*row) for row in t.rows(sql, network_id, version, network_id, version)]

    def content(self, network_id: str, version: int) -> bytes | None:
        """A whole version, packed, or a patch, byte for byte."""
        sql = "SELECT content, snapshot FROM network_versions WHERE network_id = ? AND version = ?"
        with self._store.read() as t:
            rows = t.rows(sql, network_id, version)
        if not rows:
            return None
        content, snapshot = rows[0]
        return bytes(content) if snapshot == version else zlib.decompress(content)

    def delete(self, owner: str, network_id: str) -> bool:
        """Forget a network; whether there was one. Plans and runs that use it go on."""
        sql = "DELETE FROM about WHERE network_id = ? AND owner = ?"
        hidden = bool(self._store.delete(lambda t: t.change(sql, network_id, owner)))
        if hidden:
            self.delete_unused()
        return hidden

    def delete_old(self, days: float) -> int:
        """Forget networks whose last version is so many days old; returns how many."""

        def work(t: Transaction) -> int:
            old = "SELECT network_id FROM usage WHERE grown_at < ? AND network_id IS NOT NULL"
            return t.change(f"DELETE FROM about WHERE network_id IN ({old})", t.now - 86400 * days)  # noqa: S608 - constants

        hidden = self._store.delete(work)
        self.delete_unused()
        return hidden

    def delete_unused(self) -> None:
        """Delete the rows of networks that were forgotten, and that no plan or run uses any more."""
        sql = (
            "DELETE FROM networks WHERE NOT EXISTS (SELECT 1 FROM about a WHERE a.network_id = networks.id) "
            "AND NOT EXISTS (SELECT 1 FROM about a WHERE a.uses = networks.id)"
        )
        # A run that began to use one meanwhile keeps it; the rest goes the next time.
        with suppress(GoneError):
            self._store.delete(lambda t: t.change(sql))


def _record(row: tuple[Any, ...]) -> NetworkRecord:
    return NetworkRecord(*(*row[:-3], read_about(*row[-3:])))


def _at(record: NetworkRecord, t: ReadTransaction, sql: str, wanted: object) -> NetworkRecord | None:
    rows = t.rows(sql, record.id, wanted)
    if not rows:
        return None
    version, made, devices, links = rows[0]
    return NetworkRecord(record.id, record.created_at, record.kind, version, made, devices, links, record.about)


def _insert(
    t: Transaction, record: NetworkRecord, snapshot: int, content: bytes, made_by: tuple[str | None, str] = (None, "")
) -> None:
    t.change(
        f"INSERT INTO network_versions ({_VERSION}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 - constants
        record.id,
        record.version,
        snapshot,
        record.updated_at,
        record.n_devices,
        record.n_links,
        content,
        *made_by,
    )
