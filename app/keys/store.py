"""API keys in the store: their digests, never the keys themselves."""

from dataclasses import dataclass

from app.store import Store

__all__ = ["KeyRecord", "KeyStore"]


@dataclass(frozen=True)
class KeyRecord:
    """An API key; only its digest is kept."""

    id: str
    name: str
    created_at: float


class KeyStore:
    """The table of API keys."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def add(self, key: KeyRecord, digest: str) -> None:
        """Keep a key's digest."""
        with self._store.write() as t:
            sql = "INSERT INTO api_keys (id, digest, name, created_at) VALUES (?, ?, ?, ?)"
            t.change(sql, key.id, digest, key.name, key.created_at)

    def find(self, digest: str) -> KeyRecord | None:
        """The key with this digest."""
        with self._store.read() as t:
            rows = t.rows("SELECT id, name, created_at FROM api_keys WHERE digest = ?", digest)
        return KeyRecord(*rows[0]) if rows else None

    def all(self) -> list[KeyRecord]:
        """All keys, oldest first."""
        with self._store.read() as t:
            return [KeyRecord(*row) for row in t.rows("SELECT id, name, created_at FROM api_keys ORDER BY created_at")]

    def delete(self, key_id: str) -> bool:
        """Revoke a key; whether there was one. Its runs stay."""
        with self._store.write() as t:
            return bool(t.change("DELETE FROM api_keys WHERE id = ?", key_id))
