"""API keys and their owners in the store: digests of keys, never the keys themselves.

What callers keep belongs to an owner, and an owner may have several keys.

KeyNameError        a key cannot have this name
UnknownOwnerError   there is no such owner
"""

from dataclasses import dataclass

from app.store import Store
from app.store.database import Transaction
from solver.errors import FedsiftError

__all__ = ["LOCAL", "KeyNameError", "KeyRecord", "KeyStore", "UnknownOwnerError"]

# The owner of everything where no key is required.
LOCAL = "local"

_KEY = "id, name, created_at, owner"
# The tables with an owner's rows.
_OWNED = ("plans", "runs", "validations", "networks", "usage", "about", "webhooks")


class KeyNameError(FedsiftError):
    """A key cannot have this name."""


class UnknownOwnerError(FedsiftError):
    """There is no such owner."""


@dataclass(frozen=True)
class KeyRecord:
    """An API key, of which only the digest is kept, and the id of its owner."""

    id: str
    name: str
    created_at: float
    owner: str


class KeyStore:
    """The tables of API keys and owners."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def add(self, key: KeyRecord, digest: str, *, new_owner: bool) -> None:
        """Keep a key's digest, and its owner if that is new, under the name of the key.

        Raises:
            KeyNameError: another key has its name.
            UnknownOwnerError: there is no such owner.
        """
        with self._store.write() as t:
            if t.rows("SELECT id FROM api_keys WHERE name = ?", key.name):
                raise KeyNameError(f"there is a key {key.name!r} already")
            if new_owner:
                t.change("INSERT INTO owners (id, name) VALUES (?, ?)", key.owner, key.name)
            else:
                _check_owner(t, key.owner)
            _insert(t, key, digest)

    def replace(self, old_id: str, key_id: str, digest: str, now: float) -> KeyRecord | None:
        """Put another key in a key's place, of the same name and owner; None if there is no such key."""
        with self._store.write() as t:
            rows = t.rows("DELETE FROM api_keys WHERE id = ? RETURNING name, owner", old_id)
            if not rows:
                return None
            ((name, owner),) = rows
            key = KeyRecord(key_id, name, now, owner)
            _insert(t, key, digest)
        return key

    def find(self, digest: str) -> KeyRecord | None:
        """The key with this digest."""
        with self._store.read() as t:
            rows = t.rows(f"SELECT {_KEY} FROM api_keys WHERE digest = ?", digest)  # noqa: S608 - constants
        return KeyRecord(*rows[0]) if rows else None

    def all(self) -> list[KeyRecord]:
        """All keys, oldest first."""
        with self._store.read() as t:
            rows = t.rows(f"SELECT {_KEY} FROM api_keys ORDER BY created_at, id")  # noqa: S608 - constants
        return [KeyRecord(*row) for row in rows]

    def delete(self, key_id: str) -> bool:
        """Revoke a key; whether there was one. What its owner keeps stays."""
        with self._store.write() as t:
            return bool(t.change("DELETE FROM api_keys WHERE id = ?", key_id))

    def hand_over(self, giver: str, owner: str) -> dict[str, int]:
        """Give all that `giver` keeps to an owner; returns how many of each.

        An idempotency key that both have used stays with what the owner made.

        Raises:
            UnknownOwnerError: there is no such owner.
        """
        with self._store.write() as t:
            _check_owner(t, owner)
            t.change(
                "UPDATE about SET idempotency_key = NULL WHERE owner = ? AND idempotency_key IN "
                "(SELECT idempotency_key FROM about WHERE owner = ?)",
                giver,
                owner,
            )
            moved = {
                table: t.change(f"UPDATE {table} SET owner = ? WHERE owner = ?", owner, giver)  # noqa: S608 - constants
                for table in _OWNED
            }
        return {table: moved[table] for table in _OWNED[:4]}


def _check_owner(t: Transaction, owner: str) -> None:
    """Only an owner with a key counts: what nobody can read should not be given away."""
    if not t.rows("SELECT id FROM api_keys WHERE owner = ?", owner):
        raise UnknownOwnerError(f"no key has the owner {owner!r}; `fedsift keys list` shows them")


def _insert(t: Transaction, key: KeyRecord, digest: str) -> None:
    sql = "INSERT INTO api_keys (id, digest, name, created_at, owner) VALUES (?, ?, ?, ?, ?)"
    t.change(sql, key.id, digest, key.name, key.created_at, key.owner)
