"""API keys and their owners in the store: digests of keys, never the keys themselves.

What callers keep belongs to an owner, and an owner may have several keys.

KeyNameError        a key cannot have this name
UnknownOwnerError   there is no such owner
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from app.store import Store
from app.store.database import Transaction
from app.store.usage import lock_owner
from solver.errors import FedsiftError

__all__ = ["GATEWAY", "LOCAL", "KeyNameError", "KeyRecord", "KeyStore", "Scope", "UnknownOwnerError"]

# The owner of everything where no key is required.
LOCAL = "local"
# How owners begin that a gateway names. So none of them is `LOCAL`, or an owner that `fedsift keys` made.
GATEWAY = "gateway:"

Scope = Literal["full", "read"]

_KEY = "id, name, created_at, owner, scope, expires_at, used_at"
# The tables with an owner's rows.
_OWNED = ("plans", "runs", "validations", "networks", "usage", "about", "webhooks")
_DAY = 86400.0


class KeyNameError(FedsiftError):
    """A key cannot have this name."""


class UnknownOwnerError(FedsiftError):
    """There is no such owner."""


@dataclass(frozen=True)
class KeyRecord:
    """An API key, of which only the digest is kept, and the id of its owner; times are seconds since 1970."""

    id: str
    name: str
    created_at: float
    owner: str
    scope: Scope = "full"
    expires_at: float | None = None
    used_at: float | None = None


class KeyStore:
    """The tables of API keys and owners."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def add(self, key: KeyRecord, digest: str, *, new_owner: bool) -> KeyRecord:
        """Keep a key's digest, and its owner if that is new, under the name of the key.

        Returns it with the moment at which it was made.

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
            return _insert(t, key, digest)

    def succeed(self, old_id: str, key: KeyRecord, digest: str, overlap: float) -> KeyRecord | None:
        """Add a key with the name, owner and scope of an older one, which expires in `overlap` seconds, if not before.

        If the new one is to expire by itself, `expires_at` says when; else it lives as long as the old one was to.
        Returns the new one, or None if there is no such key.
        """
        with self._store.write() as t:
            found = t.rows(f"SELECT {_KEY} FROM api_keys WHERE id = ?", old_id)  # noqa: S608 - constants
            if not found:
                return None
            old = KeyRecord(*found[0])
            expires_at = key.expires_at
            if expires_at is None and old.expires_at is not None:
                expires_at = t.now + old.expires_at - old.created_at
            made = replace(key, name=old.name, owner=old.owner, scope=old.scope, expires_at=expires_at)
            until = t.now + overlap if old.expires_at is None else min(old.expires_at, t.now + overlap)
            t.change("UPDATE api_keys SET expires_at = ? WHERE id = ?", until, old_id)
            return _insert(t, made, digest)

    def find(self, digest: str) -> tuple[KeyRecord, float] | None:
        """The key with this digest, and the moment at which it was found."""
        with self._store.read() as t:
            rows = t.rows(f"SELECT {_KEY} FROM api_keys WHERE digest = ?", digest)  # noqa: S608 - constants
            return (KeyRecord(*rows[0]), t.now) if rows else None

    def all(self) -> list[KeyRecord]:
        """All keys, oldest first."""
        with self._store.read() as t:
            rows = t.rows(f"SELECT {_KEY} FROM api_keys ORDER BY created_at, id")  # noqa: S608 - constants
        return [KeyRecord(*row) for row in rows]

    def delete(self, key_id: str) -> bool:
        """Revoke a key; whether there was one. What its owner keeps stays."""
        with self._store.write() as t:
            return bool(t.change("DELETE FROM api_keys WHERE id = ?", key_id))

    def delete_expired(self, days: float) -> int:
        """Delete keys that expired so many days ago; returns how many."""
        sql = "DELETE FROM api_keys WHERE expires_at < ?"
        return self._store.delete(lambda t: t.change(sql, t.now - _DAY * days))

    def note_uses(self, uses: Mapping[str, float]) -> None:
        """Note when each of these keys, by their ids, was used last."""
        with self._store.write() as t:
            for key_id, used_at in sorted(uses.items()):  # in one order, so that two servers do not wait for each other
                sql = "UPDATE api_keys SET used_at = ? WHERE id = ? AND (used_at IS NULL OR used_at < ?)"
                t.change(sql, used_at, key_id, used_at)

    def check_owner(self, owner: str) -> None:
        """Refuse an owner that nobody has heard of.

        Raises:
            UnknownOwnerError: there is no such owner.
        """
        with self._store.write() as t:
            _check_owner(t, owner)

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
    """An owner stays when its last key is gone. One that a gateway names may come later than its key."""
    if owner.startswith(GATEWAY):
        lock_owner(t, owner)
    elif owner == LOCAL or not t.rows("SELECT id FROM owners WHERE id = ?", owner):
        raise UnknownOwnerError(f"there is no owner {owner!r}; `fedsift keys list` shows them")


def _insert(t: Transaction, key: KeyRecord, digest: str) -> KeyRecord:
    made = replace(key, created_at=t.now)
    sql = f"INSERT INTO api_keys ({_KEY}, digest) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608 - constants
    t.change(sql, *vars(made).values(), digest)
    return made
