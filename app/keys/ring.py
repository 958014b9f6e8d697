"""API keys: shown once, stored as a digest, cached for a few seconds after use."""

import hashlib
import secrets
import time

from app.keys.store import KeyRecord, KeyStore
from app.store import Store

__all__ = ["PREFIX", "KeyRing", "digest_of"]

PREFIX = "fsk_"
# A revoked key is refused everywhere after this many seconds.
_REMEMBER_SECONDS = 5.0
_REMEMBERED = 10_000


def digest_of(key: str) -> str:
    """SHA-256 suffices: a key has 256 random bits, so there is nothing to guess."""
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()


class KeyRing:
    """Makes keys and recognises them."""

    def __init__(self, store: Store) -> None:
        self._keys = KeyStore(store)
        self._known: dict[str, tuple[str, float]] = {}

    def create(self, name: str) -> tuple[KeyRecord, str]:
        """Make a key. Its text is not stored."""
        text = PREFIX + secrets.token_urlsafe(32)
        record = KeyRecord(secrets.token_hex(8), name, time.time())
        self._keys.add(record, digest_of(text))
        return record, text

    def remembered(self, text: str) -> str | None:
        """The owner of a key that is in the cache; it does not ask the store."""
        owner, until = self._known.get(digest_of(text), ("", 0.0))
        return owner if until > time.monotonic() else None

    def owner_of(self, text: str) -> str | None:
        """The owner of a key, or None if it is unknown. It asks the store, so it must run in a thread."""
        digest = digest_of(text)
        record = self._keys.find(digest)
        if record is None:
            return None
        if len(self._known) >= _REMEMBERED:
            self._known.clear()
        self._known[digest] = (record.id, time.monotonic() + _REMEMBER_SECONDS)
        return record.id
